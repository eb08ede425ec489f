"""Test the description of message types."""

from geometry_msgs.msg import Pose, WrenchStamped
from std_msgs.msg import Header

from dynamics_node import msg, srv
from dynamics_node.ros.message_fields import FieldKind, message_fields


def test_texts_messages_and_lists_are_told_apart():
    """An array of fixed size is no list: it cannot be too long."""
    request = message_fields(srv.TaskControl.Request)
    assert request['joint_names'] == FieldKind(True, True, None)
    assert request['position'] == FieldKind(True, False, None)
    assert request['tasks'] == FieldKind(True, False, msg.Task)
    assert request['external_wrenches'] == FieldKind(True, False, WrenchStamped)
    assert request['constraints_yaml'] == FieldKind(False, True, None)
    assert request['unbounded'] == FieldKind(False, False, None)
    reference = message_fields(msg.TaskReference)
    assert reference['header'] == FieldKind(False, False, Header)
    assert reference['pose'] == FieldKind(False, False, Pose)
    assert reference['force_axes'] == FieldKind(False, False, None)
