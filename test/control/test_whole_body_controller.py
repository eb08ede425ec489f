"""Test mode whole_body: gravity on the contacts, their forces while they change, refusals."""

import numpy as np
import pytest
from support.standing_robots import FEET, TORQUE, solo12
from support.tolerances import SOLVED

from dynamics_node import Bound, DynamicsError, Robot, Target, Task
from dynamics_node.control.blended_controller import BlendedController
from dynamics_node.control.controller_with_reference import ControllerWithReference
from dynamics_node.control.whole_body_controller import MOST_FAILURES, WholeBodyController
from dynamics_node.control.whole_body_reference import (
    MOST_TASKS,
    WholeBodyReference,
    default_bounds,
    standing_reference,
)
from dynamics_node.example_robots import ARM7

NAMES = tuple(foot.name for foot in FEET)
THREE = NAMES[1:]                   # without the front left foot
LEG = slice(6, 9)                   # places of its joints in v
EFFORT = np.repeat([0.0, TORQUE], [6, 12])
REST = np.zeros(18)
# [m/s^2, rad/s^2] The tasks of small weights, even forces and least torques, disturb the others.
DISTURBED = 0.02


@pytest.fixture(scope='module')
def robot():
    return solo12().with_loops(FEET)


@pytest.fixture(scope='module')
def q(robot):
    """On bent knees, the centre of mass away from the front left foot."""
    q = robot.neutral()
    q[7:] += np.tile([0.0, 0.8, -1.6], 4) * np.repeat([1.0, 1.0, -1.0, -1.0], 3)
    shift = np.zeros(18)
    shift[:2] = -0.05, -0.04
    moved = robot.integrate(q, shift)
    feet = [robot.frame_pose(q, foot.frame)[:3, 3] for foot in FEET]
    targets = [Target('base_link', moved[:3], moved[3:7]),
               *(Target(foot.frame, place) for foot, place in zip(FEET, feet))]
    return robot.with_loops(None).inverse_kinematics(targets, start=q).q


@pytest.fixture
def standing(robot, q):
    return standing_reference(robot, q, EFFORT, 100.0)


@pytest.fixture
def exact(standing):
    """The standing reference without tasks that contradict each other a little."""
    return WholeBodyReference(NAMES, standing.tasks[:3], standing.bounds)


def forces_at_rest(robot, q, tau, still=SOLVED):
    """Return the forces of the feet under a torque, (4, 3), and check that nothing accelerates."""
    found = robot.constrained_forward_dynamics(q, REST, tau)
    assert np.abs(found.a).max() < still
    return found.multipliers.reshape(4, 3)


def test_a_heavy_robot_does_not_sink(robot, q):
    """Even forces and least torques disturb it as little as a light one."""
    heavy = robot.with_payload('load', 'base_link', 80.0)
    reference = standing_reference(heavy, q, 100.0 * EFFORT, 100.0)
    tau = WholeBodyController(heavy).torque(q, REST, reference)
    forces_at_rest(heavy, q, tau, DISTURBED)


def test_a_robot_that_stands_stays(robot, q, standing):
    """The QP of the standing reference balances gravity, within friction; no motor on the base."""
    tau = WholeBodyController(robot).torque(q, REST, standing)
    force = forces_at_rest(robot, q, tau, DISTURBED)
    assert not tau[:6].any()
    assert (np.hypot(force[:, 0], force[:, 1]) <= FEET[0].friction * force[:, 2]).all()
    assert force[:, 2].sum() == pytest.approx(9.81 * robot.total_mass, rel=DISTURBED / 9.81)


def test_a_leg_without_contact_bears_only_itself(robot, q):
    """The holding torque of a lifted leg is its own weight; the others carry the robot."""
    tau = WholeBodyController(robot, THREE).holding_torque(q)
    assert np.abs(tau - robot.gravity_torque(q))[LEG].max() < SOLVED
    assert np.abs(forces_at_rest(robot, q, tau)[0]).max() < SOLVED


