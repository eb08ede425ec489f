"""Test that the constants in msg/, srv/ and action/ are the values that the code uses."""

import re
from typing import get_args

import pytest

pytest.importorskip('rclpy')

from support.paths import ROOT  # noqa: E402

from dynamics_node import action, msg, srv  # noqa: E402
from dynamics_node.constrained.classification import EXACTLY, FAILURES, OVER, UNDER  # noqa: E402
from dynamics_node.constrained.constraint import CONTACTS  # noqa: E402
from dynamics_node.constrained.friction_cone import Verdict  # noqa: E402
from dynamics_node.constrained.redundancy_resolution import CHOICES  # noqa: E402
from dynamics_node.identification.linear_fit import METHODS  # noqa: E402
from dynamics_node.model import joints  # noqa: E402
from dynamics_node.ros.services import (  # noqa: E402
    batch,
    batch_inputs,
    constrained,
    contact,
    differential_kinematics,
    identify,
    inverse_kinematics,
)
from dynamics_node.ros.torque.state_topic import FLAGS  # noqa: E402
from dynamics_node.safety import State  # noqa: E402
from dynamics_node.spatial import positions, rotations  # noqa: E402
from dynamics_node.task_space import bounds, tasks  # noqa: E402
from dynamics_node.task_space.inverse_kinematics import REASONS  # noqa: E402
from dynamics_node.task_space.qp import Status  # noqa: E402

# (type, beginning of the constants' names) -> the values that the code accepts or returns
VALUES = {
    (srv.BatchDynamics.Request, 'QUESTION'): batch.QUANTITIES,
    (srv.DynamicsDerivatives.Request, 'QUESTION'): batch_inputs.DYNAMICS,
    (srv.DirectionalDerivative.Request, 'QUESTION'): batch_inputs.DYNAMICS,
    (srv.ConstrainedDynamics.Request, 'QUESTION'): constrained.QUANTITIES,
    (srv.ConstrainedDynamics.Request, 'CHOICE'): CHOICES,
    (srv.ContactAndImpact.Request, 'QUESTION'): contact.QUANTITIES,
    (srv.ContactAndImpact.Request, 'CHOICE'): CHOICES,
    (srv.ContactAndImpact.Request, 'CONTACT_KIND'): CONTACTS,
    (srv.ContactAndImpact.Response, 'VERDICT'): get_args(Verdict),
    (srv.IdentifyPayload.Request, 'QUESTION'): identify.QUESTIONS,
    (srv.InverseKinematics.Response, 'REASON'): REASONS,
    (srv.Kinematics.Request, 'ROTATION'): rotations.SIZES,
    (srv.Kinematics.Request, 'POSITION'): positions.POSITIONS,
    (srv.ModelReport.Response, 'JOINT_TYPE'): joints.KINDS,
    (srv.OperationalSpace.Request, 'AXIS'): tasks.AXES,
    (srv.TaskControl.Response, 'STATUS'): get_args(Status),
    (msg.ConstraintReport, 'KIND'): (OVER, UNDER, EXACTLY),
    (msg.ConstraintReport, 'FAILURE'): FAILURES,
    (msg.FrameTarget, 'KIND'): inverse_kinematics.READS,
    (msg.MotionTask, 'KIND'): differential_kinematics.READS,
    (msg.MotionTask, 'PART'): differential_kinematics.PARTS,
    (msg.Task, 'KIND'): tasks.FIELDS,
    (msg.Task, 'AXIS'): tasks.AXES,
    (msg.TaskBound, 'KIND'): bounds.KINDS,
    (msg.TorqueState, 'GATE'): [state.value for state in State],
    (action.Identify.Goal, 'METHOD'): METHODS,
}
# field -> beginning of the names of its constants
BEGINNINGS = {'question': 'QUESTION', 'kind': 'KIND', 'driven_kind': 'KIND', 'choice': 'CHOICE',
              'contact_kinds': 'CONTACT_KIND', 'verdicts': 'VERDICT', 'status': 'STATUS',
              'reason': 'REASON', 'failure': 'FAILURE', 'method': 'METHOD',
              'joint_types': 'JOINT_TYPE', 'parts': 'PART', 'gate': 'GATE', 'limited': 'LIMITED',
              'rotation_parameters': 'ROTATION', 'position_parameters': 'POSITION'}


def constants(kind):
    """Return {name: value} of the constants of a message type."""
    return {name: getattr(kind, name) for name, member in vars(type(kind)).items()
            if isinstance(member, property) and not name.endswith('__DEFAULT')}


@pytest.mark.parametrize(('kind', 'begin'), VALUES, ids=lambda each: getattr(
    each, '__name__', each))
def test_the_constants_are_the_values_of_the_code(kind, begin):
    """No value is missing, none is unknown to the code; each is named by its value."""
    found = {name: value for name, value in constants(kind).items() if name.startswith(begin)}
    assert sorted(found.values()) == sorted(VALUES[kind, begin])
    for name, value in found.items():
        if isinstance(value, str):
            assert name == f'{begin}_{re.sub("[ -]", "_", value).upper()}'


def test_every_constant_is_tested():
    """All constants of all interface files are in the table above."""
    declared = {(path.stem, name) for folder in ('msg', 'srv', 'action')
                for path in (ROOT / folder).glob(f'*.{folder}')
                for name in re.findall(r'^\w+ ([A-Z][A-Z0-9_]*)=', path.read_text(), re.M)}
    tested = {(kind.__name__.partition('_')[0], name) for kind, begin in VALUES
              for name in constants(kind) if name.startswith(f'{begin}_')}
    flags = {('TorqueState', f'LIMITED_{name.upper()}') for name in FLAGS}
    assert declared == tested | flags and len(declared) > 60


def test_the_flags_of_limits_are_bits_of_their_own():
    assert sorted(FLAGS.values()) == [1, 2, 4, 8]
    found = constants(msg.TorqueState).items()
    assert {name.removeprefix('LIMITED_').lower(): value for name, value in found
            if name.startswith('LIMITED_')} == FLAGS


@pytest.mark.parametrize('folder', ['msg', 'srv', 'action'])
def test_fields_with_a_fixed_set_of_values_have_constants(folder):
    """Fields of these names, in the part of the file that has them."""
    for path in (ROOT / folder).glob(f'*.{folder}'):
        for part in path.read_text().split('---'):
            for field in re.findall(r'^\w+(?:\[\])? (\w+)', part, re.M):
                begin = BEGINNINGS.get(field)
                assert not begin or re.search(rf'^\w+ {begin}_\w+=', part, re.M), (
                    f'{path.name}: {field} has no constants')
