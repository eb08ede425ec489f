"""Test the identification of robots with loops from their motor torques alone."""

import functools

import numpy as np
import pytest
from support.moving_mechanisms import mechanism, moved, other_mechanism, raw, recorded, torques

from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.identification.identifiable_parameters import base_parameters
from dynamics_node.identification.linear_fit import METHODS, linear_fit
from dynamics_node.identification.loop_recording import complete_recording
from dynamics_node.identification.parameters import (
    offset_torque,
    parameter_layout,
    parameter_values,
    robot_with_parameters,
)
from dynamics_node.identification.pseudo_inertia import is_consistent
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.recording_fit import identify_recording
from dynamics_node.identification.robot_fit import IdentificationOptions, identify

EXACT = 1e-8      # of the largest base parameter: rounding, times condition numbers up to 3e5
NOISE = 0.02      # [N m]
SAMPLES = {'stewart': 1100, 'five_bar': 1500}   # for 136 base parameters; for noise
FEW = 300         # samples of exact data


pytestmark = [pytest.mark.long, pytest.mark.usefixtures('kernels')]


@pytest.fixture(scope='module')
def five_bar(kernels):
    """(robot, layout, true parameters, a motion, its torques)."""
    return looped('five_bar')


@functools.cache
def looped(name, passive=None):
    """Return (robot, layout, true parameters, a motion, its torques)."""
    robot = mechanism(name, passive)
    layout, truth = other_mechanism(robot)
    motion = moved(name, robot, SAMPLES.get(name, FEW) if passive is None else FEW, 3)
    return robot, layout, truth, motion, torques(robot, layout, truth, motion)


def worst(found, truth):
    """Return the greatest error of a base parameter, beside the greatest of them."""
    true = found.base.values(truth)
    return np.abs(found.base_values - true).max() / np.abs(true).max()


@pytest.mark.parametrize('name', MECHANISMS)
def test_exact_data_give_exact_base_parameters(name):
    """So are the torques of another motion, at motors alone."""
    robot, _, truth, motion, tau = looped(name)
    recording = recorded(robot, motion, tau)
    found = identify(robot, recording)
    true, start = found.base.values(truth), found.base.values(found.before)
    whole = complete_recording(robot, recording).recording
    alone = linear_fit(robot, found.base, whole, start).values
    assert np.abs(alone - true).max() < EXACT * np.abs(true).max()
    assert worst(found, truth) < 10.0 * EXACT   # the prior pulls a little
    assert found.residuals.gain > 1e6
    assert found.rows == motion.names
    other = moved(name, robot, 40, 77)
    want = torques(robot, found.layout, truth, other)
    got = found.predict(other.q, other.v, other.a)
    assert np.abs(got - want).max() < 1e-5 * np.abs(want).max()
    assert all(is_consistent(found.values[found.layout.of_body(i)])
               for i in range(len(found.layout.bodies)))


def test_exact_data_of_the_urdf_keep_its_masses():
    """Of the five-bar."""
    robot = mechanism('five_bar')
    layout = parameter_layout(robot)
    motion = moved('five_bar', robot, 600, 3)
    tau = torques(robot, layout, parameter_values(robot, layout), motion)
    found = identify_recording(robot, raw(robot, motion, tau)).result
    assert found.values[:40:10] == pytest.approx(found.before[:40:10], rel=2e-3)
    assert found.residuals.validation_after.max() < 1e-5


@pytest.mark.parametrize('method', METHODS)
def test_noise_is_estimated_and_standard_deviations_hold(five_bar, method):
    """Each row has its own noise; errors fit the deviations; unseen torques are predicted."""
    robot, layout, truth, motion, tau = five_bar
    noise = np.where(np.arange(4) == 0, NOISE, 3.0 * NOISE)
    found = identify(robot, recorded(robot, motion, tau, noise), IdentificationOptions(method))
    assert found.noise.sigma == pytest.approx([NOISE, 3.0 * NOISE], rel=0.15)
    z = (found.base_values - found.base.values(truth)) / found.base_spread.sigma
    assert 0.3 < np.sqrt(np.mean(z ** 2)) < 1.5
    assert np.abs(z).max() < 4.0
    other = moved('five_bar', robot, 300, 78)
    want = torques(robot, layout, truth, other)
    left = found.predict(other.q, other.v, other.a) - want
    assert np.sqrt(np.mean(left ** 2)) < 0.3 * NOISE


def test_standard_deviations_hold_over_many_recordings(five_bar):
    """Z over fifteen of them, 315 numbers: the data alone, without the prior."""
    robot, layout, truth, motion, tau = five_bar
    z = []
    for seed in range(15):
        found = identify(robot, recorded(robot, motion, tau, NOISE, seed),
                         IdentificationOptions(prior_weight=1e-6))
        z.append((found.base_values - found.base.values(truth)) / found.base_spread.sigma)
    z = np.array(z)
    assert np.sqrt(np.mean(z ** 2)) < 1.15
    assert np.mean(np.abs(z) < 2.0) > 0.9


@pytest.mark.parametrize('names', [
    ('left_shoulder', 'right_shoulder'), ('left_shoulder', 'left_elbow', 'right_shoulder'), None])
