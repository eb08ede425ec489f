"""Test task control at the node_state: the library's numbers, checked by other services."""

import numpy as np
import pytest
from support.current_robots import close, node_state_at, state_of
from support.differences import relative
from support.node_states import ask, node_state_of, scene, tree_scene, wrench
from support.random_trees import one_of_each_sort
from support.tiny_robots import TWO_JOINTS
from support.tolerances import SOLVED

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.example_robots import ARM7
from dynamics_node.msg import Task, TaskBound
from dynamics_node.task_space import bounds as bounds_data
from dynamics_node.task_space import tasks as tasks_data

PUSH = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
SOLE = '- {name: sole, kind: flat_contact, frame: base, friction: 0.6}'
TURNED = [0.1, 0.2, 0.3, 0.0, 0.6, 0.0, 0.8]


def errors_of(reply):
    return {each.name: np.array(each.error) for each in reply.errors}


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_the_result_is_that_of_the_library_in_the_order_of_the_reply(tree):
    """Every kind of task and bound; arrays over joints are in the order of the reply."""
    s = tree_scene(tree)
    names, model = s.some_joints(), s.robot.model
    order = s.of(s.reply_order(names), np.arange(s.robot.nv))
    one_axis = [joint.name for joint in model.joints if joint.v.stop - joint.v.start == 1]
    goal = {name: float(s.rng.normal()) for name in one_axis}
    frame = s.robot.frame_names[-1]
    torque, limit = s.rng.normal(size=s.robot.nv), 500.0 + 500.0 * s.rng.random(s.robot.nv)
    reply = ask(s.node_state, 'task_control', joint_names=names, tasks=[
        Task(name='tip', kind='frame', frame=frame, position=TURNED, axes=['x', 'rz'],
             velocity=[0.1] * 6, acceleration=[0.2] * 6, stiffness=50.0, damping=[3.0]),
        Task(name='pose', kind='posture', level=2, weight=2.0, position=[
            goal[name] for name in s.reply_order(names) if name in goal]),
        Task(name='balance', kind='center_of_mass', level=2, position=[0.1, 0.2, 0.3]),
        Task(name='work', kind='torque', level=2, weight=0.1, value=torque[order])],
        bounds=[TaskBound(kind='torque', limit=limit[order]),
                TaskBound(kind='acceleration', limit=[1e4])],
        external_wrenches=[wrench(frame, PUSH)])
    want = s.robot.whole_body(s.q, s.v, [
        tasks_data.Task('tip', 'frame', frame=frame, position=TURNED, axes=('x', 'rz'),
                        velocity=[0.1] * 6, acceleration=[0.2] * 6, stiffness=50.0, damping=3.0),
        tasks_data.Task('pose', 'posture', 2, 2.0, joints=tuple(one_axis),
                        position=[goal[name] for name in one_axis]),
        tasks_data.Task('balance', 'center_of_mass', 2, position=(0.1, 0.2, 0.3)),
        tasks_data.Task('work', 'torque', 2, 0.1, value=torque)],
        bounds=(bounds_data.Bound('torque', limit), bounds_data.Bound('acceleration', 1e4)),
        wrenches={frame: PUSH})
    assert (reply.status, reply.conflict, reply.row_names) == ('solved', [], [])
    assert reply.joint_names == s.reply_order(names)
    assert reply.active == list(want.active)
    assert relative(reply.effort, want.torque[order]) < SOLVED
    assert relative(reply.acceleration, want.acceleration[order]) < SOLVED
    errors = errors_of(reply)
    assert list(errors) == ['tip', 'pose', 'balance', 'work']
    for name in ('tip', 'balance'):
        assert relative(errors[name], want.errors[name]) < SOLVED
    by_joint = dict(zip(one_axis, want.errors['pose']))
    assert relative(errors['pose'], [by_joint[name] for name in s.reply_order(names)
                                     if name in by_joint]) < SOLVED
    driven = [k for k in order if want.torque[k] != 0.0]
    assert relative(errors['work'], (want.torque - torque)[driven]) < SOLVED


