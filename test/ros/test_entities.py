"""Test clean-up: queued callbacks of the executor do nothing, and no entity is left."""

import pytest

pytest.importorskip('rclpy')

from rclpy.parameter import Parameter  # noqa: E402
from support.late_callbacks import call_back  # noqa: E402

from dynamics_node.example_robots import ARM7  # noqa: E402


@pytest.fixture
def node(ros_environment):
    """A node of this process, active; nothing spins it."""
    import rclpy

    from dynamics_node.ros.node import DynamicsNode
    context = rclpy.Context()
    rclpy.init(context=context)
    node = DynamicsNode(context=context, parameter_overrides=[
        Parameter('robot_description', value=str(ARM7)), Parameter('compile', value=False),
        Parameter('torque.command_topic', value='commands')])
    node.bring_up()
    yield node
    node.take_down()
    node.destroy_node()
    rclpy.shutdown(context=context)


def clean_up(node):
    from rclpy.lifecycle import TransitionCallbackReturn
    for transition in (node.trigger_deactivate, node.trigger_cleanup):
        assert transition() == TransitionCallbackReturn.SUCCESS


def made_by_configuring(node):
    """Return timers, subscriptions and services that are gone after a cleanup."""
    def all_of_them():
        return [*node.timers, *node._subscriptions, *node.services]
    before = all_of_them()
    clean_up(node)
    left = all_of_them()
    return [each for each in before if each not in left]


def test_callbacks_that_come_after_the_cleanup_do_nothing(node):
    """As the events executor calls them: timers, messages, requests."""
    gone = made_by_configuring(node)
    assert len(gone) > 25
    call_back(gone)
    assert node.node_state is None


def test_repeated_configuring_leaves_no_entities(node):
    """No callback on the node's clock, which a change of use_sim_time calls."""
    from rclpy.lifecycle import TransitionCallbackReturn
    counts = []
    for _ in range(5):
        counts.append((len(list(node.timers)), len(list(node.services)), len(node._subscriptions),
                       len(list(node.publishers)), len(list(node.waitables))))
        clean_up(node)
        clock = node.get_clock()
        assert node.node_state is None
        for transition in (node.trigger_configure, node.trigger_activate):
            assert transition() == TransitionCallbackReturn.SUCCESS
        assert node.node_state.clock.simulated is clock.ros_time_is_active
    assert len(set(counts)) == 1


def test_a_fault_in_a_transition_is_logged(node, monkeypatch, capfd):
    """Rclpy itself ignores it."""
    from rclpy.lifecycle import TransitionCallbackReturn

    from dynamics_node.ros import node as module
    clean_up(node)
    monkeypatch.setattr(module, 'Markers', lambda *_: 1 / 0)
    assert node.trigger_configure() == TransitionCallbackReturn.ERROR
    said = capfd.readouterr().err
    assert 'on_configure failed' in said and 'ZeroDivisionError' in said
    monkeypatch.undo()
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
