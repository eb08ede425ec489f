"""Test clean-up: queued callbacks of the executor do nothing, and no entity is left."""

import time

import pytest

pytest.importorskip('rclpy')

from rclpy.parameter import Parameter  # noqa: E402
from rclpy.service import Service  # noqa: E402
from rclpy.timer import Timer  # noqa: E402

from dynamics_node.example_robots import ARM7  # noqa: E402

LATE = 0.5      # [s] longer than the timer of torques waits, which is 2 LATE / 2.2


@pytest.fixture
def node(ros_environment):
    """A node of this process, active; nothing spins it."""
    import rclpy

    from dynamics_node.ros.node import DynamicsNode
    context = rclpy.Context()
    rclpy.init(context=context)
    node = DynamicsNode(context=context, parameter_overrides=[
        Parameter('robot_description', value=str(ARM7)), Parameter('compile', value=False),
        Parameter('torque.command_topic', value='commands'),
        Parameter('torque.rate', value=500.0), Parameter('torque.ramp_from', value='zero'),
        Parameter('safety.max_state_age', value=2 * LATE),
        Parameter('safety.max_clock_step', value=2 * LATE)])
    node.bring_up()
    yield node
    node.take_down()
    node.destroy_node()
    rclpy.shutdown(context=context)


def measure(node):
    """Let all joints be measured at rest."""
    names = node.node_state.robot.joint_names
    node.node_state.measured_state.take(time.time_ns(), names, [0.1] * 7, [0.0] * 7)


def enable(node):
    from std_srvs.srv import SetBool
    measure(node)
    reply = node.torque.on_enable(SetBool.Request(data=True), SetBool.Response())
    assert reply.success, reply.message


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
    enable(node)
    measure(node)
    node.torque.on_state(node.node_state.snapshot())
    gone = made_by_configuring(node)
    assert len(gone) > 30
    for entity in gone:
        if isinstance(entity, Timer):
            entity.callback()
        elif isinstance(entity, Service):
            entity.send_response(entity.callback(
                entity.srv_type.Request(), entity.srv_type.Response()), None)
        else:
            entity.callback(b'' if entity.raw else entity.msg_type())
    assert node.torque is None


def test_a_cleanup_while_timers_are_due_is_safe(node):
    """On a loaded machine: all are due at once, the cleanup comes first."""
    from rclpy.experimental import EventsExecutor
    from rclpy.task import Future
    executor, done, step = EventsExecutor(context=node.context), Future(), iter(range(100))
    executor.add_node(node)

    def on_timer():
        k = next(step)
        if k < 6:
            enable(node)   # once more, should the machine have been slower than that
            time.sleep(LATE)
        elif k == 6:
            clean_up(node)
        elif k == 10:
            done.set_result(True)
    node.create_timer(0.01, on_timer)
    executor.spin_until_future_complete(done, timeout_sec=30.0)
    assert done.done()


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
