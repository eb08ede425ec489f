"""Test the torque modes on robots with loops: motors carry the passive joints, which follow."""

import functools

import numpy as np
import pytest
from support.tolerances import SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.control.closed_loops import ClosedLoops
from dynamics_node.control.controller import Controller
from dynamics_node.control.gains import Gains
from dynamics_node.control.spline import MotionSample
from dynamics_node.example_robots import MECHANISMS

PERIOD = 2e-3  # [s] of the loop; torques are held over it
DRIFT = 1e-6   # [rad or m] of a mechanism at rest for a second: what the torques are off by
CLOSED = (30.0, 30.0)  # [1/s] of Baumgarte: the plant's own loops stay closed

pytestmark = pytest.mark.usefixtures('kernels')   # simulated seconds: several times faster


@functools.cache
def mechanism(name, **options):
    bundled = MECHANISMS[name]
    return Robot.from_urdf(bundled.urdf, loops=bundled.loops, **options)


def active(robot):
    """Return which degrees of freedom have a motor."""
    return ClosedLoops(robot).actuated


def somewhere(robot, seed=0):
    """Return a configuration and a velocity that keep the loops, off the symmetric pose."""
    rng = np.random.default_rng(seed)
    step = 0.02 * rng.normal(size=robot.nv) * active(robot)
    q = robot.project_configuration(robot.integrate(robot.neutral(), step))
    return q, robot.project_velocity(q, 0.3 * rng.normal(size=robot.nv))


def moved(robot, q, v, tau, h=PERIOD):
    """Return the state after h under tau, by RK4."""
    def rate(q, v):
        return v, robot.constrained_forward_dynamics(q, v, tau, stabilisation=CLOSED).a
    k1 = rate(q, v)
    k2 = rate(q + h / 2 * k1[0], v + h / 2 * k1[1])
    k3 = rate(q + h / 2 * k2[0], v + h / 2 * k2[1])
    k4 = rate(q + h * k3[0], v + h * k3[1])
    return tuple(x + h / 6 * (a + 2 * b + 2 * c + d)
                 for x, a, b, c, d in zip((q, v), k1, k2, k3, k4))


# What the motors get --------------------------------------------------------------------------

@pytest.mark.parametrize('name', MECHANISMS)
def test_motor_torques_are_those_of_constrained_inverse_dynamics(name):
    """The least torques, none at passive joints."""
    robot = mechanism(name)
    q, v = somewhere(robot)
    rng = np.random.default_rng(1)
    loops = ClosedLoops(robot)
    a = loops.accelerations(q, v, rng.normal(size=robot.nv))
    found = robot.constraint_rows(q, v)
    scale = 1.0 + np.abs(found.gamma).max()
    assert np.abs(found.A @ a + found.gamma).max() < SOLVED * scale
    want = robot.constrained_inverse_dynamics(q, v, a, choice='least_torque')
    got = loops.motor_torques(q, robot.inverse_dynamics(q, v, a))
    assert not got[~loops.actuated].any()
    assert np.abs(got - want.tau).max() < SOLVED * (1.0 + np.abs(want.tau).max())


@pytest.mark.parametrize('name', MECHANISMS)
def test_gravity_mode_holds_a_mechanism_still(name):
    """Under its torques the acceleration is zero."""
    robot = mechanism(name)
    q, _ = somewhere(robot)
    tau = Controller(robot).torque(q)
    assert not tau[~active(robot)].any()
    a = robot.constrained_forward_dynamics(q, np.zeros(robot.nv), tau).a
    assert np.abs(a).max() < 1e-8  # [rad/s^2 or m/s^2], of 10 and more without torques


