"""Test the check of the fixed step: the limit is where the integration becomes wrong."""

import numpy as np
import pytest
from support.small_robots import arm

from dynamics_node import DynamicsError
from dynamics_node.simulation.friction_stiffness import check_friction


@pytest.fixture
def rubbing():
    """One joint with dry friction of 0.2 N m."""
    return arm(damping=0.0, gravity=(0, 0, 0), friction_speed=1e-3, locked={'lower_joint': 0.0})


def rate_of(robot):
    """Return the slope of friction at rest over the inertia."""
    return 0.2 / 1e-3 / robot.mass_matrix(robot.neutral())[0, 0]


def test_the_limit_is_the_reciprocal_of_the_rate(rubbing):
    inverse, limit = rubbing.mass_matrix_inverse(rubbing.neutral()), 1.0 / rate_of(rubbing)
    check_friction(rubbing.model, inverse, 0.999 * limit)
    with pytest.raises(DynamicsError, match="^step is .* joint 'upper_joint'.*use that, a greater"):
        check_friction(rubbing.model, inverse, 1.001 * limit)


def test_only_a_method_that_the_function_has_is_proposed(rubbing):
    state, limit = (rubbing.neutral(), [0.0]), 1.0 / rate_of(rubbing)
    with pytest.raises(DynamicsError, match="use that, method 'radau', a greater"):
        rubbing.simulate(*state, [0.0], [0.0, 1.0], step=1.001 * limit)
    with pytest.raises(DynamicsError, match='use that, a greater'):
        rubbing.rollouts(*state, [[0.0]], 1.001 * limit)


def test_the_worst_state_of_a_batch_counts(rubbing):
    inverse, limit = rubbing.mass_matrix_inverse(rubbing.neutral()), 1.0 / rate_of(rubbing)
    with pytest.raises(DynamicsError, match='^step'):
        check_friction(rubbing.model, np.stack([0.1 * inverse, inverse]), 1.001 * limit)
    check_friction(rubbing.model, inverse[None][:0], 1.0)


def test_steps_at_the_limit_stop_a_joint(rubbing):
    """From a thousandth of the speed of friction and from far above it, as SciPy does."""
    limit = 0.99 / rate_of(rubbing)
    for v in (1e-6, 0.05):
        fixed, adaptive = (rubbing.simulate([0.0], [v], [0.0], [0.0, 1.0], **settings)
                           for settings in ({'step': limit}, {'method': 'radau'}))
        np.testing.assert_allclose(fixed.q[-1], adaptive.q[-1], rtol=1e-2, atol=1e-8)
        assert abs(fixed.v[-1, 0]) < 1e-6 * v + 1e-8
