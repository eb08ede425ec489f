"""Test mode task_space on a simulated Panda: predicted convergence and compliance."""

import re
from importlib import metadata

import numpy as np
import pytest
import scipy.linalg

from dynamics_node import Robot
from dynamics_node.control.blended_pose_spline import TaskMotionSample
from dynamics_node.control.controller import Controller
from dynamics_node.control.gains import TaskGains
from dynamics_node.control.pose_coordinates import PoseMotion, pose_error, stepped
from dynamics_node.control.task_reference import task_reference
from dynamics_node.kernels.keys import key_of
from dynamics_node.model.urdf_text import urdf_text
from dynamics_node.spatial import so3

FRAME = 'panda_link8'
READY = np.array([0.0, -0.6, 0.2, -2.2, 0.1, 1.7, 0.7])
ASKED = [('forward_dynamics',), ('bias_torque',), ('gravity_torque',), ('mass_matrix_inverse',),
         ('mass_matrix',),
         ('frame_pose', (FRAME,)), ('jacobian', (FRAME, False)), ('jacobian_rate', (FRAME, False))]
INTEGRATED = 1e-5   # [m, rad] RK4 in steps of 5 ms, over errors of 0.1
SETTLED = 1e-6      # [m, rad] what RK4 leaves of a frame that shall not move
NEARLY_LINEAR = 2e-6   # [m, rad] of errors of 1e-3, whose inertia changes on the way


@pytest.fixture(scope='module')
def panda(tmp_path_factory):
    """The Panda without friction, fingers locked; compiled for thousands of steps.

    Its joints may be as fast as they like: the laws are exact.
    """
    data = metadata.distribution('example-robot-data')
    path = next(data.locate_file(file) for file in data.files
                if str(file).endswith('robots/panda_description/urdf/panda.urdf'))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('DYNAMICS_NODE_COMPILE', '1')
        patch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path_factory.mktemp('kernels')))
        text = re.sub('velocity="[^"]*"', 'velocity="0"', urdf_text(path))
        robot = Robot.from_urdf(text, friction=False, locked={
            'panda_finger_joint1': 0.0, 'panda_finger_joint2': 0.0})
        robot._dispatcher.compile([key_of(robot.model, *asked) for asked in ASKED], wait=True)
        yield robot


def to(robot, q, x, **given):
    """Return the TaskMotionSample that rests x away from where the frame is at q."""
    pose = stepped(robot.frame_pose(q, FRAME), np.asarray(x, dtype=float))
    reference = task_reference(robot, q, FRAME, pose[:3, 3], so3.to_quaternion(pose[:3, :3]),
                               **given)
    return TaskMotionSample(reference, PoseMotion.still(pose), q)


def run(robot, controller, motion, state, duration, external=None, h=5e-3):
    """Return (states, torques) of every step, by RK4; external is a wrench on the frame."""
    def rate(y):
        tau = controller.torque(*y, motion)
        if external is not None:
            tau = tau + robot.jacobian(y[0], FRAME).T @ external
        return np.array([y[1], robot.forward_dynamics(*y, tau)])
    y, states = np.array(state), []
    for _ in range(round(duration / h)):
        states.append(y)
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))
    states = [*states, y]
    return states, np.array([controller.torque(*each, motion) for each in states])


def error(robot, state, motion):
    return pose_error(robot.frame_pose(state[0], FRAME), motion.pose_motion.pose)


@pytest.mark.parametrize('D', [0.5, 1.0])
def test_the_error_decays_by_the_gains(panda, D):
    """By  e'' + 2 D w e' + w^2 e = 0,  solved by hand: along each axis, and about one at a time."""
    w, t = 6.0, 1.0
    controller = Controller(panda, 'task_space', TaskGains.of(7, 'motion', [w * w], D))
    swing = np.sqrt(1 - D * D) * w
    shape = (np.cos(swing * t) + D * w / swing * np.sin(swing * t)) if D < 1 else 1 + w * t
    e = np.array([0.08, -0.05, 0.06, 0.0, 0.3, 0.0])
    motion = to(panda, READY, e)
    states, _ = run(panda, controller, motion, (READY, np.zeros(7)), t)
    np.testing.assert_allclose(error(panda, states[-1], motion), e * np.exp(-D * w * t) * shape,
                               atol=INTEGRATED)


