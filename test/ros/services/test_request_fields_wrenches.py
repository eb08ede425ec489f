"""Test wrenches in root axes in requests: they act as the same wrenches in link axes."""

import numpy as np
import pytest
from support.differences import relative
from support.node_states import MORE, ask, refused, scene, wrench
from support.tiny_robots import TWO_JOINTS
from support.tolerances import SOLVED

from dynamics_node.msg import Task
from dynamics_node.ros.services.table import SERVICES

PUSH = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
EXTRA = {**MORE, 'task_control': {'tasks': [Task(name='rest', kind='torque')], 'unbounded': True}}
WITH_WRENCHES = [name for name, (kind, _, _) in SERVICES.items()
                 if 'wrenches_in_root_axes' in kind.Request.get_fields_and_field_types()]


def numbers(reply):
    """Return all finite numbers of a reply in one array; a slip margin may be infinite."""
    found = [getattr(reply, name) for name in reply.get_fields_and_field_types()]
    listed = np.concatenate([np.array(each, dtype=float) for each in found
                             if hasattr(each, 'typecode')])
    return listed[np.isfinite(listed)]


@pytest.fixture(scope='module')
def two_joints():
    return scene(TWO_JOINTS)


@pytest.mark.parametrize('service', [name for name in WITH_WRENCHES if name not in (
    'batch_dynamics', 'joint_reactions')])
def test_a_wrench_in_root_axes_is_turned_into_those_of_its_link(two_joints, service):
    """The reply is that to the turned wrench, and another than without the flag."""
    s = two_joints
    turned = s.robot.link_wrenches(s.q, {'elbow_link': PUSH})['elbow_link']
    fields = EXTRA.get(service, {})
    reply, same, other = (numbers(ask(s.node_state, service, **fields, external_wrenches=[
        wrench('elbow_link', six)], wrenches_in_root_axes=in_root))
        for six, in_root in ((PUSH, True), (turned, False), (PUSH, False)))
    assert relative(reply, same) < SOLVED
    assert relative(reply, other) > 1e-3


def test_each_state_of_a_batch_has_its_own_axes(two_joints):
    """J' F with J in root axes."""
    s = two_joints
    q = np.array([[0.3, -0.5], [1.1, 0.2]])
    free, loaded = (np.reshape(ask(
        s.node_state, 'batch_dynamics', question='inverse', position=q.ravel(),
        external_wrenches=push, wrenches_in_root_axes=bool(push)).effort, (2, 2))
        for push in ([], [wrench('elbow_link', PUSH)]))
    J = s.robot.jacobian(q, 'elbow_link')
    assert relative(free - loaded, np.einsum('nij,i->nj', J, PUSH)) < SOLVED


def test_reactions_carry_a_wrench_in_root_axes(two_joints):
    """The last joint carries the opposite of the push, in root axes too."""
    s = two_joints
    free, loaded = (ask(s.node_state, 'joint_reactions', external_wrenches=push, local=False,
                        wrenches_in_root_axes=bool(push)).wrenches[-1]
                    for push in ([], [wrench('elbow_link', PUSH)]))
    change = [getattr(getattr(free, part), axis) - getattr(getattr(loaded, part), axis)
              for part in ('force', 'torque') for axis in 'xyz']
    assert relative(change, PUSH) < SOLVED


def test_the_flag_without_wrenches_is_refused(two_joints):
    """It would have no effect."""
    assert refused(two_joints.node_state, 'inverse_dynamics', wrenches_in_root_axes=True) == (
        'wrenches_in_root_axes is true, but external_wrenches is empty')
    assert refused(two_joints.node_state, 'batch_dynamics', question='terms',
                   wrenches_in_root_axes=True).startswith('wrenches_in_root_axes is given, but')
