"""Test references in frames that are no links, without a graph: asked for, followed, refused."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped, TwistStamped  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from support.pipeline_rig import Rig  # noqa: E402

from dynamics_node.example_robots import ARM7  # noqa: E402
from dynamics_node.msg import TaskReference  # noqa: E402
from dynamics_node.ros import convert  # noqa: E402
from dynamics_node.ros.torque.reference_topics import ReferenceTopics  # noqa: E402

BENT = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])


class Topics:
    """ReferenceTopics on a pipeline; `asked` are the records for the serving process."""

    def __init__(self, **node):
        self.rig = Rig(ARM7, mode='task_space', task_frame='tool0', blend_time=0.1,
                       task_max_speed=1.0, node=node)
        self.rig.q = BENT.copy()
        self.asked, self.warnings, self.callbacks = [], [], {}
        log = SimpleNamespace(warning=self.warnings.append, error=pytest.fail)
        self.references = ReferenceTopics(
            SimpleNamespace(log=log, send=self._send, destroy_subscription=None,
                            create_subscription=self._subscribe),
            self.rig.node_state, self.rig.pipeline, self.rig.node_state.snapshot)

    def _send(self, record):
        self.asked.append(record)
        return True

    def _subscribe(self, kind, topic, callback, **options):
        self.callbacks[topic] = callback

    def send_task(self, frame, y=0.0):
        """Send the measured pose of the tool, moved along y; seen from a frame at the root."""
        message = TaskReference(pose=self._pose(y))
        message.header.frame_id = frame
        self.callbacks['~/task_reference'](serialize_message(message))

    def send_pose(self, frame, y=0.0):
        message = PoseStamped(pose=self._pose(y))
        message.header.frame_id = frame
        self.callbacks['~/reference_pose'](serialize_message(message))

    def _pose(self, y):
        pose = self.rig.robot.frame_pose(self.rig.q, 'tool0')
        pose[1, 3] += y
        return convert.pose(pose)

    def reply(self, wanted, refusal=''):
        """Reply to a record as the serving process does: the frame is at the root."""
        self.references.follow_seen_from(wanted, None if refusal else np.eye(4), refusal)

    def moved(self):
        """Return how far the tool is wanted from where it is measured, along y [m]."""
        self.rig.run(1.0)
        wanted = self.rig.pipeline.reference.at(self.rig.pipeline.now()).pose_motion.pose
        return wanted[1, 3] - self.rig.robot.frame_pose(self.rig.q, 'tool0')[1, 3]


@pytest.fixture
def topics():
    made = Topics()
    made.rig.enabled()
    return made


@pytest.mark.parametrize('send', [Topics.send_task, Topics.send_pose])
def test_a_frame_is_asked_for_by_its_name_in_tf(send):
    """A link has the prefix or not, and is not asked for."""
    topics = Topics(frame_prefix='left/')
    topics.rig.enabled()
    for frame in ('left/camera', 'camera', 'left/tool0', 'base_link'):
        send(topics, frame)
    assert [wanted.frame for wanted in topics.asked] == ['left/camera', 'camera']
    assert topics.warnings == []


@pytest.mark.parametrize('frame', ['base_link', 'camera'])
def test_while_torques_are_disabled_no_frame_is_asked_for(frame):
    """The reference is refused as one in the frame of a link is."""
    topics = Topics()
    topics.send_pose(frame)
    assert topics.asked == []
    warning, = topics.warnings
    assert warning.startswith('the reference pose was refused: torques are disabled')


def test_a_reply_after_torques_were_disabled_is_refused(topics):
    topics.send_pose('camera')
    topics.rig.run_out()
    topics.reply(*topics.asked)
    assert 'torques are disabled' in topics.references.last_refusal


def test_no_robot_is_assembled_while_a_payload_is_in_transition(topics, monkeypatch):
    current = topics.rig.node_state.current_robot
    monkeypatch.setattr(type(current), 'robot', property(lambda self: pytest.fail('assembled')))
    topics.send_pose('camera')
    topics.callbacks['~/reference_twist'](serialize_message(TwistStamped()))
    assert len(topics.asked) == 1 and topics.warnings == []
