"""Test each law on a simulated arm: errors decay by the gains, model-based laws beat springs."""

from typing import NamedTuple

import numpy as np
import pytest

from dynamics_node import Robot
from dynamics_node.control.controller import Controller
from dynamics_node.control.gains import Gains
from dynamics_node.control.reference import Reference
from dynamics_node.control.reference_limits import ReferenceLimits
from dynamics_node.control.spline import MotionSample

pytestmark = pytest.mark.usefixtures('kernels')   # thousands of steps
PERIOD = 1e-3  # [s] of the loop
INTEGRATED = 1e-6  # RK4 over a second in steps of 5 ms
FREQUENCY = 20.0  # [rad/s]


def urdf(damping, friction):
    """Return three joints about x, y, y, with a load at the end of the last link."""
    links, parent = [], 'base'
    for k, (axis, length) in enumerate([('1 0 0', 0.2), ('0 1 0', 0.4), ('0 1 0', 0.3)]):
        links.append(f"""<link name="l{k}"><inertial><origin xyz="{length / 2} 0 0"/>
            <mass value="2"/><inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/>
            </inertial></link><joint name="j{k}" type="revolute"><parent link="{parent}"/>
            <child link="l{k}"/><origin xyz="{0.4 * (k == 2)} 0 0.1"/><axis xyz="{axis}"/>
            <limit lower="-3" upper="3" effort="99" velocity="9"/>
            <dynamics damping="{damping}" friction="{friction}"/></joint>""")
        parent = f'l{k}'
    return f'<robot name="arm"><link name="base"/>{"".join(links)}</robot>'


def arm(damping=0.0, friction=0.0):
    """Return the robot; its dry friction is spread over 0.1 rad/s, which RK4 can follow."""
    return Robot.from_urdf(urdf(damping, friction), friction_speed=0.1).compile(
        wait=True, payloads=True)


class State(NamedTuple):
    q: np.ndarray
    v: np.ndarray


def step(robot, state, torque, h=PERIOD):
    """Return the state after h by RK4; torque(state) is evaluated at each stage."""
    def rate(state):
        return np.array([state.v, robot.forward_dynamics(*state, torque(state))])
    y = np.array(state)
    k1 = rate(state)
    k2 = rate(State(*(y + h / 2 * k1)))
    k3 = rate(State(*(y + h / 2 * k2)))
    k4 = rate(State(*(y + h * k3)))
    return State(*(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)))


def tracked(robot, controller, reference, duration, state):
    """Return the errors of a loop that holds each torque for a period, (T, n)."""
    errors = []
    for now in PERIOD * np.arange(round(duration / PERIOD)):
        motion = reference.at(float(now))
        tau = controller.torque(*state, motion)
        errors.append(motion.q - state.q)
        state = step(robot, state, lambda _, tau=tau: tau)
    return np.array(errors)


def rms(errors):
    return np.sqrt((errors ** 2).mean())


@pytest.mark.parametrize('D', [0.5, 1.0])
def test_the_error_decays_by_the_gains(D):
    """By  e'' + 2 D w e' + w^2 e = 0,  solved by hand, while the arm swings about."""
    robot, w = arm(), 5.0
    controller = Controller(robot, 'computed_torque', Gains.from_frequency(3, w, D))
    e0 = np.array([0.2, -0.3, 0.1])
    state = State(-e0, np.zeros(3))
    still = MotionSample(*np.zeros((3, 3)))
    for _ in range(200):
        state = step(robot, state, lambda state: controller.torque(*state, still), 5e-3)
    t = 1.0
    swing = np.sqrt(1 - D * D) * w
    shape = (np.cos(swing * t) + D * w / swing * np.sin(swing * t)) if D < 1 else 1 + w * t
    np.testing.assert_allclose(-state.q, e0 * np.exp(-D * w * t) * shape, atol=INTEGRATED)


def test_gravity_mode_holds_the_arm_and_lets_it_be_moved():
    """From rest it stays; with a velocity it keeps its kinetic energy."""
    robot = arm()
    controller = Controller(robot)
    rest = moving = State(np.array([0.3, 0.5, -0.7]), np.zeros(3))
    moving = moving._replace(v=np.array([0.5, -0.3, 0.4]))
    energy = robot.kinetic_energy(*moving)
    for _ in range(100):
        rest, moving = (step(robot, state, lambda state: controller.torque(state.q), 5e-3)
                        for state in (rest, moving))
    np.testing.assert_allclose(rest.q, [0.3, 0.5, -0.7], atol=1e-12)
    assert robot.kinetic_energy(*moving) == pytest.approx(energy, rel=INTEGRATED)


@pytest.fixture(scope='module')
def wave():
    """A fast trajectory from rest to rest."""
    robot = arm()
    times = np.linspace(0.0, 1.0, 9)
    positions = np.outer(1 - np.cos(2 * np.pi * times), [0.3, -0.4, 0.5])
    return Reference.hold(np.zeros(3), 0.0, ReferenceLimits.of(robot)).replaced_by(
        times, positions, start=0.0, now=0.0)


@pytest.mark.parametrize('damping, friction', [(0.0, 0.0), (0.3, 0.5)])
def test_computed_torque_tracks_twenty_times_better_than_the_same_pd_alone(
        wave, damping, friction):
    """On a fast trajectory, in a sampled loop; also with losses in the joints.

    The same PD: gains times the inertia that each joint meets at the start.
    """
    robot = arm(damping, friction)
    gains = Gains.from_frequency(3, FREQUENCY)
    inertia = np.diag(robot.mass_matrix(np.zeros(3)))
    springs = Gains.per_joint(3, gains.kp * inertia, gains.kd * inertia)
    start = State(np.zeros(3), np.zeros(3))
    alone = rms(tracked(robot, Controller(robot, 'impedance', springs, gravity_scale=0.0,
                                          friction_scale=0.0), wave, 1.0, start))
    held_up = rms(tracked(robot, Controller(robot, 'impedance', springs), wave, 1.0, start))
    model = rms(tracked(robot, Controller(robot, 'computed_torque', gains), wave, 1.0, start))
    assert model < alone / 20 and model < held_up / 20 and held_up < alone


def test_a_known_payload_reduces_the_error_tenfold(wave):
    """The same law, with and without it in the model."""
    robot = arm()
    loaded = robot.with_payload('box', 'l2', 1.0, (0.3, 0, 0))
    gains = Gains.from_frequency(3, FREQUENCY)
    start = State(np.zeros(3), np.zeros(3))
    unknown, known = (rms(tracked(loaded, Controller(model, 'computed_torque', gains), wave, 1.0,
                                  start)) for model in (robot, loaded))
    assert known < unknown / 10
