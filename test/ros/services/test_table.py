"""Test the table of services and the service runner: refusals, internal errors, counts."""

import re

import numpy as np
import pytest
from support.node_states import ask, node_state_of, refused, scene
from support.paths import ROOT
from support.tiny_robots import EVERY_KIND, NOTHING_MOVES, TWO_JOINTS

from dynamics_node import DynamicsError


@pytest.fixture
def log():
    return []


@pytest.fixture
def runner(log):
    """An active one, whose log is `log`."""
    from dynamics_node.ros.services.table import ServiceRunner
    runner = ServiceRunner(node_state_of(TWO_JOINTS), log.append)
    runner.active = True
    return runner


def reply_of(runner, handler):
    from dynamics_node.srv import InverseDynamics
    return runner.callback(handler)(InverseDynamics.Request(), InverseDynamics.Response())


def test_every_service_of_srv_is_served_under_its_name():
    """InverseDynamics.srv is inverse_dynamics, served by the function of that name."""
    from dynamics_node.ros.services.table import SERVICES
    assert sorted(path.stem for path in (ROOT / 'srv').glob('*.srv')) == sorted(
        kind.__name__ for kind, _ in SERVICES.values())
    for name, (kind, handler) in SERVICES.items():
        assert re.sub(r'(?<!^)([A-Z])', r'_\1', kind.__name__).lower() == name == handler.__name__


def test_an_inactive_node_refuses_and_says_how_to_activate_it(runner, log):
    """The handler is not called."""
    runner.active = False
    reply = reply_of(runner, lambda *_: pytest.fail('was asked'))
    assert (reply.success, reply.message) == (
        False, 'the node is inactive: ros2 lifecycle set <node> activate')
    assert log == []


def half_filled(error):
    def handler(node_state, request, response):
        response.success, response.effort, response.model_id = True, [1.0, 2.0], 'abc'
        response.joint_names = ['shoulder', 'elbow']
        raise error
    return handler


def test_a_refusal_contains_nothing_but_the_reason(runner, log):
    """Fields filled so far are cleared; it is no error of ours, so nothing is logged."""
    reply = reply_of(runner, half_filled(DynamicsError('because')))
    assert reply == type(reply)(success=False, message='because')
    assert log == []


@pytest.mark.parametrize('error', [ZeroDivisionError('oh'), ValueError('oh'), MemoryError('oh'),
                                   np.linalg.LinAlgError('oh'), AssertionError('oh')])
def test_an_internal_error_is_replied_and_logged_with_its_place(runner, log, error):
    """The node goes on."""
    reply = reply_of(runner, half_filled(error))
    message = f'internal error: {error!r}; see the log of the node'
    assert reply == type(reply)(success=False, message=message)
    (entry,) = log
    assert 'handler failed, please report this' in entry
    assert 'raise error' in entry
    assert reply_of(runner, lambda node_state, request, response: response) is not None


def test_replies_and_refusals_are_counted(runner):
    """For the diagnostics."""
    reply_of(runner, lambda node_state, request, response: response)
    reply_of(runner, half_filled(DynamicsError('because')))
    reply_of(runner, half_filled(KeyError('oh')))
    assert (runner.answered, runner.refused) == (1, 2)


# The report and the self-test ----------------------------------------------------------------

def test_the_report_describes_the_robot_and_its_measured_state():
    """Limits, frames, gravity, what was never measured."""
    node_state = node_state_of(EVERY_KIND, gravity=(1.0, 2.0, 3.0))
    node_state.measured_state.take(1, ['elbow'], [0.1])
    reply = ask(node_state, 'model_report')
    assert reply.joint_names == ['lift', 'turn', 'drift', 'elbow']
    assert reply.joint_types == ['prismatic', 'continuous', 'planar', 'revolute']
    assert reply.never_measured == ['lift', 'turn', 'drift']
    assert (reply.lower_position[3], reply.upper_position[3]) == (-2.0, 2.0)
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
