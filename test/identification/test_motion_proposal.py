"""Test proposed motions: they are recorded, and what was missing is determined and right."""

import numpy as np
import pytest
from support.heavier_arm import other_values
from support.recorded_arm import RATE, THREE_JOINTS
from support.simple_recordings import fourier_motion

from dynamics_node import Robot
from dynamics_node.identification import (
    IdentificationOptions,
    identify_recording,
    join_recordings,
    raw_recording,
)
from dynamics_node.identification.parameters import (
    offset_torque,
    parameter_layout,
    robot_with_parameters,
)

NOISE = 0.05      # [N m]
DURATION = 30.0   # [s]
SIGMAS = 4.0      # of an estimate


@pytest.fixture(scope='module')
def arm(kernels):
    return Robot.from_urdf(THREE_JOINTS)


@pytest.fixture(scope='module')
def truth(arm):
    layout = parameter_layout(arm)
    return other_values(arm, layout, seed=1)


def recorded(robot, values, motion, seed, duration=DURATION, noise=NOISE):
    """Return the RawRecording of a motion, f(time) -> (q, v, a)."""
    layout = parameter_layout(robot)
    time = np.arange(round(duration * RATE)) / RATE
    q, v, a = motion(time)
    tau = (robot_with_parameters(robot, layout, values).inverse_dynamics(q, v, a)
           + offset_torque(layout, values, v))
    return raw_recording(robot.joint_names, time, q,
                         tau + noise * np.random.default_rng(seed).normal(size=tau.shape))


def lazy(sizes, slow=1.0):
    """Return f(time) of a motion with a size of each joint, and times slower."""
    def motion(time):
        q, v, a = fourier_motion(time / slow, len(sizes))
        return q * sizes, v * sizes / slow, a * sizes / slow ** 2
    return motion


def proposed(robot, values, motion, seed, noise=NOISE):
    """Return the RawRecording of a JointMotion, from its numbers."""
    places = {name: k for k, name in enumerate(robot.joint_names)}

    def states(time):
        q, v, a = np.zeros((3, len(time), robot.nv))
        for name, position in motion.pose.items():
            q[:, places[name]] = position
        own, w = places[motion.joint], 2.0 * np.pi / motion.period
        q[:, own] = motion.center + motion.amplitude * np.sin(w * time)
        v[:, own] = w * motion.amplitude * np.cos(w * time)
        a[:, own] = -w * w * motion.amplitude * np.sin(w * time)
        return q, v, a
    return recorded(robot, values, states, seed, motion.duration, noise)


POOR = {'the shoulder hardly moves': lazy([0.05, 1.0, 1.0]),
        'the elbow hardly moves': lazy([1.0, 0.05, 1.0]),
        'all joints are slow': lazy([1.0, 1.0, 1.0], slow=10.0)}


@pytest.mark.parametrize('name', POOR)
def test_the_proposed_motions_determine_what_is_missing(arm, truth, name):
    """And the parameters are right within their uncertainty.

    Cross-validation has a fifth of each recording in every part: one does not predict another.
    """
    first = recorded(arm, truth, POOR[name], 5)
    poor = identify_recording(arm, first)
    missing = {base for base, told in zip(poor.result.base.names,
                                          poor.result.base_spread.determined) if not told}
    proposal = poor.result.proposal
    assert missing and proposal.motions and not proposal.rest
    assert any(str(proposal.motions[0]) in text for text in poor.warnings)
    more = [proposed(arm, truth, motion, 10 + k) for k, motion in enumerate(proposal.motions)]
    other = recorded(arm, truth, lazy([1.0, 1.0, 1.0]), 6)
    found = identify_recording(arm, join_recordings([first, *more]), validation=other).result
    assert found.crossed.factor == 1.0
    told = dict(zip(found.base.names, found.base_spread.determined))
    assert all(told[name] for name in missing), [name for name in missing if not told[name]]
    off = np.abs(found.base_values - found.base.values(truth)) / np.sqrt(
        np.diag(found.base_covariance))
    assert (off[[name in missing for name in found.base.names]] < SIGMAS).all()


def test_without_the_proposed_motions_as_much_data_does_not_tell(arm, truth):
    """More of the same motion does not determine what the proposal does."""
    poor = identify_recording(arm, recorded(arm, truth, POOR['the elbow hardly moves'], 5)).result
    duration = DURATION + sum(motion.duration for motion in poor.proposal.motions)
    longer = identify_recording(arm, recorded(arm, truth, POOR['the elbow hardly moves'], 6,
                                              duration)).result
    assert not longer.base_spread.determined.all()


def test_the_joint_that_hardly_moves_is_to_move_and_a_slow_arm_fast(arm, truth):
    """An elbow that hardly moves must move; a slow arm lacks inertia alone."""
    slow = identify_recording(arm, recorded(arm, truth, POOR['all joints are slow'], 5)).result
    assert all(motion.fast for motion in slow.proposal.motions)
    still = identify_recording(arm, recorded(arm, truth, POOR['the elbow hardly moves'], 5)).result
    assert 'elbow' in {motion.joint for motion in still.proposal.motions}


def test_nothing_is_proposed_if_all_is_determined(arm, truth):
    found = identify_recording(arm, recorded(arm, truth, lazy([1.0, 1.0, 1.0]), 5)).result
    assert found.base_spread.determined.all()
    assert found.proposal == ((), ()) and found.missing_motion == ''


def test_what_limits_forbid_stays_named(kernels, truth):
    """An arm that may turn by 0.05 rad and 0.1 rad/s: its inertia stays unknown, and is named."""
    narrow = Robot.from_urdf(THREE_JOINTS.replace(
        '<limit lower="-2" upper="2" effort="50" velocity="3"/>',
        '<limit lower="-0.05" upper="0.05" effort="50" velocity="0.1"/>'))
    found = identify_recording(narrow, recorded(narrow, truth, lazy([0.05] * 3, slow=10.0), 5)
                               ).result
    assert found.proposal.rest
    assert 'greater accelerations' in found.missing_motion


@pytest.mark.parametrize('noise, weight', [(NOISE, 1.0), (0.0, 1.0), (1e-3, 1e-9), (0.0, 1e-9),
                                           (0.0, 1e-6)])
@pytest.mark.filterwarnings('error::RuntimeWarning')
def test_joints_that_move_in_proportion_need_other_motions(arm, truth, noise, weight):
    """They determine all but what is named, however small the noise or the weight."""
    def together(time):
        return [np.repeat(part, 3, axis=1) for part in fourier_motion(time, 1)]
    options = IdentificationOptions(prior_weight=weight)
    first = recorded(arm, truth, together, 5, noise=noise)
    motions, rest = identify_recording(arm, first, options).result.proposal
    more = [proposed(arm, truth, motion, 10 + k, noise) for k, motion in enumerate(motions)]
    found = identify_recording(arm, join_recordings([first, *more]), options).result
    missing = np.array(found.base.names)[~found.base_spread.determined]
    assert motions and set(missing.tolist()) <= set(rest)
