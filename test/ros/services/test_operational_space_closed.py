"""Test ~/operational_space of a closed mechanism: results of the library, refusals."""

import numpy as np
import pytest
from support.current_robots import close, node_state_at, state_of
from support.node_states import ask, node_state_of, refused
from support.tiny_robots import TWO_JOINTS

NAMES = ['right_elbow', 'left_shoulder', 'right_shoulder', 'left_elbow']


@pytest.mark.parametrize('coordinates', [[], ['right_elbow', 'left_elbow']])
def test_the_terms_are_those_of_the_library(coordinates):
    """In the order of the coordinates, whatever the order of the joints in the request."""
    node_state, robot = node_state_at('five_bar')
    q, v = state_of(robot)
    order = [robot.joint_names.index(name) for name in NAMES]
    reply = ask(node_state, 'operational_space', frames=['tool'], axes=['x', 'z'], closed=True,
                coordinates=coordinates, joint_names=NAMES, position=q[order], velocity=v[order],
                manipulability=True)
    which = {'closed': True, 'coordinates': coordinates or None}
    want = robot.operational_space(q, v, 'tool', ['x', 'z'], **which)
    assert reply.coordinates == (coordinates or ['left_shoulder', 'right_shoulder'])
    assert (reply.rows, reply.joint_names) == (2, NAMES)
    for field in ('inertia', 'jacobian', 'consistent_inverse', 'null_space'):
        close(np.reshape(getattr(reply, field), (2, 2)), getattr(want, field))
    close(reply.bias, want.bias)
    close(reply.gravity, want.gravity)
    close(np.reshape(reply.mobility, (2, 2)),
          robot.manipulability(q, 'tool', ['x', 'z'], **which).mobility)
    twist = robot.frame_twist(q, v, 'tool')
    close([reply.twists[0].linear.x, reply.twists[0].linear.z], twist[[0, 2]])


def test_what_has_no_answer_is_refused():
    """Coordinates of the open tree, a tree without loops."""
    node_state, robot = node_state_at('five_bar')
    q, v = state_of(robot)
    assert refused(node_state, 'operational_space', frames=['tool'], position=q, velocity=v,
                   coordinates=['left_elbow']) == (
        'coordinates is given, but it is read only with closed: true')
    assert refused(node_state_of(TWO_JOINTS), 'operational_space', frames=['base'],
                   position=[0.1, 0.2], velocity=[0.0, 0.0], closed=True).startswith(
        'closed is true, but the robot has no loops')
