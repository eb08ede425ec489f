"""Test that rates of joint origins and axes mean what a description of the robot means by them."""

import dataclasses

import numpy as np
import pytest
from support.agreement_of_paths import without_numpy
from support.differences import STEP, relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES, SOLVED

from dynamics_node import DynamicsError, Robot, RobotLink, Spring, UnknownName
from dynamics_node.algorithms.geometry_rates import axis_twists, origin_twists
from dynamics_node.kernels.keys import key_of
from dynamics_node.spatial import se3

RNG = np.random.default_rng(4)


def placement():
    return se3.exp(RNG.normal(size=6)).matrix()


def link(name, parent, joint, **fields):
    return RobotLink(name, parent, joint, placement=placement(), axis=RNG.normal(size=3),
                     mass=RNG.uniform(0.5, 2.0), com=RNG.normal(size=3), inertia=np.eye(3),
                     joint_name=f'{name}_joint', **fields)


# a fixed link between two joints: the axes of its parent body are not those of the parent link
LINKS = (RobotLink('base'), link('upper', 'base', 'revolute'),
         RobotLink('flange', 'upper', 'fixed', placement=placement(), mass=0.3),
         link('slide', 'flange', 'prismatic'), link('lower', 'flange', 'continuous'),
         link('follower', 'lower', 'revolute', mimic=('lower_joint', -0.5, 0.3)))
MOVING = ('upper', 'slide', 'lower', 'follower')
# between two branches, to the world, at a link that is fixed to a body, and at a joint
SPRINGS = (Spring('strut', 40.0, 3.0, 0.2, frame='follower', point=(0.2, 0.1, 0.3), to='slide'),
           Spring('rope', 30.0, 2.0, 0.5, frame='lower', to_point=(1.0, 2.0, 3.0)),
           Spring('brace', 20.0, 1.0, 0.1, frame='flange', to='slide', point=(0.0, 0.3, 0.0)),
           Spring('coil', 10.0, 1.0, 0.3, joint='lower_joint'))


def robot_of(links):
    return Robot.from_links(links, compile=False)


@pytest.fixture(scope='module')
def robot():
    return robot_of(LINKS)


@pytest.fixture
def state():
    return np.random.default_rng(5).normal(size=(3, 3))


def moved(placement, displacement):
    """Return the pose of a link, displaced by (x, y, z, rx, ry, rz) in the axes of its parent."""
    T = np.array(placement)
    T[:3, :3], T[:3, 3] = turned(displacement) @ T[:3, :3], T[:3, 3] + displacement[:3]
    return T


def turned(displacement):
    """Return the rotation of a displacement."""
    return se3.exp(np.concatenate([displacement[3:], np.zeros(3)])).R


def torque_rate(change, state):
    """Return d tau/dp of the robot whose links are change(link, p), by central differences."""
    def torque(p):
        return robot_of([change(each, p) for each in LINKS]).inverse_dynamics(*state)
    return (torque(STEP) - torque(-STEP)) / (2.0 * STEP)


@pytest.mark.parametrize('name', MOVING)
def test_an_origin_moves_in_the_axes_of_the_parent_link(robot, state, name):
    """Position and rotation of the link in its parent; all links beyond move with it."""
    rate = RNG.normal(size=6)

    def change(each, p):
        if each.name != name:
            return each
        return dataclasses.replace(each, placement=moved(each.placement, p * rate))
    got = robot.inverse_dynamics_directional_derivative(*state, dorigins={f'{name}_joint': rate})
    assert relative(got, torque_rate(change, state)) < RATE_BY_DIFFERENCES


@pytest.mark.parametrize('name', MOVING)
def test_an_axis_moves_in_the_joint_frame(robot, state, name):
    """Direction and place of the axis change, the link's pose at position zero does not."""
    rate = RNG.normal(size=6)

    def change(each, p):
        if each.name != name:
            return each
        return dataclasses.replace(each, axis=turned(p * rate) @ each.axis, anchor=p * rate[:3])
    got = robot.inverse_dynamics_directional_derivative(*state, daxes={f'{name}_joint': rate})
    assert relative(got, torque_rate(change, state)) < RATE_BY_DIFFERENCES


