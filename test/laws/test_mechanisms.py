"""Test the bundled mechanisms: loops, degrees of freedom, and motion."""

import importlib.util
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.bundled_mechanisms import load, standing
from support.legged_robots import load_legged
from support.paths import ROOT
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import Robot
from dynamics_node.algorithms.kinematics import frame_pose
from dynamics_node.constrained.assembly import project_configuration
from dynamics_node.constrained.constraint import validate
from dynamics_node.constrained.constraint_report import report
from dynamics_node.constrained.forward import constrained_forward_dynamics
from dynamics_node.constrained.inverse import constrained_inverse_dynamics
from dynamics_node.constrained.rows import residual
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.model.configuration import neutral

FREEDOM = {'four_bar': 1, 'slider_crank': 1, 'five_bar': 2, 'stewart': 6, 'delta': 3, 'gripper': 1}
PRINTED = 1e-9    # the numbers of the files have ten digits [m]
ASSEMBLED = 1e-12  # what project_configuration promises [m or rad]
SEEDS = range(5)


@pytest.fixture(params=MECHANISMS)
def mechanism(request):
    return load(request.param, friction=False)


def test_every_mechanism_has_its_expected_freedom():
    """A new one needs its own number."""
    assert FREEDOM.keys() == MECHANISMS.keys()


def test_the_loop_list_fits_the_robot(mechanism):
    """Its links and joints exist; its passive joints are joints."""
    validate(mechanism.model, mechanism.constraints)
    names = {joint.name for joint in mechanism.model.joints}
    assert set(mechanism.passive) < names
    assert len(set(mechanism.passive)) == len(mechanism.passive)


def test_every_motor_has_limits_and_drives_one_freedom(mechanism):
    """As many motors as freedoms."""
    motors = [joint for joint in mechanism.model.joints if joint.name not in mechanism.passive]
    assert len(motors) == FREEDOM[mechanism.name]
    for joint in motors:
        assert joint.max_effort > 0.0 and joint.max_velocity > 0.0


def test_the_model_report_finds_no_error(mechanism):
    """Every moving link has mass, every inertia is physical."""
    findings = Robot.from_urdf(MECHANISMS[mechanism.name].urdf, compile=False).report().findings
    unknown_effort = [finding for finding in findings if 'effort limit' in finding.text]
    serious = [finding for finding in findings if finding.level in ('error', 'warning')]
    assert serious == unknown_effort                       # of passive joints: they have no motor
    assert {finding.where for finding in unknown_effort} <= set(mechanism.passive)


def test_the_loops_are_closed_at_zero(mechanism):
    """To the digits that are printed, and exactly after a projection."""
    q = neutral(mechanism.model)
    assert np.abs(residual(mechanism.model, q, mechanism.constraints)).max() < PRINTED
    closed = project_configuration(mechanism.model, q, mechanism.constraints)
    assert np.abs(residual(mechanism.model, closed, mechanism.constraints)).max() <= ASSEMBLED
    assert_allclose(closed, q, atol=10.0 * PRINTED)


@pytest.mark.parametrize('seed', SEEDS)
def test_the_mechanism_assembles_from_nearby_configurations(mechanism, seed):
    """Within its limits, from joints that are off by up to 0.2 rad or m."""
    q, _, _ = standing(mechanism.model, mechanism.constraints, seed)
    assert np.abs(residual(mechanism.model, q, mechanism.constraints)).max() <= ASSEMBLED
    for joint in mechanism.model.joints:
        if joint.kind != 'floating':
            assert joint.lower - PRINTED <= q[joint.q][0] <= joint.upper + PRINTED


@pytest.mark.parametrize('seed', SEEDS)
def test_every_freedom_is_driven_by_a_motor(mechanism, seed):
    """No row is redundant, no joint is loose, no configuration singular."""
    q, v, _ = standing(mechanism.model, mechanism.constraints, seed)
    found = report(mechanism.model, q, v, mechanism.constraints, mechanism.active)
    assert found.rank == len(found.rows) and found.redundant == ()
    assert found.freedom == found.actuated == FREEDOM[mechanism.name]
    assert found.redundant_actuation == 0 and found.loose == ()
    assert found.failure == 0 and not found.singular


@pytest.mark.parametrize('seed', SEEDS)
def test_inverse_dynamics_finds_the_motors_torques(mechanism, seed):
    """Forward under torques of the motors alone, then back."""
    q, v, tau = standing(mechanism.model, mechanism.constraints, seed)
    tau = np.where(mechanism.active, 10.0 * tau, 0.0)
    forward = constrained_forward_dynamics(mechanism.model, q, v, tau, mechanism.constraints)
    assert np.all(forward.margin > 0.0)
    back = constrained_inverse_dynamics(mechanism.model, q, v, forward.a, mechanism.constraints,
                                        mechanism.active)
    scale = np.abs(forward.a).max() * mechanism.model.inertia_scale.max()
    assert_allclose(back.tau, tau, atol=SOLVED * max(scale, 10.0))


# Each as its makers meant ------------------------------------------------------------------------

def moved(name, **joints):
    """Return (model, q) with these joints fixed and the loops closed."""
    model, constraints = load(name)[1:3]
    q = neutral(model)
    for joint, value in joints.items():
        q[model.joint(joint).q] = value
    return model, project_configuration(model, q, constraints, fixed=joints)