@pytest.mark.parametrize('name', ['four_bar', 'five_bar'])
def test_gravity_mode_holds_for_a_second(name):
    """No drift; without torques it falls."""
    robot = mechanism(name)
    q0, _ = somewhere(robot)
    for controller, bound in ((Controller(robot), DRIFT), (None, None)):
        q, v = q0, np.zeros(robot.nv)
        for _ in range(round(1.0 / PERIOD)):
            tau = np.zeros(robot.nv) if controller is None else controller.torque(q, v)
            q, v = moved(robot, q, v, tau)
        drift = np.abs(q - q0).max()
        assert drift < bound if bound else drift > 0.1


def swing(robot, q0, time):
    """Return the reference of the active joints; that of the passive ones is constant."""
    n, where = robot.nv, active(robot)
    amplitude, rate = 0.3 * where, 3.0
    return MotionSample(q0 + amplitude * (1.0 - np.cos(rate * time)),
                  amplitude * rate * np.sin(rate * time),
                  amplitude * rate ** 2 * np.cos(rate * time) + np.zeros(n))


@pytest.mark.parametrize('name', ['four_bar', 'five_bar'])
def test_computed_torque_tracks_the_active_joints(name):
    """An initial error decays by the gains; then only the sampling error is left."""
    robot = mechanism(name)
    q0 = robot.neutral()
    start = np.array(q0)
    start[active(robot)] += 0.02
    fixed = [name for name in robot.joint_names if name not in robot.loops.passive]
    q, v = robot.project_configuration(start, fixed=fixed), np.zeros(robot.nv)
    controller = Controller(robot, 'computed_torque', Gains.from_frequency(robot.nv, 30.0))
    errors = []
    for k in range(round(1.5 / PERIOD)):
        motion = swing(robot, q0, k * PERIOD)
        errors.append(np.abs(motion.q - q)[active(robot)].max())
        q, v = moved(robot, q, v, controller.torque(q, v, motion))
    assert errors[0] == pytest.approx(0.02)
    assert max(errors[round(0.5 / PERIOD):]) < 2e-3
    assert np.abs(robot.constraint_rows(q, v).residual).max() < 1e-5


@pytest.mark.parametrize('name', ['four_bar', 'five_bar'])
@pytest.mark.parametrize('mode', ['feedforward', 'computed_torque'])
def test_on_the_reference_all_modes_give_its_torque(name, mode):
    """Without an error, feedforward = computed torque = inverse dynamics."""
    robot = mechanism(name)
    asked = swing(robot, np.array(robot.neutral()), 0.4)
    loops = ClosedLoops(robot)
    there = loops.with_passive_joints(np.array(robot.neutral()), asked, whole=True)
    assert np.abs(robot.constraint_rows(there.q, there.v).residual).max() < 1e-10
    want = robot.constrained_inverse_dynamics(*there, choice='least_torque').tau
    gains = Gains.per_joint(robot.nv, 50.0, 10.0)
    got = Controller(robot, mode, gains).torque(there.q, there.v, asked)
    assert np.abs(got - want).max() < SOLVED * (1.0 + np.abs(want).max())


@pytest.mark.parametrize('name', ['four_bar', 'five_bar'])
def test_feedforward_depends_on_the_reference_alone(name):
    """For any measured state on the same branch of the loops."""
    robot = mechanism(name)
    asked = swing(robot, np.array(robot.neutral()), 0.4)
    here = np.array(robot.neutral())
    there = ClosedLoops(robot).with_passive_joints(here, asked, whole=True)
    assert np.abs(there.q - here).max() > 0.1
    controller = Controller(robot, 'feedforward')
    got, want = (controller.torque(q, np.zeros(robot.nv), asked) for q in (here, there.q))
    assert np.abs(got - want).max() < SOLVED * (1.0 + np.abs(want).max())


