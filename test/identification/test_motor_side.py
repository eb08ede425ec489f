"""Test the conversion of recordings of drives to positions and torques of joints."""

import numpy as np
import pytest
from support.recorded_arm import recorded
from support.tiny_robots import TWO_JOINTS

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.identification import joint_side, prepare, raw_recording, read_transmission
from dynamics_node.identification.recording import motor_names, select_joints

NAMES = ('shoulder', 'elbow')


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(TWO_JOINTS, compile=False)


@pytest.fixture
def raw():
    """Positions, velocities and torques of joints."""
    q, v, tau = np.random.default_rng(1).normal(size=(3, 10, 2))
    tau[3, 1] = np.nan
    return raw_recording(NAMES, np.arange(10.0), q, tau, v)


def assert_same(found, expected):
    assert found.joint_names == expected.joint_names
    for name in ('q', 'v', 'tau'):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)


def test_scales_and_ratios_give_the_joint_side(robot, raw):
    """Currents of 0.1 N m/A before a gear of -50: both signs are those of the motor."""
    ratio, constant = np.array([-50.0, 1.0]), np.array([0.1, 1.0])
    drive = raw._replace(q=raw.q * ratio, v=raw.v * ratio, tau=raw.tau / ratio / constant)
    assert_same(joint_side(robot, drive, {'shoulder': 0.1}, {'shoulder': -50.0}), raw)


def test_a_transmission_gives_the_joint_side(robot, raw):
    """Power is the same on both sides, sample by sample."""
    coupled = read_transmission({'motors': {'m1': {'shoulder': 45.0},
                                            'm2': {'shoulder': 32.0, 'elbow': 32.0}},
                                 'zeros': {'elbow': 0.5}})
    drive = raw_recording(('m1', 'm2'), raw.time, *np.random.default_rng(2).normal(size=(2, 10, 2)),
                          np.random.default_rng(3).normal(size=(10, 2)))
    found = joint_side(robot, drive, transmission=coupled)
    assert found.joint_names == NAMES
    np.testing.assert_allclose((found.q - [0.0, 0.5]) @ coupled.matrix.T, drive.q, rtol=1e-9)
    np.testing.assert_allclose((found.v * found.tau).sum(axis=1), (drive.v * drive.tau).sum(axis=1),
                               rtol=1e-9)


def test_numbered_columns_are_the_joints_in_order(robot, raw):
    """From 0 or from 1, in any order of the columns."""
    for names in (('1', '2'), ('0', '1')):
        assert_same(select_joints(robot, raw._replace(joint_names=names)), raw)
    swapped = raw.joints(NAMES[::-1])._replace(joint_names=('2', '1'))
    assert_same(select_joints(robot, swapped), raw)
    assert joint_side(robot, swapped, {'elbow': 2.0}).tau[0, 1] == 2.0 * raw.tau[0, 1]


def test_currents_without_a_scale_are_refused(robot, raw):
    """With the option that converts them."""
    currents = raw._replace(currents=('elbow',))
    assert joint_side(robot, currents, {'elbow': 3.0}).currents == ()
    with pytest.raises(DynamicsError, match='effort of elbow is a current; .* --effort-scale'):
        prepare(robot, currents)
    gears = read_transmission({'motors': {'m': {'shoulder': 2.0}, 'n': {'elbow': 3.0}}})
    motors = raw._replace(joint_names=('m', 'n'), currents=('n',))
    with pytest.raises(DynamicsError, match='effort of n is a current'):
        joint_side(robot, motors, transmission=gears)
    joint_side(robot, motors, {'n': 0.1}, transmission=gears)


def test_currents_of_joints_that_the_robot_lacks_are_no_fault(robot):
    """Of a gripper: its column is not used; nor is the effort of a passive joint."""
    good = recorded(robot, duration=12.0)
    wider = good._replace(
        joint_names=(*good.joint_names, 'gripper'), v=None, currents=('gripper',),
        **{name: np.hstack([getattr(good, name), getattr(good, name)[:, :1]])
           for name in ('q', 'tau')})
    assert prepare(robot, wider).recording.joint_names == good.joint_names
    assert wider.joints(good.joint_names).currents == ()
    assert wider.joints(('gripper',)).currents == ('gripper',)
    bundled = MECHANISMS['five_bar']
    looped = Robot.from_urdf(bundled.urdf, loops=bundled.loops, compile=False)
    names = (*motor_names(looped), *looped.loops.passive)
    values = np.ones((3, len(names)))
    found = select_joints(looped, raw_recording(names, np.arange(3.0), values, values)._replace(
        currents=names))
    assert found.currents == motor_names(looped)


@pytest.mark.parametrize('arguments, words', [
    ({'effort_scale': {'wrist': 1.0}}, "effort_scale names 'wrist'; the recording has shoulder"),
    ({'gear_ratio': {'elbow': 0.0}}, 'gear_ratio of elbow is 0'),
    ({'effort_scale': {'elbow': np.inf}}, 'effort_scale of elbow'),
    ({'gear_ratio': {'elbow': np.nan}}, 'gear_ratio of elbow'),
    ({'gear_ratio': {'elbow': 2.0}, 'transmission': read_transmission(
        {'motors': {'shoulder': {'shoulder': 2.0}}})}, 'expected one of them'),
    ({'transmission': read_transmission({'motors': {'m': {'shoulder': 2.0}}})},
     'lacks the motors')])
def test_bad_conversions_are_refused(robot, raw, arguments, words):
    with pytest.raises(DynamicsError, match=words):
        joint_side(robot, raw, **arguments)


def test_an_unknown_effort_of_a_motor_is_unknown_at_its_joints_alone(robot, raw):
    """NaN as its scale; the other joint keeps its torques."""
    gears = read_transmission({'motors': {'shoulder': {'shoulder': 2.0}, 'elbow': {
        'shoulder': 1.0, 'elbow': 3.0}}})
    found = joint_side(robot, raw, {'shoulder': np.nan}, transmission=gears)
    k = found.joint_names.index('elbow')
    np.testing.assert_allclose(found.tau[:, k], 3.0 * raw.tau[:, raw.joint_names.index('elbow')])
    assert np.isnan(found.tau[:, found.joint_names.index('shoulder')]).all()