def test_the_tip_of_the_five_bar_is_where_two_circles_meet():
    """Of 0.40 m about the elbows, the lower one."""
    left, right = 0.3, 0.2
    model, q = moved('five_bar', left_shoulder=left, right_shoulder=right)
    elbows = [s * 0.09 + (s * 0.15 - 0.2j) * np.exp(1j * turn)  # the plane x + iz
              for s, turn in ((-1, left), (1, right))]
    half = (elbows[1] - elbows[0]) / 2.0
    tip = elbows[0] + half - 1j * half / abs(half) * np.sqrt(0.4 ** 2 - abs(half) ** 2)
    assert_allclose(frame_pose(model, q, 'tool')[:3, 3], [tip.real, 0.0, tip.imag], atol=SOLVED)


def test_the_leg_lengths_of_the_stewart_platform_are_exact():
    """From the foot of each leg to its ball joint on the moved platform."""
    pose = np.array([0.05, -0.08, 0.06, 0.1, 0.05, -0.1, 0.0])
    pose[6] = np.sqrt(1.0 - pose[3:6] @ pose[3:6])
    model, q = moved('stewart', platform_joint=pose)
    platform, rest = (frame_pose(model, at, 'platform') for at in (q, neutral(model)))
    for k, constraint in enumerate(load('stewart').constraints, start=1):
        foot = frame_pose(model, q, f'leg_{k}_cross')[:3, 3]
        ball = np.append(constraint.to_pose[:3], 1.0)
        longer = (np.linalg.norm((platform @ ball)[:3] - foot)
                  - np.linalg.norm((rest @ ball)[:3] - foot))
        assert_allclose(q[model.joint(f'leg_{k}_slide').q], longer, atol=10.0 * PRINTED)


@pytest.mark.parametrize('seed', SEEDS)
def test_the_platform_of_the_delta_robot_stays_level(seed):
    """It is where three spheres of 0.75 m meet, drawn in by the platform's own 0.05 m."""
    turns = np.random.default_rng(seed).uniform(-0.5, 0.6, 3)
    model, q = moved('delta', **{f'shoulder_{k}': turn for k, turn in enumerate(turns, start=1)})
    T = frame_pose(model, q, 'platform')
    assert_allclose(T[:3, :3], np.eye(3), atol=SOLVED)
    for turn, yaw in zip(turns, 2.0 * np.pi / 3.0 * np.arange(3)):
        reach = 0.2 + 0.3 * np.cos(turn) - 0.05
        centre = [reach * np.cos(yaw), reach * np.sin(yaw), -0.3 * np.sin(turn)]
        assert_allclose(np.linalg.norm(T[:3, 3] - centre), 0.75, atol=10.0 * PRINTED)


@pytest.mark.parametrize('turn', [-0.1, 0.0, 0.3, np.arctan2(0.03, 0.04)])
def test_the_gripper_closes_without_turning_its_fingers(turn):
    """The gap is twice what the cranks lean outwards; at the last angle the pads meet."""
    model, q = moved('gripper', left_crank_joint=turn)
    pads = [frame_pose(model, q, f'{side}_pad') for side in ('left', 'right')]
    gap = 2.0 * (0.03 * np.cos(turn) - 0.04 * np.sin(turn))
    assert_allclose(pads[1][:3, 3] - pads[0][:3, 3], [gap, 0.0, 0.0], atol=EXACT_MATHS)
    for pad in pads:
        assert_allclose(pad[:3, :3], np.eye(3), atol=EXACT_MATHS)


# Legged robots on their feet: what the contacts leave --------------------------------------------

@pytest.mark.parametrize('name, freedom', [('solo12', 6), ('bolt', 6), ('talos', 26)])
def test_contacts_of_feet_reduce_the_freedom(name, freedom):
    """18 - 4 x 3, 12 - 2 x 3 and 38 - 2 x 6."""
    model, contacts = load_legged(name)
    q, v, _ = standing(model, contacts, 0)
    found = report(model, q, v, contacts)
    assert found.freedom == freedom and found.redundant == ()
    assert found.failure == 0


# Pictures ----------------------------------------------------------------------------------------

def test_the_docs_show_every_mechanism():
    """With a picture of at most 60 kB and the paths that are needed."""
    text = (ROOT / 'docs' / 'mechanisms.md').read_text()
    for name in MECHANISMS:
        assert f'(pictures/{name}.png)' in text and f"MECHANISMS['{name}']" in text
        assert (ROOT / 'docs' / 'pictures' / f'{name}.png').stat().st_size < 60_000


def test_the_code_in_the_docs_runs(capsys):
    """Block by block, in one namespace, as one would type it."""
    blocks = re.findall(r'```python\n(.*?)```', (ROOT / 'docs' / 'mechanisms.md').read_text(), re.S)
    assert len(blocks) == 1 + len(MECHANISMS)
    names = {}
    for block in blocks:
        exec(block, names)
    assert '1 of 6 degrees of freedom' in capsys.readouterr().out


@pytest.mark.parametrize('name', MECHANISMS)
def test_the_pictures_can_be_drawn_again(name, tmp_path):
    """Up to the rendering of fonts: equal size, and hardly a pixel that differs."""
    image = pytest.importorskip('matplotlib.image')
    spec = importlib.util.spec_from_file_location('mechanisms', ROOT / 'examples/mechanisms.py')
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.draw(name).print_png(tmp_path / 'again.png')
    again, shown = image.imread(tmp_path / 'again.png'), image.imread(
        ROOT / 'docs' / 'pictures' / f'{name}.png')
    assert again.shape == shown.shape
    differs = np.abs(again - shown).max(axis=2) > 0.2
    assert differs.mean() < 0.01
