"""Test that joint states wake the node only while they are needed at once."""

from types import SimpleNamespace

import pytest

from dynamics_node.ros.state.joint_state_subscription import JointStateSubscription


class Handle:
    """The middleware's side of a subscription, with nothing in its queue."""

    reads = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def take_message(self, kind, raw):
        self.reads += 1


class Node:
    """The parts of a node that the subscription uses."""

    def __init__(self):
        self.wakes, self.handle = 0, Handle()
        self.executor = SimpleNamespace(wake=self._wake)

    def create_subscription(self, kind, topic, *rest, **options):
        return SimpleNamespace(kind=kind, handle=self.handle, topic_name='/joint_states')

    def destroy_subscription(self, subscription):
        pass

    def _wake(self):
        self.wakes += 1


@pytest.fixture
def joint_states():
    return JointStateSubscription(Node(), clock=None, on_joint_state=None)


def test_an_idle_subscription_is_read_on_demand(joint_states):
    """The executor does not wait for it."""
    assert joint_states.asleep is joint_states._subscription
    assert list(joint_states.waiting()) == []
    assert joint_states.asleep.handle.reads == 1


def test_an_active_subscription_is_waited_for(joint_states):
    """The executor is notified once, and once more when no user is left."""
    node = joint_states._node
    for _ in range(2):
        joint_states.set_awake('torque', True)
    joint_states.set_awake('observer', True)
    assert joint_states.asleep is None
    assert node.wakes == 1
    assert list(joint_states.waiting()) == []  # they come by themselves now
    assert node.handle.reads == 0
    joint_states.set_awake('torque', False)
    assert joint_states.awake
    joint_states.set_awake('observer', False)
    assert joint_states.asleep.handle is node.handle
    assert node.wakes == 2


def test_a_closed_subscription_returns_nothing(joint_states):
    joint_states.close()
    assert list(joint_states.waiting()) == [] and joint_states._node.handle.reads == 0