def test_passive_joints_follow_on_the_branch_where_the_robot_is():
    """Their references are ignored: the search starts at the measured positions."""
    robot = mechanism('five_bar')
    here, loops = np.zeros(4), ClosedLoops(robot)
    raised = 2.0 * np.arctan2(0.32, 0.24) * np.array([0.0, 1.0, 0.0, -1.0])  # its tip above
    assert np.abs(robot.constraint_rows(raised, here).residual).max() < 1e-9
    asked = swing(robot, here, 0.1)
    below = loops.with_passive_joints(here, asked, whole=True).q
    assert np.abs(loops.with_passive_joints(here, asked._replace(q=asked.q + raised),
                                 whole=True).q - below).max() < SOLVED
    above = loops.with_passive_joints(raised, asked, whole=True).q
    assert np.abs(above - below).max() > 1.0


def test_impedance_uses_the_springs_of_active_joints_alone():
    """For any reference of passive joints."""
    robot = mechanism('five_bar', friction=False)
    q, _ = somewhere(robot)
    gains = Gains.per_joint(robot.nv, 40.0, 3.0)
    controller = Controller(robot, 'impedance', gains)
    still = np.zeros(robot.nv)
    asked = MotionSample(q + 0.1, still, still)
    got = controller.torque(q, still, asked)
    want = Controller(robot).torque(q) + 4.0 * active(robot)
    assert np.abs(got - want).max() < SOLVED * np.abs(want).max()


@pytest.mark.parametrize('driver', ['without_gravity', 'payload_only'])
def test_a_driver_that_knows_the_mechanism_is_sent_nothing(driver):
    """Its own compensation uses the same motors."""
    robot = mechanism('five_bar')
    q, _ = somewhere(robot)
    assert np.abs(Controller(robot, driver_compensation=driver).torque(q)).max() < 1e-12
    loaded = robot.with_payload('cup', 'tool', 0.5)
    sent = Controller(loaded, driver_compensation='payload_only').torque(q)
    want = Controller(loaded).torque(q) - Controller(robot).torque(q)
    assert np.abs(sent - want).max() < SOLVED
    assert np.abs(sent).max() > 0.1


# What is refused ------------------------------------------------------------------------------

def test_a_singular_configuration_has_no_torque():
    """Driven at the rocker, a four-bar has a dead point where crank and coupler are in line."""
    bundled = MECHANISMS['four_bar']
    loops = mechanism('four_bar').loops
    robot = Robot.from_urdf(bundled.urdf, loops=loops._replace(
        passive=('crank_joint', 'coupler_joint')))
    reach = 0.12 + 0.34  # crank and coupler in line; ground 0.30, rocker 0.28
    at_rocker = np.arccos((0.30 ** 2 + 0.28 ** 2 - reach ** 2) / (2 * 0.30 * 0.28))
    tip = np.array([0.30 - 0.28 * np.cos(at_rocker), 0.28 * np.sin(at_rocker)])
    # angles from upright towards x are negative: the axes are -y; the coupler begins at 0.30, 0.16
    q = np.array([-np.arctan2(*tip), np.arctan2(0.30, 0.16), np.pi / 2 - at_rocker])
    assert np.abs(robot.constraint_rows(q, np.zeros(3)).residual).max() < 1e-9
    with pytest.raises(DynamicsError, match='singular configuration: crank_joint, coupler_joint'):
        Controller(robot).torque(q)
    near = robot.project_configuration(q + [0.2, 0.0, 0.0], fixed=['crank_joint'])
    assert np.isfinite(Controller(robot).torque(near)).all()


def test_measured_states_that_open_the_loops_are_refused():
    """A sensor with the wrong sign must not move the robot."""
    robot = mechanism('five_bar')
    q = np.array(robot.neutral()) + [0.0, 0.2, 0.0, 0.0]
    with pytest.raises(DynamicsError, match='the loops are open by 0.0[0-9]+ m or rad'):
        Controller(robot).torque(q)


def test_a_floating_base_with_loops_has_no_torque():
    """Motors inside the mechanism do not hold it in the world."""
    robot = mechanism('four_bar', base='floating')
    with pytest.raises(DynamicsError, match='floating_base can move while the motors are at rest'):
        Controller(robot).torque(robot.neutral())
