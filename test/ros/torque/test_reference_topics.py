"""Test references in frames that are not links, without a graph: asked for, followed, refused."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped, TwistStamped  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from support.pipeline_rig import IMPEDANCE, Rig  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402

from dynamics_node.example_robots import ARM7  # noqa: E402
from dynamics_node.msg import TaskReference  # noqa: E402
from dynamics_node.ros import convert  # noqa: E402
from dynamics_node.ros.torque.reference_topics import ReferenceTopics  # noqa: E402

pytestmark = pytest.mark.usefixtures('awaited_kernels')

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


# Order -------------------------------------------------------------------------------------------

NEWER = 'a newer reference was followed, or torques were enabled again, while this one waited'


def is_refused_as_older(topics, wanted):
    topics.reply(wanted)
    warning, = topics.warnings
    assert warning.startswith(f'the reference pose was refused: {NEWER}')
    assert topics.references.refused == 1


@pytest.mark.parametrize('newer', [Topics.send_task, Topics.send_pose])
def test_a_reference_is_not_replaced_by_an_older_one_that_had_to_wait(topics, newer):
    topics.send_pose('camera', 0.02)
    newer(topics, 'base_link', 0.03)
    is_refused_as_older(topics, *topics.asked)
    assert topics.moved() == pytest.approx(0.03)


def test_poses_found_in_another_order_do_not_change_the_order_of_references(topics):
    topics.send_pose('camera', 0.02)
    topics.send_task('camera', 0.03)
    older, newer = topics.asked
    topics.reply(newer)
    is_refused_as_older(topics, older)
    assert topics.moved() == pytest.approx(0.03)


def test_a_reference_is_followed_while_a_newer_one_waits(topics):
    """Otherwise none would be followed where they arrive faster than poses are found."""
    topics.send_pose('camera', 0.02)
    topics.send_pose('camera', 0.03)
    for wanted, y in zip(topics.asked, (0.02, 0.03)):
        topics.reply(wanted)
        assert topics.moved() == pytest.approx(y)
    assert topics.warnings == []


def test_a_newer_reference_that_is_refused_changes_nothing(topics):
    """Whether it waits or not."""
    for frame, y in (('camera', 0.02), ('base_link', np.nan), ('nowhere', 0.03)):
        topics.send_pose(frame, y)
    older, newer = topics.asked
    topics.reply(newer, 'no such frame')
    topics.reply(older)
    assert len(topics.warnings) == 2
    assert topics.moved() == pytest.approx(0.02)


def test_a_stop_of_the_joints_is_newer_than_a_reference_that_waits(topics):
    """In another mode meanwhile."""
    topics.send_pose('camera', 0.02)
    rig = topics.rig
    rig.pipeline.use(replace(rig.parameters, **IMPEDANCE), rig.settings)
    topics.callbacks['~/reference'](serialize_message(JointTrajectory()))
    rig.pipeline.use(rig.parameters, rig.settings)
    is_refused_as_older(topics, *topics.asked)
