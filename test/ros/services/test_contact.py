"""Test ~/contact_and_impact: closed forms of a block, results of the library; refusals."""

import math

import numpy as np
import pytest
from support.current_robots import (
    BLOCK,
    FEET,
    GRAVITY,
    MASS,
    STANDING,
    close,
    node_state_at,
    state_of,
)
from support.node_states import ask, node_state_of, refused, wrench

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.read_soft_contacts import read_soft_contacts
from dynamics_node.kernels.robot_kernels import RobotKernels

ANCHORED = '- {name: hit, kind: point_contact, frame: tool, to_pose: [0, 0, -0.52]}'
PUSH = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])


def block(velocity=(0.0,) * 6, **request):
    """Return the reply for a block that stands on its feet."""
    node_state = node_state_of(BLOCK, base='floating', gravity=(0.0, 0.0, -GRAVITY))
    return ask(node_state, 'contact_and_impact', position=STANDING, velocity=list(velocity),
               **request)


def test_the_feet_of_a_block_carry_its_weight():
    """Four point feet, of which one is redundant: their normal forces share the weight."""
    reply = block(question='forces', contact_frames=FEET, friction=[0.5])
    assert reply.contact_names == FEET
    assert sum(each.force.z for each in reply.contact_wrenches) == pytest.approx(MASS * GRAVITY)
    assert set(reply.verdicts) == {'sticking'}
    close(reply.margins, [0.5 * MASS * GRAVITY / 4] * 4)
    close(reply.acceleration, np.zeros(6))
    assert (reply.report.rank, len(reply.row_names)) == (6, 12)
    assert len(reply.report.redundant_rows) == 6
    close(reply.violations, np.zeros(12))


def test_a_push_beyond_friction_slides():
    """Sideways by more than mu m g; and an upward one pulls."""
    def verdicts(force, **more):
        reply = block(question='forces', contact_frames=['block'], contact_kinds=['flat_contact'],
                      external_wrenches=[wrench('block', [*force, 0, 0, 0])], **more)
        return reply.verdicts[0], reply.margins[0], reply.friction_needed[0]
    verdict, margin, needed = verdicts((8.0, 0.0, 0.0), friction=[0.5])
    assert (verdict, margin) == ('sticking', pytest.approx(0.5 * MASS * GRAVITY - 8.0))
    assert needed == pytest.approx(8.0 / (MASS * GRAVITY))
    assert verdicts((12.0, 0.0, 0.0), friction=[0.5])[0] == 'sliding'
    assert verdicts((0.0, 0.0, 30.0), friction=[0.5])[0] == 'pulling'
    verdict, margin, _ = verdicts((8.0, 0.0, 0.0))
    assert verdict == 'unknown' and math.isnan(margin)


def test_a_moment_moves_the_centre_of_pressure():
    """Of a sole and of an edge: x = -m_y / f_z."""
    torque = [0.0, 0.0, 0.0, 0.0, 0.6, 0.0]
    reply = block(question='forces', contact_frames=['block'], contact_kinds=['flat_contact'],
                  external_wrenches=[wrench('block', torque)])
    (found,), (center,) = reply.contact_wrenches, reply.pressure_centers
    close([found.force.z, found.torque.y], [MASS * GRAVITY, -0.6])
    close([center.x, center.y, center.z], [0.6 / (MASS * GRAVITY), 0.0, 0.0])
    line = '[{name: edge, kind: line_contact, frame: block, axis: [1, 0, 0]}]'
    reply = block(question='forces', contacts_yaml=line,
                  external_wrenches=[wrench('block', torque)])
    (found,), (center,) = reply.contact_wrenches, reply.pressure_centers
    close([found.force.z, found.torque.x, found.torque.y], [MASS * GRAVITY, 0.0, -0.6])
    close([center.x, center.y], [0.6 / (MASS * GRAVITY), 0.0])


