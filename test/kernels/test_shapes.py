"""Test kernels of robots with Stribeck and asymmetric friction: their values are inputs."""

import numpy as np
import pytest
from support import small_robots
from support.agreement_of_paths import both_paths_agree, ready
from support.kernel_calls import kernel_calls
from support.rough_joints import rough

from dynamics_node.kernels.keys import key_of


def calls_with_friction(robot, derivatives):
    """Return calls of all kernels that have friction, of single states and of batches."""
    links, rng = tuple(robot.frame_names[-2:]), np.random.default_rng(1)
    return [call for n in (None, 11) for call in kernel_calls(
        robot, small_robots.specimen(robot, rng, links, n), links[-1], (False,), derivatives)
        if call.key.spec.friction]


@pytest.mark.parametrize('derivatives', [False, True])
def test_kernels_agree_with_numpy(derivatives):
    """Every kernel that has friction."""
    robot = rough(small_robots.arm())
    calls = calls_with_friction(robot, derivatives)
    assert calls and all(call.key.with_friction_terms for call in calls)
    both_paths_agree(robot, calls)


def test_another_value_takes_the_same_kernel():
    """Of every term."""
    robot = rough(small_robots.arm())
    calls = [call for call in calls_with_friction(robot, False)
             if call.key.kernel == 'inverse_dynamics']
    ready(robot, calls)
    other = robot.with_friction(*({robot.joint_names[0]: value}
                                  for value in (0.9, 2.5, 0.3, 0.2, -0.3, 0.2, 0.03)))
    assert other._dispatcher.kernels is robot._dispatcher.kernels
    both_paths_agree(other, calls)


def test_robots_without_further_terms_keep_their_kernels(arm):
    """Nor do the terms of a robot without friction count, or a kernel that has no friction."""
    none = dict.fromkeys(arm.joint_names, 0.0)
    assert not key_of(arm.model, 'inverse_dynamics').with_friction_terms
    assert key_of(rough(arm).model, 'inverse_dynamics').with_friction_terms
    assert not key_of(arm.with_friction(none, none, none).model,
                      'inverse_dynamics').with_friction_terms
    assert key_of(rough(arm).model, 'mass_matrix') == key_of(arm.model, 'mass_matrix')