@pytest.mark.parametrize('name', MOVING)
def test_the_ends_of_springs_move_with_the_geometry(robot, state, name):
    """By differences of robots with other origins; forward dynamics is consistent with it."""
    q, v, a = state
    rate, sprung = RNG.normal(size=6), robot.with_springs(SPRINGS)

    def torque(p):
        links = [dataclasses.replace(each, placement=moved(each.placement, p * rate),
                                     axis=turned(p * rate) @ each.axis, anchor=p * rate[:3])
                 if each.name == name else each for each in LINKS]
        return robot_of(links).with_springs(SPRINGS).spring_torque(q, v)
    by_differences = (torque(STEP) - torque(-STEP)) / (2.0 * STEP)
    rates = {'dorigins': {f'{name}_joint': rate}, 'daxes': {f'{name}_joint': rate}}
    found = sprung.inverse_dynamics_directional_derivative(q, v, a, **rates)
    springs = found - robot.inverse_dynamics_directional_derivative(q, v, a, **rates)
    assert relative(springs, by_differences) < RATE_BY_DIFFERENCES
    tau = sprung.inverse_dynamics(q, v, a)
    forward = sprung.forward_dynamics_directional_derivative(q, v, tau, **rates)
    assert relative(sprung.mass_matrix(q) @ forward, -found) < SOLVED


def test_the_kernel_with_springs_equals_numpy(monkeypatch, robot, state):
    """Of single states and batches."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    compiled = Robot(robot.model).with_springs(SPRINGS)
    names = 'inverse_dynamics_geometry_derivative', 'inverse_dynamics_directional_derivative'
    compiled._dispatcher.compile([key_of(compiled.model, name) for name in names], wait=True)
    rate = {'lower_joint': RNG.normal(size=6)}
    for inputs in (state, [np.array([each, 0.5 * each]) for each in state]):
        with without_numpy(compiled):
            found = compiled.inverse_dynamics_directional_derivative(
                *inputs, dq=state[1], dorigins=rate, daxes=rate)
        assert relative(found, robot.with_springs(SPRINGS).inverse_dynamics_directional_derivative(
            *inputs, dq=state[1], dorigins=rate, daxes=rate)) < EXACT_MATHS


def test_rates_of_a_batch_are_those_of_its_rows(robot):
    """One row for all states, or one per state; none at all is zero."""
    rates = {'upper_joint': RNG.normal(size=6), 'follower_joint': RNG.normal(size=(4, 6))}
    for twists in (origin_twists, axis_twists):
        found = twists(robot.model, rates)
        assert found.shape == (4, 4, 6)
        row = twists(robot.model, {'upper_joint': rates['upper_joint'],
                                   'follower_joint': rates['follower_joint'][2]})
        # BLAS adds the products of one row in another order than those of several
        assert relative(found[2], row) < EXACT_MATHS
        np.testing.assert_array_equal(twists(robot.model, {}), np.zeros((4, 6)))


def test_a_rotation_about_the_own_axis_is_no_change_of_a_revolute_axis(robot, state):
    """Nor is a shift along it; nor any shift of a prismatic axis."""
    upper, slide = (np.array(each.axis) for each in (LINKS[1], LINKS[3]))
    for joint, rate in (('upper_joint', [*(2.0 * upper), *upper]),
                        ('slide_joint', [*RNG.normal(size=3), *slide])):
        got = robot.inverse_dynamics_directional_derivative(*state, daxes={joint: rate})
        assert relative(got, np.zeros(3)) < EXACT_MATHS


def test_unknown_joints_and_axes_that_do_not_exist_are_refused(robot, state):
    """A fixed joint does not move; a floating base has an origin but no axis."""
    with pytest.raises(UnknownName, match='follower_joint'):
        robot.inverse_dynamics_directional_derivative(*state, dorigins={'flange_joint': [0.0] * 6})
    free = Robot.from_links(LINKS, base='floating', compile=False)
    q, still, base = free.neutral(), np.zeros(free.nv), free.joint_names[0]
    with pytest.raises(DynamicsError, match='is floating and has no axis'):
        free.inverse_dynamics_directional_derivative(q, still, still, daxes={base: [0.0] * 6})
    lifted = free.inverse_dynamics_directional_derivative(q, still, still,
                                                          dorigins={base: [0, 0, 1, 0, 0, 0]})
    assert relative(lifted, still) < EXACT_MATHS   # gravity is the same everywhere