def test_a_falling_contact_has_no_force():
    """In free fall with its ground: no weight, no centre of pressure."""
    node_state = node_state_of(BLOCK, base='floating', gravity=(0.0, 0.0, 0.0))
    reply = ask(node_state, 'contact_and_impact', question='forces', position=STANDING,
                velocity=[0.0] * 6, contact_frames=['block'], friction=[1.0])
    assert math.isnan(reply.pressure_centers[0].x)
    assert (reply.friction_needed[0], reply.verdicts[0]) == (0.0, 'sticking')


def test_a_motion_is_distributed_over_the_feet():
    """The base has no motor: its wrench comes from the ground, and two feet cannot turn it."""
    up = [0.0, 0.0, 1.5, 0.0, 0.0, 0.0]
    reply = block(question='distribution', contact_frames=FEET, friction=[0.5], acceleration=up)
    assert reply.supported
    assert sum(each.force.z for each in reply.contact_wrenches) == pytest.approx(
        MASS * (GRAVITY + 1.5))
    close(reply.effort, np.zeros(6))
    close(reply.unsupported, np.zeros(6))
    close(reply.violations[2::3], [1.5] * 4)  # the feet leave the ground they hold to
    reply = block(question='distribution', contact_frames=FEET[:2], friction=[0.5],
                  acceleration=[0.0, 0.0, 0.0, 0.0, 2.0, 0.0])
    assert not reply.supported
    assert np.abs(reply.unsupported).max() > 0.01


def test_choices_and_weights_of_a_distribution_are_those_of_the_library():
    """A five-bar whose tool touches the world: redundant by three motors."""
    node_state, robot = node_state_at('five_bar')
    q = state_of(robot)[0]
    still = np.zeros(4)
    contact = Constraint('tool', 'point_contact', 'tool', friction=0.4)
    weights = (np.array([1.0, 2.0, 3.0, 4.0]), np.arange(1.0, 6.0))
    for choice in ('least_torque', 'least_force', 'weighted'):
        reply = ask(node_state, 'contact_and_impact', question='distribution', position=q,
                    velocity=still, contact_frames=['tool'], friction=[0.4], choice=choice,
                    effort_weights=weights[0], force_weights=weights[1])
        want = robot.floating_base_torques(q, still, still, [contact], choice, weights=weights)
        close(reply.effort, want.tau)
        close(reply.multipliers, want.force)
        assert reply.contact_names == ['tool']
        assert reply.row_names[:2] == ['tip_x.n', 'tip_z.n']


def test_the_dynamics_that_supports_leave_free_are_those_of_the_library():
    """With the loops of the five-bar; named joints first. Rows have the names of other replies."""
    node_state, robot = node_state_at('five_bar')
    q, v = state_of(robot)
    order = np.array([2, 0, 1, 3])
    names = [robot.joint_names[k] for k in order]
    contact = Constraint('tool', 'point_contact', 'tool')
    reply = ask(node_state, 'contact_and_impact', question='support', joint_names=names,
                position=q[order], velocity=v[order], contact_frames=['tool'])
    want = robot.support_consistent_dynamics(q, v, [contact])
    assert reply.joint_names == names and reply.contact_names == ['tool']
    m = len(reply.row_names)
    assert m == len(want.drift) == 5
    assert np.reshape(reply.inertia, (m, m)).tolist() == want.inertia.tolist()
    assert np.reshape(reply.null_space, (4, 4)).tolist() == (
        want.null_space[np.ix_(order, order)].tolist())
    assert np.reshape(reply.jacobian, (m, 4)).tolist() == want.jacobian[:, order].tolist()
    assert np.array(reply.bias).tolist() == want.bias[order].tolist()
    assert np.array(reply.bias_acceleration).tolist() == want.drift.tolist()
    assert reply.report.rank == 4 and not len(reply.multipliers)


SOFT = """
- {name: heel, frame: foot_0, stiffness: 2e4, damping: 100, friction: 0.3}
- {name: toe, frame: foot_3, stiffness: 2e4, damping: 100, height: -0.01}
"""
SUNK = [0.0, 0.0, STANDING[2] - 0.002, 0.0, 0.0, 0.0, 1.0]   # 2 mm below the ground


