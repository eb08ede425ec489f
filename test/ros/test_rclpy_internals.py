"""Test that parts of rclpy that are not public API behave as ros/rclpy_internals.py expects."""

import inspect
import time
from contextlib import nullcontext
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

rclpy = pytest.importorskip('rclpy')

from rcl_interfaces.msg import Log as LogMessage  # noqa: E402
from rclpy._rclpy_pybind11 import RCLError  # noqa: E402
from rclpy.action import ActionServer  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.experimental import EventsExecutor  # noqa: E402
from rclpy.lifecycle import LifecycleNode  # noqa: E402
from rclpy.logging import LoggingSeverity  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from rclpy.task import Future  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402

from dynamics_node.ros import rclpy_internals  # noqa: E402
from dynamics_node.ros.sendable_messages import Log  # noqa: E402

AFTER_JAZZY = 8   # first major version of rclpy


@pytest.fixture
def node(ros_environment):
    """A lifecycle node of this process; nothing spins it."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = LifecycleNode('internals', context=context)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_the_reply_of_a_service_can_be_wrapped(node):
    """A service sends by self.send_response(response, header), looked up at each reply."""
    service = node.create_service(SetBool, 'set', lambda request, response: response)
    assert list(inspect.signature(service.send_response).parameters) == ['response', 'header']
    sent = []
    rclpy_internals.wrap_send_response(service, lambda send: lambda *reply: sent.append(reply))
    service.send_response('response', 'header')
    assert sent == [('response', 'header')]


def test_the_parameters_given_at_start_are_found(ros_environment):
    """Those of the command line too, whether they are declared or not; [] has no value."""
    context = rclpy.Context()
    rclpy.init(context=context, args=['--ros-args', '-p', 'a.b:=1.5', '-p', 'c:=[]'])
    node = LifecycleNode('internals', context=context, allow_undeclared_parameters=True)
    assert rclpy_internals.parameter_overrides(node) == {'a.b': 1.5, 'c': None}
    assert not node.has_parameter('a.b')
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_the_client_of_a_request_is_found(node):
    """Each client has another GUID, the same in all its requests."""
    clients = []
    service = node.create_service(SetBool, 'set', lambda request, response: response)

    def wrap(send):
        def noted(response, header):
            clients.append(rclpy_internals.client_of(header))
            send(response, header)
        return noted
    rclpy_internals.wrap_send_response(service, wrap)
    first, second = (node.create_client(SetBool, 'set') for _ in range(2))
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    for client in (first, second, first):
        assert client.wait_for_service(20.0)
        executor.spin_until_future_complete(client.call_async(SetBool.Request()), 20.0)
    executor.shutdown()
    assert clients[0] == clients[2] != clients[1]
    assert [len(client) for client in clients] == [16, 16, 16]


@pytest.mark.parametrize('header', [None, object(), 5, SimpleNamespace(sequence_number=-7)])
def test_the_client_of_something_else_is_unknown(header):
    """Nothing crashes where rclpy or pybind11 arrange the memory differently."""
    assert rclpy_internals.client_of(header) == rclpy_internals.UNKNOWN_CLIENT


def test_an_invalid_transition_is_a_reply(node):
    """In Jazzy rclpy raises an error, else the wrapper can be removed; later versions reply."""
    from lifecycle_msgs.msg import Transition
    from lifecycle_msgs.srv import ChangeState
    request = ChangeState.Request()
    request.transition.id = Transition.TRANSITION_ACTIVATE   # not yet configured
    raises = int(metadata.version('rclpy').split('.')[0]) < AFTER_JAZZY
    with pytest.raises(RCLError) if raises else nullcontext():
        assert node._service_change_state.callback(request, ChangeState.Response()).success is False
    warnings = []
    rclpy_internals.tolerate_invalid_transitions(node, warnings.append)
    reply = node._service_change_state.callback(request, ChangeState.Response())
    assert reply.success is False
    assert ['not valid' in warning for warning in warnings] == [True] * raises


def test_waiting_messages_are_read_without_an_executor(node):
    """As bytes, with the time of their arrival."""
    subscription = node.create_subscription(String, 'text', pytest.fail, 10, raw=True)
    publisher = node.create_publisher(String, 'text', 10)
    assert list(rclpy_internals.take_waiting(subscription, String, 10)) == []
    before, found = time.time_ns(), []
    deadline = time.monotonic() + 20.0
    while not found and time.monotonic() < deadline:
        publisher.publish(String(data='hello'))
        time.sleep(0.02)
        found = list(rclpy_internals.take_waiting(subscription, String, 10))
    data, info = found[0]
    assert deserialize_message(data, String).data == 'hello'
    assert before <= info['received_timestamp'] <= time.time_ns()
    assert info['publication_sequence_number'] >= 1


@pytest.mark.parametrize('executor', [SingleThreadedExecutor, EventsExecutor])
def test_a_callback_receives_the_information_about_a_message(node, executor):
    """The numbers of two publishers are independent."""
    received = []
    subscription = node.create_subscription(String, 'text', lambda *taken: received.append(taken),
                                            10, raw=True)
    rclpy_internals.receive_info(subscription)
    publishers = [node.create_publisher(String, 'text', 10) for _ in range(2)]
    executor = executor(context=node.context)
    executor.add_node(node)
    deadline = time.monotonic() + 20.0
    while len(received) < 6 and time.monotonic() < deadline:
        for number, publisher in enumerate(publishers):
            publisher.publish(String(data=str(number)))
        executor.spin_until_future_complete(Future(), timeout_sec=0.05)
    executor.shutdown()
    numbers = {'0': [], '1': []}
    for taken in received:
        data, info = taken if len(taken) == 2 else taken[0]
        numbers[deserialize_message(data, String).data].append(info['publication_sequence_number'])
    for each in numbers.values():
        assert each == list(range(each[0], each[0] + len(each)))


def test_a_line_of_the_log_names_the_code_that_logs_it(node, capfd):
    """On /rosout and in the terminal, unless the logger is set to a higher severity."""
    heard, log = [], Log(node.get_logger())
    node.create_subscription(LogMessage, '/rosout', heard.append, 10)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    until = time.monotonic() + 20.0
    while not heard and time.monotonic() < until:
        log.warning('hot')
        executor.spin_once(timeout_sec=0.05)
    line = heard[0]
    assert (line.msg, line.level, line.name) == ('hot', LogMessage.WARN, 'internals')
    assert line.file == __file__
    assert line.function == 'test_a_line_of_the_log_names_the_code_that_logs_it'
    assert "log.warning('hot')" in Path(__file__).read_text().splitlines()[line.line - 1]
    assert '[WARN]' in (err := capfd.readouterr().err) and '[internals]: hot' in err
    node.get_logger().set_level(LoggingSeverity.ERROR)
    try:
        log.warning('quiet')
        log.error('loud')
    finally:
        node.get_logger().set_level(LoggingSeverity.UNSET)
    err = capfd.readouterr().err
    assert 'quiet' not in err and '[internals]: loud' in err
    executor.shutdown()


def test_a_silenced_entity_calls_and_sends_nothing(node):
    """Timers, subscriptions and services have the attributes that are replaced."""
    timer = node.create_timer(10.0, pytest.fail)
    subscription = node.create_subscription(String, 'text', pytest.fail, 10)
    service = node.create_service(SetBool, 'set', pytest.fail)
    for entity in (timer, subscription, service):
        assert hasattr(entity, 'callback')
        rclpy_internals.silence(entity)
        entity.callback()
    service.send_response(None, None)


def test_an_action_server_has_the_methods_that_are_overridden():
    """With the arguments that are passed on."""
    expected = {'notify_execute': ['self', 'goal_handle', 'execute_callback'],
                'execute': ['self', 'taken_data'],
                '_send_result_response': ['self', 'request_header', 'future'], 'destroy': ['self']}
    for name, arguments in expected.items():
        assert list(inspect.signature(getattr(ActionServer, name)).parameters) == arguments
    assert inspect.iscoroutinefunction(ActionServer.execute)


def test_no_other_module_uses_private_names_of_rclpy():
    """One file to look at when rclpy changes."""
    import dynamics_node.ros
    private = ('_rclpy_pybind11', 'send_response =', '_service_change_state', 'take_message',
               '_send_result_response', 'subscription.handle')
    for path in Path(dynamics_node.ros.__file__).parent.rglob('*.py'):
        if path.name != 'rclpy_internals.py':
            text = path.read_text()
            assert [word for word in private if word in text] == [], path


def test_bytes_are_published_and_refused_once_the_publisher_is_destroyed(node):
    """Without the checks of Publisher.publish: no crash."""
    heard = []
    node.create_subscription(String, 'bytes', heard.append, 1)
    publisher = node.create_publisher(String, 'bytes', 1)
    send, executor = rclpy_internals.send_bytes(publisher), SingleThreadedExecutor(
        context=node.context)
    executor.add_node(node)
    until = time.monotonic() + 20.0
    while not heard and time.monotonic() < until:
        send(serialize_message(String(data='torque')))
        executor.spin_once(timeout_sec=0.05)
    assert heard[0].data == 'torque'
    node.destroy_publisher(publisher)
    with pytest.raises(Exception, match='ublish'):
        send(serialize_message(String(data='torque')))
    executor.shutdown()