@pytest.mark.parametrize('share', [0.0, 0.25, 0.5, 1.0])
def test_the_force_of_a_leaving_contact_goes_linearly_to_zero(robot, q, exact, share):
    before, after = WholeBodyController(robot), WholeBodyController(robot, THREE)
    lifted = WholeBodyReference(THREE, exact.tasks, exact.bounds)
    blend = BlendedController(ControllerWithReference(before, exact, lambda: 0.0), after,
                              start=1.0, duration=0.4)
    blend.advance(1.0 + 0.4 * share)
    whole = forces_at_rest(robot, q, before.torque(q, REST, exact))[0]
    force = forces_at_rest(robot, q, blend.torque(q, REST, lifted))[0]
    assert whole[2] > 1.0   # [N]
    assert np.abs(force - (1.0 - share) * whole).max() < SOLVED
    held = forces_at_rest(robot, q, before.holding_torque(q))[0]
    assert np.abs(forces_at_rest(robot, q, blend.holding_torque(q))[0]
                  - (1.0 - share) * held).max() < SOLVED


def test_a_waiting_change_has_its_own_duration(robot, q, standing):
    """A change during a blend waits for its end, then takes the time it was given."""
    four, three = WholeBodyController(robot), WholeBodyController(robot, THREE)
    blend = BlendedController(four, four, start=0.0, duration=0.1)
    blend.then(three, 0.4)
    assert blend.advance(0.1)
    assert blend.advance(0.3)
    middle = 0.5 * (four.holding_torque(q) + three.holding_torque(q))
    assert np.abs(blend.holding_torque(q) - middle).max() < SOLVED
    assert not blend.advance(0.5)


def test_without_a_solution_gravity_is_held_and_then_it_is_an_error(robot, q, standing):
    """A torque limit below what the legs need contradicts the contacts."""
    weak = WholeBodyReference(NAMES, standing.tasks, (Bound('torque', limit=0.01),
                                                     Bound('friction')))
    controller = WholeBodyController(robot)
    for _ in range(MOST_FAILURES):
        assert np.array_equal(controller.torque(q, REST, weak), controller.holding_torque(q))
    with pytest.raises(DynamicsError, match='cannot be fulfilled together: .*torque of'):
        controller.torque(q, REST, weak)
    controller.torque(q, REST, standing)   # a solution ends the count
    assert np.array_equal(controller.torque(q, REST, weak), controller.holding_torque(q))


def test_default_bounds_leave_joints_without_a_motor_out():
    limit = default_bounds([0.0, 2.0])[0].limit
    assert limit.tolist() == [np.inf, 2.0]


REFUSED = {
    'knee': lambda robot: WholeBodyController(robot, ('knee',)),
    'each once': lambda robot: WholeBodyController(robot, (NAMES[0], NAMES[0])),
    'at least one of FL_contact': lambda robot: WholeBodyController(robot, ()),
    'needs contacts. List the contacts': lambda robot: WholeBodyController(robot.with_loops(None)),
    'floating base; this one is fixed': lambda _: WholeBodyController(
        Robot.from_urdf(ARM7, compile=False)),
    'needs a WholeBodyReference': lambda robot: WholeBodyController(robot).torque(
        robot.neutral(), REST, None),
    'tasks has 0': lambda _: WholeBodyReference(NAMES, (), ()),
    f'expected 1 to {MOST_TASKS}': lambda _: WholeBodyReference(
        NAMES, (Task('calm', 'posture'),) * (MOST_TASKS + 1), ()),
}


@pytest.mark.parametrize('reason', REFUSED)
def test_bad_arguments_are_refused_by_name(robot, reason):
    with pytest.raises(DynamicsError, match=reason):
        REFUSED[reason](robot)


def test_two_feet_are_no_support(robot, q, standing):
    """On two points the robot can turn about the line between them."""
    with pytest.raises(DynamicsError, match='floating_base can move while the motors'):
        WholeBodyController(robot, NAMES[:2]).check_solved(q, REST, standing)


def test_a_reference_without_a_solution_is_refused_before_it_is_followed(robot, q, standing):
    wrong = WholeBodyReference(NAMES, (*standing.tasks, Task('reach', 'center_of_mass',
                                                             velocity=(0.0,) * 2)), ())
    with pytest.raises(DynamicsError, match="task 'reach': velocity has 2"):
        WholeBodyController(robot).check_solved(q, REST, wrong)
    jump = WholeBodyReference(NAMES, (Task('jump', 'center_of_mass', 0,
                                           acceleration=(0.0, 0.0, 90.0)),), standing.bounds)
    with pytest.raises(DynamicsError, match="cannot be fulfilled together: .*task 'jump'"):
        WholeBodyController(robot).check_solved(q, REST, jump)


def test_its_age_counts_from_its_start(standing):
    later = WholeBodyReference(NAMES, standing.tasks, standing.bounds, start=2.0)
    assert later.at(5.0) is later
    assert (later.age(1.0), later.age(2.5)) == (0.0, 0.5)
