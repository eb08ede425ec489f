"""Test ~/constrained_dynamics: results of the library in the order of the reply; refusals."""

import math

import numpy as np
import pytest
from support.current_robots import acceleration_of, close, node_state_at, state_of
from support.node_states import ask, measure, node_state_of, refused, wrench
from support.reply_stamps import stamp_of
from support.tiny_robots import TWO_JOINTS

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.example_robots import MECHANISMS

PUSH = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
# beside the loops of the four-bar: its crank at a distance of a point of the world
ROD = {'name': 'rod', 'kind': 'distance', 'frame': 'crank', 'pose': [0, 0, 0.1],
       'to_pose': [0, 0, 0.4], 'distance': 0.3}
ROD_YAML = ('- {name: rod, kind: distance, frame: crank, pose: [0, 0, 0.1], to_pose: [0, 0, 0.4], '
            'distance: 0.3}')


@pytest.mark.parametrize('name', MECHANISMS)
def test_the_three_kernels_give_the_results_of_the_library(name):
    """With a wrench and in any order of joints; with row names and the report."""
    node_state, robot = node_state_at(name)
    q, v = state_of(robot)
    a = acceleration_of(robot, q, v)
    rng = np.random.default_rng(2)
    link = next(name for name in robot.frame_names if robot.model.frame(name).body >= 0)
    names = [str(name) for name in rng.permutation(robot.joint_names)]
    order = np.concatenate([np.arange(robot.nv)[robot.model.joint(name).v] for name in names])
    q_order = np.concatenate([np.arange(robot.nq)[robot.model.joint(name).q] for name in names])
    tau = rng.normal(size=robot.nv)
    state = {'joint_names': names, 'position': q[q_order], 'velocity': v[order],
             'external_wrenches': [wrench(link, PUSH)]}
    given = np.array([joint.name not in robot.loops.passive for joint in robot.model.joints
                      for _ in range(joint.v.stop - joint.v.start)])
    by_joint = [name not in robot.loops.passive for name in names]
    wrenches = {link: PUSH}
    cases = [
        (ask(node_state, 'constrained_dynamics', question='inverse', acceleration=a[order],
             **state),
         robot.constrained_inverse_dynamics(q, v, a, wrenches=wrenches)),
        (ask(node_state, 'constrained_dynamics', question='forward', effort=tau[order], **state),
         robot.constrained_forward_dynamics(q, v, tau, wrenches=wrenches)),
        (ask(node_state, 'constrained_dynamics', question='hybrid', acceleration=a[order],
             effort=tau[order], acceleration_given=by_joint, **state),
         robot.constrained_hybrid_dynamics(q, v, a, tau, given, wrenches=wrenches))]
    report = robot.constraint_report(q, v)
    for reply, want in cases:
        assert reply.joint_names == names
        assert reply.model_id == node_state.current_robot.model_id
        close(reply.acceleration, want.a[order])
        close(reply.effort, want.tau[order])
        close(reply.multipliers, want.multipliers)
        close(reply.position, q[q_order])
        close(reply.velocity, v[order])
        assert reply.row_names == list(report.rows)
        assert (reply.report.rank, reply.report.freedom, reply.report.actuated) == (
            report.rank, report.freedom, report.actuated)
        assert reply.report.redundant_rows == list(report.redundant)
        assert reply.report.clearance == pytest.approx(report.clearance)
        assert (reply.report.singular, reply.report.failure, reply.report.text) == (
            report.singular, report.failure, str(report))
        assert (reply.report.kind, reply.report.driven_kind) == (
            report.passive.kind, report.driven.kind)


@pytest.mark.parametrize('weighted', [False, True])
@pytest.mark.parametrize('choice', ['least_force', 'least_torque', 'weighted'])
def test_redundant_torques_of_hybrid_dynamics_are_chosen_by_the_request(choice, weighted):
    """Three joints of a five-bar are prescribed, their efforts are not unique."""
    node_state, robot = node_state_at('five_bar')
    q, v = state_of(robot)
    a, tau = acceleration_of(robot, q, v), np.array([0.0, 0.0, 0.0, 0.3])
    given = [True, True, True, False]
    weights = (np.array([1.0, 2.0, 0.5, 3.0]), np.array([0.1, 0.4])) if weighted else None
    fields = dict(zip(('effort_weights', 'force_weights'), weights or ([], [])))
    reply = ask(node_state, 'constrained_dynamics', question='hybrid', position=q, velocity=v,
                acceleration=a, effort=tau, acceleration_given=given, choice=choice, **fields)
    want = robot.constrained_hybrid_dynamics(q, v, a, tau, np.array(given), choice=choice,
                                             weights=weights)
    close(reply.effort, want.tau)
    close(reply.multipliers, want.multipliers)
    assert 'not unique' in refused(node_state, 'constrained_dynamics', question='hybrid',
                                   position=q, velocity=v, acceleration=a, effort=tau,
                                   acceleration_given=given, choice='unique')