def test_passive_joints_need_neither_effort_nor_position(five_bar, names):
    """A driver's recording with noise, of motors, of some, of all joints."""
    robot, _, truth, motion, tau = five_bar
    tau = np.where(np.arange(4) % 2, np.nan, tau)   # no effort at the elbows
    done = identify_recording(robot, raw(robot, motion, tau, names, (1e-5, NOISE)))
    found = done.result
    z = (found.base_values - found.base.values(truth)) / found.base_spread.sigma
    assert np.abs(z).max() < 4.0
    assert found.residuals.gain > 3.0
    assert not any('loops' in text for text in done.warnings)


def test_a_stewart_platform_is_identified_by_its_six_motors():
    """Neither the platform nor the passive joints of the legs are measured."""
    robot, _, truth, motion, tau = looped('stewart')
    found = identify_recording(robot, raw(robot, motion, tau, motion.names, (0.0, 0.1))).result
    assert len(found.rows) == 6
    assert found.residuals.validation_after.max() < 0.15
    assert found.residuals.gain > 3.0
    z = (found.base_values - found.base.values(truth)) / found.base_spread.sigma
    assert np.abs(z).max() < 4.0


@pytest.mark.parametrize('passive, spare', [(('left_elbow',), 1), ((), 2)])
def test_redundant_motors_identify_sums_alone(passive, spare):
    """Internal motor torques, at random, change nothing; and it is reported."""
    robot, _, truth, motion, tau = looped('five_bar', passive)
    tau = tau.copy()
    A = robot.constraint_rows(motion.q, motion.v).A
    free = [k for k, name in enumerate(robot.joint_names) if name not in passive]
    rng = np.random.default_rng(5)
    for k, rows in enumerate(A):   # forces in the loop that passive joints do not feel
        none = np.linalg.svd(rows[:, [j for j in range(4) if j not in free]].T)[2][len(passive):]
        tau[k] += rows.T @ (none.T @ rng.normal(size=len(none)))
    found = identify(robot, recorded(robot, motion, tau))
    assert worst(found, truth) < EXACT
    assert found.loops.spare == spare
    assert f'{spare} more motors than degrees of freedom' in str(found.loops)


def test_with_fewer_motors_than_freedoms_a_measured_joint_gives_the_rest():
    """One shoulder drives a five-bar, the other swings: its torque is known to be zero."""
    robot = mechanism('five_bar', ('left_elbow', 'right_elbow', 'right_shoulder'))
    layout, truth = other_mechanism(robot)
    loops = LoopMotion(robot)
    q, v, a, *_ = loops.random_states(np.random.default_rng(1), 700)
    found = robot_with_parameters(robot, layout, truth).constrained_hybrid_dynamics(
        q, v, a, np.zeros_like(v), robot.joint_names.index('left_shoulder') == np.arange(4))
    tau = found.tau + np.where(loops.active, offset_torque(layout, truth, v), 0.0)
    assert not tau[:, 1:].any()
    found = identify(robot, Recording(robot.joint_names, 0.01 * np.arange(700), q, v, found.a, tau))
    assert found.rows[0] == 'left_shoulder'
    assert len(found.rows) == 2
    assert worst(found, truth) < EXACT


def test_parameters_that_the_loops_hide_are_reported(five_bar):
    """By name: the platform of a delta robot never turns."""
    robot, _, _, motion, tau = looped('delta')
    found = identify(robot, recorded(robot, motion, tau))
    assert 'platform.Izz' in found.loops.hidden
    assert 'platform.m' not in found.loops.hidden
    assert '3 equations per sample, of shoulder_1, shoulder_2, shoulder_3' in str(found.loops)
    robot, _, _, motion, tau = five_bar
    found = identify(robot, recorded(robot, motion, tau))
    assert 'left_fore.mcx' in found.loops.merged
    assert not found.loops.hidden
    assert found.loops.passive == ('left_elbow', 'right_elbow')


def test_known_payloads_and_passive_armatures_are_subtracted(five_bar):
    """They stay on the robot, and the same parameters are found."""
    motion = moved('five_bar', five_bar[0], FEW, 3)
    robot = mechanism('five_bar', armature={'left_elbow': 0.01}).with_payload(
        'tool', 'tool', 0.5, (0.0, 0.0, -0.05), 1e-3 * np.eye(3))
    layout, truth = other_mechanism(robot)
    truth[layout.names.index('left_elbow.armature')] = 0.01
    found = identify(robot, recorded(robot, motion, torques(robot, layout, truth, motion)))
    assert worst(found, truth) < EXACT
    assert found.robot.payloads == robot.payloads
    assert found.robot.model.armature[1] == 0.01


def test_a_passive_joint_of_a_tree_has_no_torque(fast_arm):
    """Equations of all joints; its own has zero on the right side, whatever was measured."""
    robot = fast_arm.with_loops({'constraints': [], 'passive': ['joint_7']})
    layout = parameter_layout(robot)
    base = base_parameters(robot, layout)
    assert base.depends.shape[0] == 7
    assert 'joint_7.offset' not in np.array(layout.names)[base.kept]
    truth = parameter_values(robot, layout)
    truth[layout.each('viscous')] = 0.1
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, 600, 7))
    # the last acceleration is what the others leave: no torque moves that joint
    arm = robot.with_friction(damping=dict.fromkeys(robot.joint_names, 0.1))
    given = np.arange(7) < 6
    a, tau = arm.hybrid_dynamics(q, v, a, np.zeros_like(a), given)
    tau = tau + offset_torque(layout, truth, v)
    tau[:, 6] = 99.0 * rng.normal(size=600)
    found = identify(robot, Recording(robot.joint_names, 0.01 * np.arange(600), q, v, a, tau))
    assert worst(found, truth) < EXACT