def test_the_torques_give_the_wanted_acceleration():
    """By forward dynamics, of the hand."""
    s = scene(ARM7.read_text())
    state = {'position': [0.3, 0.6, -0.2, -1.2, 0.4, 0.9, 0.1], 'velocity': s.v}
    wanted = s.rng.normal(size=6)
    reply = ask(s.node_state, 'task_control', unbounded=True, tasks=[
        Task(name='hand', kind='frame', level=0, frame='tool0', acceleration=wanted,
             stiffness=0.0),
        Task(name='least torque', kind='torque')], **state)
    a = ask(s.node_state, 'forward_dynamics', effort=reply.effort, **state).acceleration
    assert relative(a, reply.acceleration) < SOLVED
    seen = ask(s.node_state, 'operational_space', frames=['tool0'], **state)
    moved = np.reshape(seen.jacobian, (6, 7)) @ a + seen.bias_acceleration
    assert relative(moved, wanted) < SOLVED
    assert relative(errors_of(reply)['hand'], np.zeros(6)) < SOLVED
    assert relative(errors_of(reply)['least torque'], reply.effort) < SOLVED


def test_contacts_of_the_request_carry_the_robot():
    """A floating base stands on its sole: constrained dynamics agrees."""
    s = scene(TWO_JOINTS, base='floating')
    names = ['elbow', 'floating_base', 'shoulder']
    v = np.array([*np.zeros(6), 0.3, -0.4])
    state = {'joint_names': names, 'position': s.of(names, s.q, 'q'), 'velocity': s.of(names, v),
             'constraints_yaml': SOLE}
    reply = ask(s.node_state, 'task_control', unbounded=True, tasks=[
        Task(name='pose', kind='posture', level=0, joints=['elbow', 'shoulder'],
             position=[0.5, -0.5])], **state)
    assert reply.row_names == [f'sole.{row}' for row in ('x', 'y', 'z', 'rx', 'ry', 'rz')]
    held = ask(s.node_state, 'constrained_dynamics', question='forward', effort=reply.effort,
               **state)
    close(reply.acceleration, held.acceleration)
    close(reply.multipliers, held.multipliers)
    joints = np.array(reply.acceleration)[[0, 7]]
    q, damping = s.q[[8, 7]], 20.0
    close(joints, 100.0 * (np.array([0.5, -0.5]) - q) - damping * v[[7, 6]])
    assert np.abs(np.array(reply.effort)[1:7]).max() == 0.0


def test_loops_can_be_switched_off_and_passive_joints_have_no_torque():
    """As for constrained dynamics."""
    node_state, robot = node_state_at('four_bar')
    q, v = state_of(robot)
    crank = Task(name='turn', kind='posture', joints=['crank_joint'], acceleration=[2.0],
                 stiffness=0.0)
    state = {'position': q, 'velocity': v, 'tasks': [crank], 'unbounded': True}
    closed = ask(node_state, 'task_control', **state)
    want = robot.whole_body(q, v, [tasks_data.Task('turn', 'posture', joints=('crank_joint',),
                                                   acceleration=(2.0,), stiffness=0.0)], bounds=())
    close(closed.effort, want.torque)
    close(closed.multipliers, np.concatenate(list(want.forces.values())))
    assert closed.effort[1:].tolist() == [0.0, 0.0]
    assert ask(node_state, 'task_control', constraint_names=['tip_x'],
               **state).row_names == ['tip_x.n']
    open_tree = ask(node_state, 'task_control', ignore_loops=True, all_active=True, **state)
    a = ask(node_state, 'forward_dynamics', position=q, velocity=v,
            effort=open_tree.effort).acceleration
    close(a, open_tree.acceleration)
    apart = q + [0.01, 0.0, 0.0]
    steady = ask(node_state, 'task_control', **{**state, 'position': apart}, stabilisation=[10.0,
                                                                                            10.0])
    close(steady.effort, robot.whole_body(
        apart, v, [tasks_data.Task('turn', 'posture', joints=('crank_joint',),
                                   acceleration=(2.0,), stiffness=0.0)], bounds=(),
        stabilisation=(10.0, 10.0)).torque)