def test_a_passive_joint_that_is_left_out_follows():
    """Hybrid dynamics of the crank alone: the other joints follow the loop, without effort."""
    node_state, robot = node_state_at('four_bar')
    q, v = state_of(robot)
    measure(node_state, q, v)
    reply = ask(node_state, 'constrained_dynamics', question='hybrid', joint_names=['crank_joint'],
                acceleration=[2.0], acceleration_given=[True])
    found = robot.constraint_rows(q, v)
    close(found.A @ reply.acceleration, -found.gamma)
    assert reply.acceleration[0] == 2.0
    close(reply.effort[1:], np.zeros(2))
    want = robot.constrained_inverse_dynamics(q, v, np.array(reply.acceleration))
    close(reply.effort, want.tau)


def test_measured_efforts_are_those_of_motors():
    """Those of passive joints are not measured: they are zero."""
    node_state, robot = node_state_at('four_bar')
    q, v = state_of(robot)
    measure(node_state, q, v)
    assert refused(node_state, 'constrained_dynamics', question='forward').startswith(
        'no effort of crank_joint:')
    measure(node_state, q, v, np.array([0.7, 0.0, 0.0]), joints=['crank_joint'])
    reply = ask(node_state, 'constrained_dynamics', question='forward')
    close(reply.acceleration,
          robot.constrained_forward_dynamics(q, v, np.array([0.7, 0.0, 0.0])).a)
    assert stamp_of(reply) != 0


def test_a_state_that_violates_the_loops_is_refused_or_projected():
    """The crank as requested, the other joints by the loop."""
    node_state, robot = node_state_at('four_bar')
    measure(node_state, np.zeros(3), np.zeros(3))
    request = {'question': 'inverse', 'joint_names': ['crank_joint'], 'position': [0.4],
               'velocity': [1.0], 'acceleration': [3.0]}
    message = refused(node_state, 'constrained_dynamics', **request)
    assert message.startswith("the position violates constraint row 'tip_")
    reply = ask(node_state, 'constrained_dynamics', project=True, **request)
    assert (reply.position[0], reply.velocity[0], reply.acceleration[0]) == (0.4, 1.0, 3.0)
    q, v, a = (np.array(x) for x in (reply.position, reply.velocity, reply.acceleration))
    found = robot.constraint_rows(q, v)
    close(found.residual, np.zeros(2))
    close(found.A @ v, np.zeros(2))
    close(found.A @ a + found.gamma, np.zeros(2))
    close(reply.effort, robot.constrained_inverse_dynamics(q, v, a).tau)
    close(reply.residuals, np.zeros(2))


def test_overdetermined_joints_are_refused():
    """Two joints of a mechanism with one freedom."""
    node_state, _ = node_state_at('four_bar')
    measure(node_state, np.zeros(3), np.zeros(3))
    names = {'joint_names': ['crank_joint', 'rocker_joint'], 'project': True, 'question': 'inverse'}
    assert refused(node_state, 'constrained_dynamics', position=[0.3, -0.3], velocity=[0.0, 0.0],
                   **names).startswith('no configuration near the given one')
    message = refused(node_state, 'constrained_dynamics', velocity=[1.0, -3.0], **names)
    assert message.startswith('velocity: the values of the named joints violate the')
    message = refused(node_state, 'constrained_dynamics', acceleration=[1.0, -3.0], **names)
    assert message.startswith('acceleration: the values of the named joints violate the')


def test_constraints_of_the_request_add_to_the_loops_or_replace_them():
    """A rod besides; a subset of the loops; none of them."""
    node_state, robot = node_state_at('four_bar')
    q, v = np.zeros(3), np.zeros(3)
    state = {'position': q, 'velocity': v, 'effort': np.array([0.5, 0.0, 0.0])}
    tip_x = robot.loops.constraints[0]
    rod = Constraint(**ROD)
    for request, held in [
            ({'constraints_yaml': ROD_YAML}, (*robot.loops.constraints, rod)),
            ({'constraints_yaml': f'constraints:\n{ROD_YAML}\n', 'ignore_loops': True}, (rod,)),
            ({'constraints_yaml': f'[{ROD_YAML[2:]}]', 'ignore_loops': True}, (rod,)),
            ({'constraint_names': ['tip_x']}, (tip_x,)),
            ({'constraint_names': ['tip_x'], 'constraints_yaml': ROD_YAML}, (tip_x, rod)),
            ({'ignore_loops': True}, ())]:
        reply = ask(node_state, 'constrained_dynamics', question='forward', **state, **request)
        want = robot.constrained_forward_dynamics(q, v, state['effort'], held)
        close(reply.acceleration, want.a)
        close(reply.multipliers, want.multipliers)
        assert len(reply.row_names) == len(want.multipliers)
    close(reply.acceleration, robot.forward_dynamics(q, v, state['effort']))
    assert reply.report.clearance == math.inf


