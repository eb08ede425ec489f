"""Test payloads by request: effect, transitions, refusals."""

import math

import numpy as np
import pytest
from support.differences import relative
from support.node_states import ask, refused, scene
from support.tiny_robots import TWO_JOINTS
from support.tolerances import EXACT_MATHS

LINKS = 'base, shoulder_link, elbow_link'


def load(mass=2.0, com=(0.1, 0.2, 0.3), xx=0.03, yy=0.04, zz=0.05, xy=0.0, xz=0.0, yz=0.0):
    from geometry_msgs.msg import Inertia, Vector3
    return Inertia(m=mass, com=Vector3(x=com[0], y=com[1], z=com[2]), ixx=xx, iyy=yy, izz=zz,
                   ixy=xy, ixz=xz, iyz=yz)


def seconds(time):
    from builtin_interfaces.msg import Duration
    return Duration(sec=math.floor(time), nanosec=round(time % 1.0 * 1e9))


@pytest.fixture
def s():
    """Two joints, all measured."""
    return scene(TWO_JOINTS)


def torque(s):
    return ask(s.node_state, 'inverse_dynamics').effort.tolist()


def attach(s, name='box', frame='elbow_link', time=0.0, **payload):
    return ask(s.node_state, 'set_payload', name=name, frame=frame, payload=load(**payload),
               transition_time=seconds(time))


def test_a_payload_has_the_effect_of_with_payload(s):
    """Mass, centre of mass and the inertia about it, in the axes of the link."""
    reply = attach(s, xy=0.001, xz=0.002, yz=0.003)
    tensor = [[0.03, 0.001, 0.002], [0.001, 0.04, 0.003], [0.002, 0.003, 0.05]]
    robot = s.robot.with_payload('box', 'elbow_link', 2.0, (0.1, 0.2, 0.3), tensor)
    assert torque(s) == robot.inverse_dynamics(s.q, s.v, np.zeros(2)).tolist()
    assert reply.total_mass == robot.total_mass
    assert reply.model_id == ask(s.node_state, 'inverse_dynamics').model_id


def test_zeros_are_a_point_mass(s):
    """The default of the message."""
    attach(s, xx=0.0, yy=0.0, zz=0.0)
    robot = s.robot.with_payload('box', 'elbow_link', 2.0, (0.1, 0.2, 0.3))
    assert torque(s) == robot.inverse_dynamics(s.q, s.v, np.zeros(2)).tolist()


def test_removal_gives_back_the_same_bits_and_the_same_model_id(s):
    """After any number of changes."""
    before, model_id = torque(s), ask(s.node_state, 'inverse_dynamics').model_id
    attach(s)
    attach(s, mass=3.0)
    attach(s, name='other', frame='base')
    for name in ('box', 'other'):
        reply = ask(s.node_state, 'set_payload', name=name, remove=True)
    assert reply.model_id == ask(s.node_state, 'inverse_dynamics').model_id == model_id
    assert reply.total_mass == s.robot.total_mass
    assert torque(s) == before


def test_the_reply_describes_the_end_of_the_transition(s):
    """The list describes the present."""
    before = np.array(torque(s))
    reply = attach(s, time=2.5)
    assert reply.total_mass == pytest.approx(s.robot.total_mass + 2.0)
    s.node_state.clocks.seconds += 1.0
    told = ask(s.node_state, 'list_payloads')
    assert (told.names, told.frames) == (['box'], ['elbow_link'])
    assert told.payloads[0] == load()
    assert told.fraction.tolist() == pytest.approx([0.4])
    assert told.payload_mass == pytest.approx(0.8)
    assert ask(s.node_state, 'inverse_dynamics').model_id != reply.model_id
    halfway = np.array(torque(s))
    s.node_state.clocks.seconds += 1.5
    assert ask(s.node_state, 'inverse_dynamics').model_id == reply.model_id
    assert relative(halfway, 0.6 * before + 0.4 * np.array(torque(s))) < EXACT_MATHS


def test_a_payload_being_removed_is_not_listed_but_has_weight(s):
    """Until its transition ends."""
    attach(s)
    ask(s.node_state, 'set_payload', name='box', remove=True, transition_time=seconds(4.0))
    s.node_state.clocks.seconds += 1.0
    told = ask(s.node_state, 'list_payloads')
    assert told.names == []
    assert told.payload_mass == pytest.approx(1.5)


@pytest.mark.parametrize(('fields', 'message'), [
    ({'name': ''}, 'name is empty'),
    ({'name': 'x' * 10 ** 7}, 'characters of name: 10000000, at most 200'),
    ({'frame': 'x' * 10 ** 7}, 'characters of frame: 10000000, at most 200'),
    ({'frame': 'tool0'}, f"no frame 'tool0'; the robot has: {LINKS}"),
    ({'frame': ''}, f"no frame ''; the robot has: {LINKS}"),
    ({'mass': 0.0}, 'payload.m is 0.0; expected a positive number'),
    ({'mass': -1.0}, 'payload.m is -1.0; expected a positive number'),
    ({'mass': math.nan}, 'payload.m is nan; expected a positive number'),
    ({'mass': math.inf}, "payload 'box': mass is inf; expected a finite number"),
    ({'com': (0.0, math.nan, 0.0)}, "payload 'box': com"),
    ({'xx': math.inf}, "payload 'box': inertia"), ({'xy': math.nan}, "payload 'box': inertia"),
    ({'xx': -0.01}, "payload 'box': inertia must not have a negative principal moment"),
    ({'xy': 0.05}, "payload 'box': inertia must not have a negative principal moment"),
    ({'zz': 0.08}, "payload 'box': inertia violates the triangle inequality"),
    ({'time': -0.5}, 'transition_time is -0.5 s; expected zero or more'),
])
def test_an_invalid_payload_is_refused_and_nothing_changes(s, fields, message):
    """The field is named, and the valid choices where there are some."""
    attach(s, mass=1.0)
    before = torque(s), ask(s.node_state, 'list_payloads')
    chosen = {'name': 'box', 'frame': 'elbow_link', 'time': 0.0, **fields}
    said = refused(s.node_state, 'set_payload', name=chosen.pop('name'), frame=chosen.pop('frame'),
                   transition_time=seconds(chosen.pop('time')), payload=load(**chosen))
    assert said.startswith(message)
    assert (torque(s), ask(s.node_state, 'list_payloads')) == before


def test_an_unknown_payload_cannot_be_removed(s):
    """The message lists the known ones."""
    attach(s)
    assert refused(s.node_state, 'set_payload', name='ball', remove=True) == (
        "no payload 'ball'; the robot has: box")
