"""Test accelerations of several frames of an arm: of equal priority, and of two levels.

Joints alone, no contact and no bound: the whole-body problem is then eq. 3.81 and 3.82.
"""

import numpy as np
import pytest
from support.tolerances import PRIORITY, SOLVED

from dynamics_node.task_space.tasks import AXES, Task

FRAMES = ('tool0', 'link_4')


class Asked:
    """Accelerations of two frames at a random state, along some axes of each."""

    def __init__(self, arm, axes, seed=0):
        rng = np.random.default_rng(seed)
        self.arm, self.axes = arm, axes
        self.q, self.v = arm.random_configuration(rng), rng.normal(size=7)
        which = [AXES.index(axis) for axis in axes]
        self.wanted = rng.normal(size=(2, 6))
        self.J = [arm.jacobian(self.q, frame)[which] for frame in FRAMES]
        drift = [arm.jacobian_rate(self.q, self.v, frame)[which] @ self.v for frame in FRAMES]
        self.b = [wanted[which] - each for wanted, each in zip(self.wanted, drift)]

    def answer(self, levels, weights=(1.0, 1.0)):
        found = self.arm.whole_body(self.q, self.v, [
            Task(frame, 'frame', level, weight, frame, self.axes, acceleration=wanted,
                 stiffness=0.0)
            for frame, level, weight, wanted in zip(FRAMES, levels, weights, self.wanted)],
            bounds=())
        assert found.status == 'solved'
        tau = self.arm.inverse_dynamics(self.q, self.v, found.acceleration)
        np.testing.assert_allclose(found.torque, tau, atol=SOLVED * np.abs(tau).max())
        return found.acceleration


@pytest.mark.parametrize('axes', [('x', 'y', 'z'), ('z', 'rx'), AXES],
                         ids=['as many as can be', 'fewer', 'more'])
@pytest.mark.parametrize('seed', range(5))
def test_tasks_of_equal_priority_are_one_pseudo_inverse(arm, axes, seed):
    """Equation 3.81, of the stack; with weights those of the squares."""
    asked = Asked(arm, axes, seed)
    for weights in ((1.0, 1.0), (9.0, 0.5)):
        root = np.repeat(np.sqrt(weights), len(axes))
        J, b = np.concatenate(asked.J), np.concatenate(asked.b)
        expected = np.linalg.pinv(root[:, None] * J, rcond=1e-9) @ (root * b)
        found = asked.answer((1, 1), weights)
        assert np.abs(found - expected).max() < PRIORITY * np.abs(expected).max()


@pytest.mark.parametrize('axes', [('x', 'y', 'z'), ('z', 'rx'), AXES],
                         ids=['both can be done', 'more is free', 'they contradict each other'])
@pytest.mark.parametrize('seed', range(5))
def test_the_second_level_acts_in_the_null_space_of_the_first(arm, axes, seed):
    """Equation 3.82 by projectors; the J without an index in it is J_i."""
    asked = Asked(arm, axes, seed)
    (J1, J2), (b1, b2) = asked.J, asked.b
    first = np.linalg.pinv(J1) @ b1
    N = np.eye(7) - np.linalg.pinv(J1) @ J1
    expected = first + N @ np.linalg.pinv(J2 @ N, rcond=1e-9) @ (b2 - J2 @ first)
    found = asked.answer((1, 2))
    assert np.abs(J1 @ found - b1).max() < PRIORITY * np.abs(found).max()
    assert np.abs(found - expected).max() < PRIORITY * np.abs(expected).max()