def test_the_forces_of_soft_contacts_are_those_of_the_library():
    """The second one is above its plane. Touch points of one state are given with the next."""
    node_state = node_state_of(BLOCK, base='floating')
    robot, contacts = node_state.robot, read_soft_contacts({'soft_contacts': [
        {'name': 'heel', 'frame': 'foot_0', 'stiffness': 2e4, 'damping': 100, 'friction': 0.3},
        {'name': 'toe', 'frame': 'foot_3', 'stiffness': 2e4, 'damping': 100, 'height': -0.01}]})
    v, after = [0.3, 0.1, -0.2, 0.0, 0.0, 0.0], None
    for x in (0.0, 0.001):
        q = [x, *SUNK[1:]]
        want = robot.soft_contact_forces(q, v, contacts, after)
        reply = ask(node_state, 'contact_and_impact', question='soft_forces', position=q,
                    velocity=v, soft_contacts_yaml=SOFT,
                    touch_points=[] if after is None else np.ravel(after))
        assert reply.contact_names == ['heel', 'toe']
        forces = [[each.x, each.y, each.z] for each in reply.soft_forces]
        assert forces == want.force.tolist()
        assert forces[0][2] == pytest.approx(2e4 * 0.002 + 100 * 0.2) and not any(forces[1])
        assert np.array(reply.depths).tolist() == want.depth.tolist()
        after = np.reshape(reply.touch_points, (2, 3))
        np.testing.assert_array_equal(after, want.touch)
        assert np.isnan(after[1]).all()
    pushed, = (each for each in reply.soft_wrenches if each.header.frame_id == 'foot_0')
    assert [pushed.wrench.force.x, pushed.wrench.torque.y] == (
        want.wrenches['foot_0'][[0, 4]].tolist())


@pytest.mark.parametrize(('fields', 'words'), [
    ({'soft_contacts_yaml': ''}, 'no contacts: soft_contacts_yaml is empty'),
    ({'soft_contacts_yaml': '- {name: heel, frame: foot_0}'},
     "soft_contacts_yaml: soft contact 'heel': stiffness is missing; expected fields: name, frame"),
    ({'soft_contacts_yaml': '- {name: heel, frame: hand, stiffness: 3}'},
     "soft contact 'heel': frame: no frame 'hand'; the robot has: block, foot_0"),
    ({'soft_contacts_yaml': SOFT, 'touch_points': [1.0]},
     'touch_points has 1 entries; expected 6, three per soft contact'),
    ({'soft_contacts_yaml': SOFT, 'contact_frames': FEET}, "question 'soft_forces' does not read"),
    ({'soft_contacts_yaml': SOFT, 'question': 'support', 'contact_frames': FEET},
     "soft_contacts_yaml is given, but question 'support' does not read it"),
])
def test_bad_soft_contacts_are_refused(fields, words):
    node_state = node_state_of(BLOCK, base='floating')
    assert words in refused(node_state, 'contact_and_impact', position=SUNK, velocity=[0.0] * 6,
                            **{'question': 'soft_forces', **fields})


@pytest.mark.parametrize('e', [0.0, 0.6, 1.0])
def test_the_impact_of_a_block_follows_momentum_and_energy(e):
    """Momentum m v (1 + e), loss (1 - e^2) m v^2 / 2."""
    reply = block(velocity=(0.0, 0.0, -2.0, 0.0, 0.0, 0.0), question='impact', contact_frames=FEET,
                  friction=[0.5], restitution=[e])
    close(reply.velocity, [0.0, 0.0, 2.0 * e, 0.0, 0.0, 0.0])
    assert sum(each.force.z for each in reply.contact_wrenches) == pytest.approx(
        MASS * 2.0 * (1.0 + e))
    assert reply.energy_loss == pytest.approx((1.0 - e * e) * 0.5 * MASS * 4.0, abs=1e-9)
    close(reply.violations, np.zeros(12))


def test_an_impact_acts_through_the_loops():
    """The tool of the five-bar hits: both arms stop."""
    node_state, robot = node_state_at('five_bar')
    q, v = state_of(robot)
    reply = ask(node_state, 'contact_and_impact', question='impact', position=q, velocity=v,
                contacts_yaml='[{name: hit, kind: point_contact, frame: tool}]', restitution=[0.3])
    want = robot.impact(q, v, [Constraint('hit', 'point_contact', 'tool')], {'hit': 0.3})
    close(reply.velocity, want.v)
    close(reply.multipliers, want.impulse)
    assert reply.energy_loss == pytest.approx(float(want.energy_loss))
    close(robot.constraint_rows(q, v).A @ np.array(reply.velocity), np.zeros(2))