@pytest.mark.parametrize('choice', ['least_force', 'least_torque', 'weighted'])
def test_choices_and_weights_of_redundant_motors_are_those_of_the_library(choice):
    """Every joint of the five-bar has a motor: two too many."""
    node_state, robot = node_state_at('five_bar')
    q, v = state_of(robot)
    a = acceleration_of(robot, q, v)
    torque, force = np.array([1.0, 4.0, 2.0, 0.5]), np.array([3.0, 0.2])
    names = list(reversed(robot.joint_names))
    state = {'question': 'inverse', 'joint_names': names, 'position': q[::-1],
             'velocity': v[::-1], 'acceleration': a[::-1], 'all_active': True}
    reply = ask(node_state, 'constrained_dynamics', choice=choice, effort_weights=torque[::-1],
                force_weights=force, **state)
    want = robot.constrained_inverse_dynamics(q, v, a, passive=(), choice=choice,
                                              weights=(torque, force))
    close(reply.effort, want.tau[::-1])
    close(reply.multipliers, want.multipliers)
    assert reply.report.redundant_motors == 2
    assert 'not unique' in refused(node_state, 'constrained_dynamics', choice='unique', **state)


def test_passive_joints_can_be_changed_and_have_springs():
    """The rocker drives, and the crank has a spring."""
    node_state, robot = node_state_at('four_bar')
    q, v = state_of(robot)
    a = acceleration_of(robot, q, v)
    passive = ['crank_joint', 'coupler_joint']
    spring = np.array([0.4, 0.0, 0.0])
    reply = ask(node_state, 'constrained_dynamics', question='inverse', position=q, velocity=v,
                acceleration=a, effort=spring, passive_joints=passive)
    want = robot.constrained_inverse_dynamics(q, v, a, passive=passive, passive_torques=spring)
    close(reply.effort, want.tau)
    assert reply.effort[0] == 0.4


def test_stabilisation_and_proximal_are_options_of_forward_dynamics():
    """Open loops close; a repeated constraint has bounded forces."""
    node_state, robot = node_state_at('four_bar')
    q, v, tau = np.array([0.01, 0.0, 0.0]), np.array([0.1, 0.0, 0.0]), np.array([0.2, 0.0, 0.0])
    state = {'question': 'forward', 'position': q, 'velocity': v, 'effort': tau}
    reply = ask(node_state, 'constrained_dynamics', stabilisation=[10.0, 20.0], **state)
    want = robot.constrained_forward_dynamics(q, v, tau, stabilisation=(10.0, 20.0))
    close(reply.acceleration, want.a)
    assert np.abs(reply.residuals).max() > 1e-4
    twice = ('{name: again, kind: point_on_plane, frame: coupler, to: rocker, pose: [0.3, 0, 0.16],'
             ' to_pose: [0, 0, 0.28], axis: [1, 0, 0]}')
    state.update(position=np.zeros(3), velocity=np.zeros(3), constraints_yaml=f'[{twice}]')
    exact = ask(node_state, 'constrained_dynamics', **state)
    assert (exact.report.redundant_rows, exact.report.rank) == (['again.n'], 2)
    reply = ask(node_state, 'constrained_dynamics', proximal=True,
                external_wrenches=[wrench('rocker', np.zeros(6))], **state)
    assert np.abs(np.array(reply.acceleration) - exact.acceleration).max() < 1e-6


def test_an_underactuated_motion_is_refused_with_the_loose_joints():
    """The message suggests hybrid dynamics."""
    node_state, robot = node_state_at('five_bar')
    q, v = state_of(robot)
    a = acceleration_of(robot, q, v)
    message = refused(node_state, 'constrained_dynamics', question='inverse', position=q,
                      velocity=v,
                      acceleration=a, passive_joints=list(robot.joint_names)[1:])
    assert message.startswith('under-actuated: rank(A_p) = 2 of 3') and 'hybrid' in message


FOUR = {'position': [0.0] * 3, 'velocity': [0.0] * 3}