def test_the_frame_yields_to_a_wrench_by_its_stiffness(panda):
    """At rest  e = -K^-1 F:  in any axes, for any inertia."""
    stiffness = np.array([400.0, 250.0, 300.0, 30.0, 20.0, 25.0])
    axes = so3.quaternion_exp(np.array([0.4, -0.3, 0.8]))
    motion = to(panda, READY, np.zeros(6), axes=axes, stiffness=stiffness)
    controller = Controller(panda, 'task_space', TaskGains.of(7, kp=25.0, kd=10.0))
    external = np.array([10.0, -5.0, 8.0, 0.5, 1.0, -0.4])
    states, _ = run(panda, controller, motion, (READY, np.zeros(7)), 3.0, external)
    X = motion.reference.selection.rotation
    wanted = -X @ ((X.T @ external) / stiffness)
    assert np.abs(states[-1][1]).max() < 1e-4
    np.testing.assert_allclose(error(panda, states[-1], motion), wanted, atol=1e-4)


def test_impedance_is_critically_damped_in_every_mode_of_the_arm(panda):
    """Small errors die out by  (1 + w t) exp(-w t)  each, w^2 of  K u = w^2 Lambda u  by SciPy."""
    t, e = 0.15, 1e-3 * np.array([0.3, 0.2, -0.3, 0.5, 1.0, 0.5])
    motion = to(panda, READY, e)
    controller = Controller(panda, 'task_space', TaskGains.of(7, stiffness=(500.0, 30.0)))
    states, _ = run(panda, controller, motion, (READY, np.zeros(7)), t)
    K = np.diag(np.repeat([500.0, 30.0], 3))
    w2, U = scipy.linalg.eigh(K, panda.operational_space(READY, np.zeros(7), FRAME).inertia)
    w = np.sqrt(w2)
    wanted = U @ ((1 + w * t) * np.exp(-w * t) * np.linalg.solve(U, e))
    assert np.abs(wanted).max() > 1e-4
    np.testing.assert_allclose(error(panda, states[-1], motion), wanted, atol=NEARLY_LINEAR)


def test_the_joints_approach_the_posture_in_the_null_space(panda):
    """The frame does not move."""
    motion = to(panda, READY, np.zeros(6))
    away = motion._replace(posture=READY + np.array([0.4, 0, -0.4, 0, 0, 0, 0]))
    controller = Controller(panda, 'task_space', TaskGains.of(7, kp=20.0, kd=8.0))
    states, _ = run(panda, controller, away, (READY, np.zeros(7)), 2.0)
    assert np.abs([error(panda, state, motion) for state in states]).max() < SETTLED
    assert np.linalg.norm(states[-1][0] - away.posture) < 0.8 * np.linalg.norm(READY - away.posture)


@pytest.mark.parametrize('law, stiffness', [('impedance', (400.0, 30.0)), ('motion', [100.0])])
def test_torques_stay_within_limits_through_a_stretched_arm(panda, law, stiffness):
    """Moved from bent to 0.15 m beyond its reach and back.

    As springs it is gentle all the way; inertia shaping is steeper, which the gate then limits.
    """
    bent = np.array([0.0, 0.2, 0.0, -0.6, 0.0, 0.8, 0.0])
    controller = Controller(panda, 'task_space', TaskGains.of(7, law, stiffness, kd=4.0))
    still, h, state, torques, least = to(panda, bent, np.zeros(6)), 4e-3, (bent, np.zeros(7)), [], 1
    for k in range(750):
        lift = 0.4 * np.sin(np.pi * k / 750) ** 2   # [m]
        moving = PoseMotion.still(stepped(still.pose_motion.pose, np.array([0, 0, lift, 0, 0, 0])))
        states, taus = run(panda, controller, still._replace(pose_motion=moving), state, h, h=h)
        state = states[-1]
        torques.append(taus[0])
        if k % 10 == 0:
            least = min(least, panda.operational_space(*state, FRAME).singular_values[-1])
    assert least < 0.05                            # it was there
    assert np.abs(torques).max() < 87.0            # [N m] Panda's greatest
    if law == 'impedance':
        assert np.abs(np.diff(torques, axis=0)).max() / h < 1000.0   # [N m/s] libfranka's limit
