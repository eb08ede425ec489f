"""Test the service runner: refusals, internal errors, counts."""


import numpy as np
import pytest
from support.node_states import node_state_of
from support.tiny_robots import TWO_JOINTS

from dynamics_node import DynamicsError


@pytest.fixture
def log():
    return []


@pytest.fixture
def runner(log):
    """An active one, whose log is `log`."""
    from dynamics_node.ros.services.runner import ServiceRunner
    runner = ServiceRunner(node_state_of(TWO_JOINTS), log.append)
    runner.active = True
    return runner


def reply_of(runner, handler):
    from dynamics_node.srv import InverseDynamics
    return runner.callback(handler)(InverseDynamics.Request(), InverseDynamics.Response())


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
    """Fields filled so far are cleared; it is not an error of ours, so nothing is logged."""
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
    assert (runner.served, runner.refused) == (1, 2)


def test_a_deferred_reply_is_counted_when_it_ends(runner):
    """Once: as served, or as refused."""
    from dynamics_node.ros.deferred_reply import DeferredReply
    from dynamics_node.ros.identification.worker_process import WorkerMessage

    def handler(node_state, request, response):
        return DeferredReply(response, None, lambda reply: reply)
    deferred = reply_of(runner, handler)
    assert (runner.served, runner.refused) == (0, 0)
    assert runner.finish(deferred, WorkerMessage('done', (deferred.response,))) is not None
    assert (runner.served, runner.refused) == (1, 0)
    assert runner.finish(deferred, WorkerMessage('refused', ('because',))).message == 'because'
    assert (runner.served, runner.refused) == (1, 1)