def test_conflicts_are_named_and_no_torque_is_returned():
    """Two hard tasks; a torque bound that is too low for one."""
    s = scene(TWO_JOINTS)
    left, right = (Task(name=name, kind='posture', level=0, joints=['elbow'],
                        acceleration=[a], stiffness=0.0) for name, a in (('left', 1.0),
                                                                         ('right', -1.0)))
    reply = ask(s.node_state, 'task_control', tasks=[left, right], unbounded=True)
    assert (reply.success, reply.status) == (True, 'infeasible')
    assert sorted(reply.conflict) == ["task 'left'", "task 'right'"]
    strong = Task(name='jump', kind='posture', level=0, joints=['elbow'], acceleration=[1e4])
    weak = ask(s.node_state, 'task_control', tasks=[strong])
    assert "task 'jump'" in weak.conflict and 'torque of elbow' in weak.conflict
    for each in (reply, weak):
        assert not (len(each.effort) or len(each.acceleration) or each.errors or each.row_names)


def test_bounds_are_kept_and_active_ones_are_named():
    """The URDF's by default, others in the order of the reply, soft ones, limits of joints."""
    s = scene(TWO_JOINTS)
    state = {'joint_names': ['elbow', 'shoulder'], 'position': [0.1, 0.2], 'velocity': [0.0, 0.0],
             'tasks': [Task(name='jump', kind='posture', acceleration=[1e4, -1e4])]}
    reply = ask(s.node_state, 'task_control', **state)
    assert np.abs(reply.effort).max() <= 50.0 * (1.0 + SOLVED)
    assert set(reply.active) & {'torque of elbow', 'torque of shoulder'}
    reply = ask(s.node_state, 'task_control', bounds=[TaskBound(kind='torque', limit=[3.0, 40.0])],
                **state)
    assert abs(reply.effort[0]) <= 3.0 * (1.0 + SOLVED) < abs(reply.effort[1])
    reply = ask(s.node_state, 'task_control', bounds=[TaskBound(kind='acceleration', limit=[7.0])],
                **state)
    close(reply.acceleration, [7.0, -7.0])
    reply = ask(s.node_state, 'task_control', bounds=[
        TaskBound(kind='joint_limits', limit=[20.0], step=0.01)], **state)
    assert sorted(reply.active) == ['limits of elbow', 'limits of shoulder']
    soft = ask(s.node_state, 'task_control', bounds=[
        TaskBound(kind='torque', limit=[1e-3], level=1), TaskBound(kind='torque')], **state)
    assert soft.status == 'solved'


def test_the_centre_of_pressure_stays_on_a_sole_of_known_size():
    """Half sizes of the request: without them the base tips over its edge."""
    node_state = node_state_of(TWO_JOINTS, base='floating')
    state = {'position': [0.0] * 6 + [1.0, 0.0, 0.0], 'velocity': [0.0] * 8,
             'constraints_yaml': SOLE, 'tasks': [
                 Task(name='swing', kind='posture', acceleration=[30.0, 30.0], stiffness=0.0)]}

    def pressure(bound):
        reply = ask(node_state, 'task_control', bounds=[bound], **state)
        assert reply.status == 'solved'
        fz, mx, my = (reply.multipliers[k] for k in (2, 3, 4))
        return np.array([-my / fz, mx / fz])
    sole = TaskBound(kind='friction', sides=8, contacts=['sole'], sizes=[0.05, 0.04])
    assert (np.abs(pressure(sole)) <= np.array([0.05, 0.04]) * (1.0 + SOLVED)).all()
    assert (np.abs(pressure(TaskBound(kind='friction'))) > [0.05, 0.04]).any()


def test_a_contact_given_in_yaml_is_that_of_the_library():
    """Forces in its rows; a force task prescribes them."""
    s = scene(TWO_JOINTS, base='floating')
    q, v = s.q, np.zeros(8)
    sole = Constraint('sole', 'flat_contact', 'base', friction=0.6)
    value = [0.0, 0.0, 80.0, 0.0, 0.0, 0.0]
    reply = ask(s.node_state, 'task_control', position=q, velocity=v, constraints_yaml=SOLE, tasks=[
        Task(name='press', kind='force', contact='sole', value=value)])
    want = s.robot.whole_body(q, v, [tasks_data.Task('press', 'force', contact='sole',
                                                     value=value)], [sole])
    assert reply.status == want.status == 'solved'
    close(reply.multipliers, want.forces['sole'])
    close(errors_of(reply)['press'], np.array(reply.multipliers) - value)
