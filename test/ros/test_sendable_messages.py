"""Test outgoing messages: every text can be encoded, every sentence is short."""

import subprocess
import sys

import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue  # noqa: E402
from rcl_interfaces.msg import ParameterValue, SetParametersResult  # noqa: E402
from rcl_interfaces.srv import GetParameters, SetParameters  # noqa: E402
from rclpy.logging import LoggingSeverity, get_logger  # noqa: E402

from dynamics_node.action import Identify  # noqa: E402
from dynamics_node.ros import sendable_messages  # noqa: E402
from dynamics_node.ros.code_line import CodeLine  # noqa: E402
from dynamics_node.ros.sendable_messages import (  # noqa: E402
    LONGEST,
    Log,
    encodable,
    guard_replies,
    publish,
    sendable,
    sentence,
)
from dynamics_node.ros.services.table import SERVICES  # noqa: E402

HALF = '\ud800'            # half a character, as the escape "\ud800" in YAML makes
NAME = '\udcff.csv'        # a file name that is no UTF-8, as os.listdir gives it
LONG = 'x' * 10 ** 7


def texts(message):
    """Yield every text in a message."""
    if isinstance(message, str):
        yield message
    elif isinstance(message, (list, tuple)):
        for each in message:
            yield from texts(each)
    elif hasattr(message, 'get_fields_and_field_types'):
        for field in message.get_fields_and_field_types():
            yield from texts(getattr(message, field))


def check(message):
    """Assert that a message can be sent, and return it."""
    for text in texts(message):
        text.encode()
    return message


@pytest.mark.parametrize(('text', 'cleaned'), [
    ('', ''), ('plain', 'plain'), ('grün 机器人 🤖', 'grün 机器人 🤖'), (f'a{HALF}b', r'a\ud800b'),
    (NAME, r'\udcff.csv')])
def test_a_text_is_changed_only_where_it_cannot_be_encoded(text, cleaned):
    assert encodable(text) == sentence(text) == cleaned
    assert cleaned != text or encodable(text) is text


def test_a_long_sentence_keeps_both_ends():
    """The wrong name is at its start, the valid ones at its end."""
    text = sentence(f"no joint '{LONG}'; the robot has: elbow")
    assert text.startswith("no joint 'xxx") and text.endswith("xxx'; the robot has: elbow")
    assert 'characters ...]' in text and len(text) < LONGEST + 100
    sentence(HALF * 10 ** 6).encode()


def filled(kind):
    """Return a message with bad text in each of its text fields."""
    message = kind()
    for field, declared in message.get_fields_and_field_types().items():
        if declared == 'string':
            setattr(message, field, f'{HALF}{NAME}')
        elif declared == 'sequence<string>':
            setattr(message, field, ['good', HALF])
    return message


@pytest.mark.parametrize('kind', [*(kind.Response for kind, *_ in SERVICES.values()),
                                  Identify.Result, Identify.Feedback, SetParametersResult],
                         ids=lambda kind: kind.__name__)
def test_every_kind_of_reply_is_made_sendable(kind):
    """In place: it is the same message."""
    message = filled(kind)
    before = list(texts(message))
    assert sendable(message) is check(message)
    assert len(list(texts(message))) == len(before)


def test_nested_messages_and_lists_are_made_sendable():
    """Diagnostics, and the replies of the parameter services."""
    array = check(sendable(DiagnosticArray(status=[DiagnosticStatus(
        message=HALF, values=[KeyValue(key='a', value=LONG), KeyValue(key=HALF, value=NAME)])])))
    status = array.status[0]
    assert status.message == r'\ud800' and len(status.values[0].value) < LONGEST + 100
    assert (status.values[1].key, status.values[1].value) == (r'\ud800', r'\udcff.csv')
    reply = check(sendable(SetParameters.Response(results=[SetParametersResult(reason=LONG)])))
    assert len(reply.results[0].reason) < LONGEST + 100


def test_values_of_parameters_and_reports_are_not_shortened():
    """A robot description is long."""
    reply = sendable(GetParameters.Response(values=[ParameterValue(string_value=LONG)]))
    assert reply.values[0].string_value == LONG
    result = sendable(Identify.Result(urdf=LONG, message=LONG, warnings=[LONG]))
    assert result.urdf == LONG
    assert max(len(result.message), len(result.warnings[0])) < LONGEST + 100


def test_a_valid_reply_is_not_changed():
    """Shared lists are not copied."""
    kind = SERVICES['inverse_dynamics'].kind.Response
    names = ['ellenbogen_ü', 'b']
    reply = kind(joint_names=names, model_id='0')
    before = reply.joint_names
    assert sendable(reply).joint_names is before


# What fails ----------------------------------------------------------------------------------

class Service:
    """Sends replies as long as their message is short."""

    srv_name = '~/test'

    def __init__(self):
        self.sent = []

    def send_response(self, response, header):
        if len(response.message) > 80:
            raise RuntimeError('cannot be sent')
        self.sent.append((response, header))


class Lines(list):
    """A logger."""

    def error(self, text):
        self.append(text)


def test_a_reply_that_cannot_be_sent_is_logged_and_the_client_gets_another():
    """The exception does not reach the executor and end the node."""
    log, service = Lines(), Service()
    assert guard_replies(service, lambda: log) is service
    kind = SERVICES['inverse_dynamics'].kind.Response
    service.send_response(kind(message='good', success=True), 1)
    service.send_response(kind(message=100 * 'x', success=True), 2)
    (good, one), (bad, two) = service.sent
    assert (good.message, good.success, one) == ('good', True, 1)
    assert (bad.success, two) == (False, 2) and 'see the log' in bad.message
    assert '~/test could not be sent' in log[0] and 'RuntimeError' in log[0]


def test_a_message_that_cannot_be_published_is_logged():
    log, sent = Lines(), []

    def fail(message):
        raise RuntimeError('gone')
    publish(sent.append, SetParametersResult(reason=HALF), log)
    assert (sent[0].reason, log) == (r'\ud800', [])
    publish(fail, SetParametersResult(), log)
    assert 'SetParametersResult could not be published' in log[0]


def test_the_log_accepts_any_text_at_any_severity():
    """Rclpy raises at an invalid character."""
    log = Log(get_logger('test'))
    for text in (HALF, 'again', NAME):
        for say in (log.info, log.warning, log.error, log.fatal):
            say(text)


@pytest.mark.parametrize('say', ['info', 'warning', 'error', 'fatal'])
def test_the_log_may_be_called_without_python_code(say):
    """As at exit, where the interpreter calls a method itself: the line names that method."""
    code = ('import atexit; from rclpy.logging import get_logger; '
            'from dynamics_node.ros.sendable_messages import Log; '
            f'atexit.register(Log(get_logger("test")).{say}, "the end")')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60)
    assert 'the end' in done.stdout + done.stderr and 'Traceback' not in done.stderr


def test_a_relayed_line_names_the_code_of_the_other_process(monkeypatch):
    seen = []
    monkeypatch.setattr(sendable_messages, 'log_line', lambda logger, *line: seen.append(line))
    source = CodeLine('torque.py', 'publish', 7)
    for severity in ('info', 'warning', 'error', 'fatal'):
        Log(get_logger('test')).relay(severity, HALF, source)
    assert [line[0] for line in seen] == [LoggingSeverity.INFO, LoggingSeverity.WARN,
                                          LoggingSeverity.ERROR, LoggingSeverity.FATAL]
    assert all(line[1:] == (r'\ud800', source) for line in seen)
