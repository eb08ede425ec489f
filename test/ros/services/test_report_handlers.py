"""Test the handlers of model_report and self_test."""


import numpy as np
import pytest
from support.node_states import ask, node_state_of, refused, scene
from support.tiny_robots import EVERY_KIND, NOTHING_MOVES, TWO_JOINTS


def test_the_report_describes_the_robot_and_its_measured_state():
    """Limits, frames, gravity, what was never measured."""
    node_state = node_state_of(EVERY_KIND, gravity=(1.0, 2.0, 3.0))
    node_state.measured_state.take(1, ['elbow'], [0.1])
    reply = ask(node_state, 'model_report')
    assert reply.joint_names == ['lift', 'turn', 'drift', 'elbow']
    assert reply.joint_types == ['prismatic', 'continuous', 'planar', 'revolute']
    assert reply.never_measured == ['lift', 'turn', 'drift']
    # those of its follower: -2 <= -2 q + 0.1 <= 2
    assert (reply.lower_position[3], reply.upper_position[3]) == (-0.95, 1.05)
    assert (reply.lower_position[1], reply.upper_position[1]) == (-np.inf, np.inf)
    assert (reply.max_velocity[0], reply.max_effort[0]) == (3.0, 50.0)
    assert [reply.gravity.x, reply.gravity.y, reply.gravity.z] == [1.0, 2.0, 3.0]
    assert reply.total_mass == node_state.robot.total_mass
    assert reply.model_id == node_state.current_robot.model_id
    assert tuple(reply.frame_names) == node_state.robot.frame_names
    assert reply.compiled is False


@pytest.mark.parametrize('text', [TWO_JOINTS, EVERY_KIND, NOTHING_MOVES])
def test_the_self_test_passes_on_a_good_robot(text):
    """Each check has a residual and a tolerance; the same seed gives the same ones."""
    node_state = node_state_of(text)
    reply = ask(node_state, 'self_test', samples=2)
    assert reply.passed, reply.report
    assert len(reply.checks) == len(reply.residuals) == len(reply.tolerances) > 0
    assert reply.model_id == node_state.current_robot.model_id
    again = ask(node_state, 'self_test', samples=2)
    assert np.array_equal(again.residuals, reply.residuals, equal_nan=True)


def test_other_seeds_and_sample_numbers_give_other_states():
    """Zero samples mean ten."""
    s = scene(TWO_JOINTS)

    def residuals(**fields):
        return ask(s.node_state, 'self_test', **fields).residuals.tolist()[:3]
    assert residuals() == residuals(samples=10) != residuals(samples=3)
    assert residuals(seed=1) != residuals(seed=2)


def test_too_many_samples_are_refused():
    """They would delay all other requests."""
    assert '1000' in refused(scene(TWO_JOINTS).node_state, 'self_test', samples=1001)