@pytest.mark.parametrize(('fields', 'words'), [
    ({'question': 'bounce'}, ["question is 'bounce'", 'forces, distribution, impact']),
    ({'contact_frames': []}, ['no contacts', 'contact_frames', 'contacts_yaml']),
    ({'contact_frames': ['hand']}, ["'hand'", 'foot_0']),
    ({'contact_frames': ['foot_0', 'foot_0']}, ["two constraints are called 'foot_0'"]),
    ({'contact_kinds': ['weld']}, ["contact_kinds has 'weld'", 'point_contact']),
    ({'contact_kinds': ['point_contact'] * 3}, ['contact_kinds has 3 entries', '2']),
    ({'friction': [0.1, 0.2, 0.3]}, ['friction has 3 entries', '2']),
    ({'friction': [-0.5]}, ['foot_0', 'friction']),
    ({'friction': [math.inf]}, ['foot_0', 'friction']),
    ({'restitution': [0.5]}, ['restitution is given', 'only impact']),
    ({'question': 'impact', 'restitution': [1.5]}, ['restitution is 1.5', '0, plastic']),
    ({'question': 'impact', 'restitution': [math.nan]}, ["restitution['foot_0'] is nan"]),
    ({'question': 'impact', 'restitution': [0.1] * 3}, ['restitution has 3 entries', '2']),
    ({'question': 'impact', 'effort': [0.0] * 6}, ['effort is given', 'only forces']),
    ({'question': 'distribution', 'choice': 'most'}, ["choice is 'most'", 'least_torque']),
    ({'question': 'distribution', 'choice': 'unique', 'contact_frames': FEET}, ['unique']),
    ({'choice': 'unique'}, ['choice is given', 'only distribution']),
    ({'question': 'distribution', 'force_weights': [1.0]}, ['force_weights has 1 entries', '6']),
    ({'contacts_yaml': '- [1, 2]'}, ['contacts_yaml: ']),
    ({'contacts_yaml': '- {name: a, kind: point_contact, frame: foot_0, friction: much}'},
     ['contacts_yaml: ', "'a'", 'friction']),
    ({'velocity': [0.0] * 5}, ['velocity has 5 entries']),
    ({'position': [*STANDING[:6], 2.0]}, ['quaternion']),
    ({'external_wrenches': [wrench('hand', PUSH)]}, ["'hand'", 'block'])])
def test_bad_contacts_are_refused_by_their_field(fields, words):
    """With the valid values."""
    node_state = node_state_of(BLOCK, base='floating')
    message = refused(node_state, 'contact_and_impact', **{
        'question': 'forces', 'position': STANDING, 'velocity': [0.0] * 6,
        'contact_frames': FEET[:2], **fields})
    assert [word for word in words if word not in message] == [], message


def test_constraints_of_a_request_are_not_compiled(monkeypatch):
    """Each anchor would need a kernel of its own; loops are compiled."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    monkeypatch.setattr(RobotKernels, 'request', lambda *_: None)
    asked = []
    monkeypatch.setattr(RobotKernels, 'kernel', lambda self, key: asked.append(key.constraints))
    node_state, robot = node_state_at('five_bar')
    state = {'position': [0.0] * 4, 'velocity': [0.0] * 4}
    ask(node_state, 'contact_and_impact', question='impact', contacts_yaml=ANCHORED, **state)
    forward = {'question': 'forward', 'effort': [0.0] * 4, **state}
    ask(node_state, 'constrained_dynamics', constraints_yaml=ANCHORED, **forward)
    ask(node_state, 'constrained_dynamics', constraint_names=['tip_x'], **forward)
    assert [each for each in asked if each] == []
    ask(node_state, 'constrained_dynamics', **forward)
    assert robot.loops.constraints in asked
