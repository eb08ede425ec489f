"""Test that every service refuses fields that it does not read for the question of a request."""

import pytest
from support.node_states import ask, node_state_of, refused, scene, whole_state, wrench
from support.tiny_robots import TWO_JOINTS

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Duration  # noqa: E402
from geometry_msgs.msg import Inertia, Point  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

A, TAU, GIVEN = [0.1, 0.2], [1.0, 2.0], [True, False]
PUSH = [wrench('elbow_link', [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])]
PATH = JointTrajectory(joint_names=['elbow'], points=[JointTrajectoryPoint(positions=[0.1])])
FEET = {'contact_frames': ['elbow_link']}
# (service, fields that belong to the question, a field that does not, what the message names)
UNREAD = [
    *((service, {'question': question}, field, words)
      for service in ('batch_dynamics', 'dynamics_derivatives', 'directional_derivative')
      for question, field, words in (
          ('inverse', {'effort': TAU}, 'only forward and hybrid'),
          ('inverse', {'acceleration_given': GIVEN}, 'only hybrid'),
          ('forward', {'acceleration': A}, 'only inverse and hybrid'),
          ('forward', {'acceleration_given': GIVEN}, 'only hybrid'))),
    *(('batch_dynamics', {'question': 'terms'}, field, 'terms') for field in (
        {'acceleration': A}, {'effort': TAU}, {'acceleration_given': GIVEN},
        {'external_wrenches': PUSH})),
    ('constrained_dynamics', {'question': 'forward'}, {'choice': 'unique'}, 'only inverse'),
    ('contact_and_impact', {'question': 'impact', **FEET}, {'effort': TAU}, 'only forces'),
    ('contact_and_impact', {'question': 'impact', 'contacts_yaml':
                            '[{name: foot, kind: point_contact, frame: elbow_link}]'},
     {'friction': [0.5]}, 'only with contact_frames'),
    ('kinematics', {}, {'local': True}, 'only with Jacobians'),
    ('set_payload', {'name': 'box', 'remove': True}, {'frame': 'elbow_link'}, 'remove: true'),
    ('set_payload', {'name': 'box', 'remove': True}, {'payload': Inertia(m=1.0)}, 'remove: true'),
    ('trajectory_torques', {'trajectory': PATH}, {'payload_com': Point(x=0.1)},
     'only with payload_frame'),
    ('identify_payload', {'question': 'forget'}, {'frame': 'elbow_link'}, 'motion and poses'),
    ('identify_payload', {'question': 'forget'}, {'duration': 1.0}, 'motion and unloaded and pose'),
    ('identify_payload', {'question': 'unloaded'}, {'transition_time': Duration(sec=1)},
     'motion and poses'),
    ('identify_payload', {'question': 'motion'}, {'position': A}, 'only poses'),
]


@pytest.mark.parametrize(('service', 'fields', 'unread', 'words'), UNREAD)
def test_a_field_that_is_not_read_is_refused_by_name(service, fields, unread, words):
    """The message says what reads it."""
    node_state = node_state_of(TWO_JOINTS)
    message = refused(node_state, service, **fields, **unread)
    (field,) = unread
    assert f'{field} is given, but ' in message and words in message


@pytest.mark.parametrize(('question', 'fields'), [
    ('inverse', {'acceleration': A, 'external_wrenches': PUSH}),
    ('forward', {'effort': TAU, 'external_wrenches': PUSH}),
    ('hybrid', {'acceleration': A, 'effort': TAU, 'acceleration_given': GIVEN,
                'external_wrenches': PUSH})])
@pytest.mark.parametrize('service', ['batch_dynamics', 'dynamics_derivatives',
                                     'directional_derivative'])
def test_fields_that_are_read_are_accepted(service, question, fields):
    """All at once."""
    ask(scene(TWO_JOINTS).node_state, service, question=question, **whole_state(), **fields)
