"""Joint states wake the node only while torques are made of them."""

from types import SimpleNamespace

import pytest
from sensor_msgs.msg import JointState

from dynamics_node.ros.state.subscriptions import StateSubscriptions


class Handle:
    """The middleware's side of a subscription, with nothing in its queue."""

    looks = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def take_message(self, kind, raw):
        self.looks += 1


class Node:
    """What Inputs asks of a node."""

    def __init__(self):
        self.wakes = 0
        self.executor = SimpleNamespace(wake=self._wake)

    def create_subscription(self, kind, topic, *rest, **options):
        return SimpleNamespace(kind=kind, handle=Handle())

    def create_timer(self, period, callback, clock):
        return SimpleNamespace(period=period, callback=callback)

    def _wake(self):
        self.wakes += 1


@pytest.fixture
def inputs():
    desk = SimpleNamespace(state=None, parameters=SimpleNamespace(base_state='odometry'))
    return StateSubscriptions(Node(), desk, clock=None, on_description=None, on_wrench=None,
                              listener=None)


def test_idle_nobody_waits_for_joint_states_but_looks_for_them(inputs):
    """The one subscription that is left out; a timer empties its queue."""
    assert inputs.asleep.kind is JointState
    before = inputs.asleep.handle.looks
    inputs.timer.callback()
    assert inputs.asleep.handle.looks == before + 1


def test_awake_every_joint_state_is_waited_for(inputs):
    """The executor is told once, after what waited has been taken; and back again."""
    handle = inputs.asleep.handle
    for _ in range(2):
        inputs.set_awake(True)
    assert inputs.asleep is None
    assert inputs._node.wakes == 1
    assert handle.looks == 1
    inputs.timer.callback()  # they come by themselves now
    assert handle.looks == 1
    inputs.set_awake(False)
    assert inputs.asleep.handle is handle
    assert inputs._node.wakes == 2