@pytest.mark.parametrize(('fields', 'words'), [
    ({'question': 'backward'}, ["question is 'backward'", 'inverse, forward, hybrid']),
    ({'question': ''}, ["question is ''"]),
    ({'question': 'inverse', 'choice': 'cheapest'}, ["choice is 'cheapest'", 'least_torque']),
    ({'question': 'forward', 'choice': 'unique'}, ['choice is given', 'only inverse']),
    ({'question': 'inverse', 'proximal': True}, ['proximal is given', 'only forward']),
    ({'question': 'inverse', 'stabilisation': [1.0, 1.0]}, ['stabilisation', 'forward and hybrid']),
    ({'question': 'forward', 'acceleration': [0.0] * 3}, ['acceleration is given']),
    ({'question': 'inverse', 'acceleration_given': [True] * 3}, ['acceleration_given is given']),
    ({'question': 'forward', 'stabilisation': [1.0]}, ['stabilisation is [1.0]', 'alpha and beta']),
    ({'question': 'forward', 'stabilisation': [1.0, -1.0]}, ['stabilisation is']),
    ({'question': 'forward', 'stabilisation': [math.nan, 1.0]}, ['stabilisation is']),
    ({'question': 'inverse', 'constraint_names': ['tip']}, ["'tip'", 'tip_x', 'tip_z']),
    ({'question': 'inverse', 'constraint_names': ['tip_x', 'tip_x']}, ["'tip_x' twice"]),
    ({'question': 'inverse', 'constraint_names': ['tip_x'], 'ignore_loops': True},
     ['constraint_names', 'ignore_loops']),
    ({'question': 'inverse', 'passive_joints': ['elbow']}, ["'elbow'", 'crank_joint']),
    ({'question': 'forward', 'passive_joints': ['elbow']}, ["'elbow'", 'crank_joint']),
    ({'question': 'inverse', 'passive_joints': ['crank_joint'], 'all_active': True},
     ['passive_joints', 'all_active']),
    ({'question': 'inverse', 'effort_weights': [1.0]}, ['effort_weights has 1 entries', '3']),
    ({'question': 'inverse', 'effort_weights': [1.0, -1.0, 1.0]}, ['effort_weights is', 'zero']),
    ({'question': 'inverse', 'effort_weights': [1.0, math.nan, 1.0]}, ['effort_weights[1] is nan']),
    ({'question': 'inverse', 'effort_weights': [1.0] * 6}, ['effort_weights has 6', 'expected 3']),
    ({'question': 'inverse', 'force_weights': [1.0]}, ['force_weights has 1 entries', '2']),
    ({'question': 'inverse', 'force_weights': [-1.0, 1.0]}, ['force_weights is', 'zero']),
    ({'question': 'inverse', 'force_weights': [math.inf, 1.0]}, ['force_weights is', 'finite']),
    ({'question': 'inverse', 'effort': [1.0] * 2}, ['effort has 2 entries']),
    ({'question': 'inverse', 'acceleration': [1.0] * 6}, ['acceleration has 6 entries']),
    ({'question': 'inverse', 'constraints_yaml': '{'}, ['constraints_yaml: ', 'not valid YAML']),
    ({'question': 'inverse', 'constraints_yaml': 'rod'}, ['constraints_yaml: ', 'expected']),
    ({'question': 'inverse', 'constraints_yaml': '- {name: rod, kind: rope, frame: crank}'},
     ['constraints_yaml: ', "'rod'", 'rope', 'weld']),
    ({'question': 'inverse', 'constraints_yaml': '- {name: rod, kind: weld, frame: hand}'},
     ["'rod'", "'hand'", 'coupler']),
    ({'question': 'inverse', 'constraints_yaml': '- {name: tip_x, kind: weld, frame: crank}'},
     ["two constraints are called 'tip_x'"]),
    ({'question': 'inverse', 'constraints_yaml': f'constraints:\n{ROD_YAML}\npassive: [x]'},
     ['constraints_yaml has passive: x'])])
def test_invalid_requests_are_refused_by_field(fields, words):
    """With the valid values."""
    node_state, _ = node_state_at('four_bar')
    message = refused(node_state, 'constrained_dynamics', **{'effort': [0.0] * 3, **FOUR, **fields})
    assert [word for word in words if word not in message] == [], message


def test_a_robot_without_loops_gives_the_results_of_a_tree():
    """Inverse dynamics is that of the tree."""
    node_state = node_state_of(TWO_JOINTS)
    reply = ask(node_state, 'constrained_dynamics', question='inverse', position=[0.1, 0.2],
                velocity=[0.3, 0.4], acceleration=[0.5, 0.6])
    close(reply.effort, node_state.robot.inverse_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]))
    assert (reply.row_names, reply.report.rank, reply.report.freedom) == ([], 0, 2)
