"""Test the compiled whole-body problem against the NumPy path, which other tests verify."""

import time

import numpy as np
import pytest
from support.real_robots import ROBOTS
from support.standing_robots import BOUNDS, FEET, solo12, state, tasks

from dynamics_node import Robot
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.errors import DynamicsError
from dynamics_node.example_robots import ARM7
from dynamics_node.spatial import so3
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.tasks import Task

# Two routes to the optimum: torques, or accelerations and forces with equations. The tasks of least
# weight, 1e-4, fix the inner forces, so that the error of the QP is multiplied by 1e4.
SAME = 1e-7
pytestmark = pytest.mark.usefixtures('kernels')
LIMITS = Bound('joint_limits', limit=20.0, step=0.01)


def compiled(robot, *given, **named):
    """Return whole_body by the kernel, which is awaited."""
    robot.whole_body(*given, **named)
    while robot.compiling:
        time.sleep(0.01)
    assert robot.compile_failures == []
    return robot.whole_body(*given, **named)


def by_kernel(robot, monkeypatch):
    """Make the NumPy path of a robot fail: what is then returned comes from the kernel."""
    def never(*_):
        raise AssertionError('the NumPy path was taken')
    monkeypatch.setattr('dynamics_node.task_space.whole_body.whole_body', never)


def assert_same(one, other, within=SAME):
    assert one.status == other.status == 'solved'
    assert one.active == other.active
    pairs = [(one.acceleration, other.acceleration), (one.torque, other.torque),
             *((one.forces[name], other.forces[name]) for name in other.forces),
             *((one.errors[name], other.errors[name]) for name in other.errors)]
    assert list(one.forces) == list(other.forces) and list(one.errors) == list(other.errors)
    for mine, theirs in pairs:
        assert mine.shape == theirs.shape
        assert np.abs(mine - theirs).max(initial=0.0) <= within * (
            1.0 + np.abs(theirs).max(initial=0.0))


@pytest.fixture(scope='module')
def quadruped(kernels):
    path = next(robot.path for robot in ROBOTS if str(robot) == 'solo12')
    return Robot.from_urdf(path, base='floating', friction=False)


@pytest.mark.parametrize('levels', [(1, 1, 1), (1, 2, 3)], ids=['weighted', 'strict'])
def test_a_quadruped_gets_the_same_torques(quadruped, monkeypatch, levels):
    """Of calm and of violent tasks, which touch bounds; one kernel serves all their levels."""
    q, v = state(0)
    compiled(quadruped, q, v, tasks(q, 0), FEET, (*BOUNDS, LIMITS))
    pairs = []
    for seed in range(6):
        q, v = state(seed)
        todo = tasks(q, seed, levels, 1.0 + 59.0 * (seed % 2))
        pairs.append((q, v, todo, solo12().whole_body(q, v, todo, FEET, (*BOUNDS, LIMITS))))
    pairs = [pair for pair in pairs if pair[-1].status == 'solved']  # not all keep the limits
    assert len(pairs) >= 3
    by_kernel(quadruped, monkeypatch)
    for q, v, todo, expected in pairs:
        assert_same(quadruped.whole_body(q, v, todo, FEET, (*BOUNDS, LIMITS)), expected)
    assert {name for *_, expected in pairs for name in expected.active}


ARM_TASKS = {
    'strict frame, then posture': lambda q, p: (
        Task('hand', 'frame', 0, frame='link_7', axes=('x', 'z', 'ry'), position=p,
             velocity=[0.1] * 6, damping=3.0),
        Task('rest', 'posture', 1, position=q + 0.1, acceleration=0.1 * q)),
    'two levels of a frame and the centre of mass': lambda q, p: (
        Task('com', 'center_of_mass', 2, axes=('z', 'x'), position=p[:3]),
        Task('hand', 'frame', 1, frame='link_7', axes=('rz', 'y'), position=p),
        Task('still', 'center_of_mass', 3)),
    'some joints and the least torque': lambda q, p: (
        Task('some', 'posture', 1, 2.0, joints=('joint_4', 'joint_2'), position=(0.1, 0.2)),
        Task('least', 'torque', 1, 1e-3, value=0.1 * q)),
    'no position': lambda q, p: (Task('slow', 'frame', 1, frame='link_7', damping=5.0),),
}
ARM_BOUNDS = {
    'torques': (Bound('torque', limit=30.0),),
    'soft accelerations': (Bound('torque'), Bound('acceleration', limit=0.5, level=2)),
    'torques named last': (Bound('acceleration', limit=0.5, level=2),
                           Bound('torque', limit=8.0, level=2)),
    'joint limits': (LIMITS,),
    'none': (),
}


@pytest.mark.parametrize('bounds', ARM_BOUNDS.values(), ids=ARM_BOUNDS)
@pytest.mark.parametrize('make', ARM_TASKS.values(), ids=ARM_TASKS)
def test_an_arm_gets_the_same_torques(monkeypatch, make, bounds):
    """All kinds of tasks and bounds, some axes, some levels, gains and weights."""
    fast, slow = Robot.from_urdf(ARM7), Robot.from_urdf(ARM7, compile=False)
    rng = np.random.default_rng(3)
    q, v = 0.5 * rng.normal(size=(2, fast.nv))
    todo = make(q, _pose(slow, q, rng))
    compiled(fast, q, v, todo, bounds=bounds)
    states = [(0.5 * rng.normal(size=7), 0.1 * rng.normal(size=7)) for _ in range(3)]
    states = [(q, v, make(q, _pose(slow, q, rng))) for q, v in states]
    expected = [slow.whole_body(q, v, todo, bounds=bounds) for q, v, todo in states]
    solved = [pair for pair in zip(states, expected) if pair[1].status == 'solved']
    assert solved  # a strict task may contradict the joint limits
    by_kernel(fast, monkeypatch)
    for (q, v, todo), known in solved:
        assert_same(fast.whole_body(q, v, todo, bounds=bounds), known)


def _pose(robot, q, rng):
    """Return a pose near that of the hand, in the numbers of a Task."""
    T = robot.frame_pose(q, 'link_7')
    R = so3.exp(0.1 * rng.normal(size=3)) @ T[:3, :3]
    return (*T[:3, 3] + 0.02 * rng.normal(size=3), *so3.to_quaternion(R))


def test_payloads_wrenches_and_gravity_are_inputs(monkeypatch):
    """The payload and the wrench change the torques as on the NumPy path."""
    fast, slow = (Robot.from_urdf(ARM7, compile=on, gravity=(1.0, 2.0, -9.0)).with_payload(
        'box', 'link_7', 2.0, (0.1, 0.0, 0.05)) for on in (True, False))
    rng = np.random.default_rng(4)
    q, v = 0.5 * rng.normal(size=(2, 7))
    todo = (Task('rest', 'posture', position=q + 0.1),)
    wrenches = {'link_5': rng.normal(size=6)}
    for external in (None, wrenches):
        compiled(fast, q, v, todo, wrenches=external)
    expected = [slow.whole_body(q, v, todo, wrenches=external) for external in (None, wrenches)]
    assert np.abs(expected[0].torque - expected[1].torque).max() > 0.1
    by_kernel(fast, monkeypatch)
    for external, known in zip((None, wrenches), expected):
        assert_same(fast.whole_body(q, v, todo, wrenches=external), known)


def test_loops_are_stabilised(monkeypatch):
    """The rates of Baumgarte are inputs; the residual of an anchored contact enters."""
    anchored = [Constraint('tip', 'point_contact', 'link_7', to_pose=(0.3, 0.1, 0.4))]
    fast, slow = (Robot.from_urdf(ARM7, compile=on) for on in (True, False))
    q, v = 0.5 * np.random.default_rng(5).normal(size=(2, 7))
    todo = (Task('rest', 'posture', position=0.9 * q), Task('force', 'force', 1, 1e-3))
    compiled(fast, q, v, todo, anchored)
    expected = [slow.whole_body(q, v, todo, anchored, stabilisation=rates)
                for rates in (None, (3.0, 5.0))]
    assert np.abs(expected[0].torque - expected[1].torque).max() > 0.1
    by_kernel(fast, monkeypatch)
    for rates, known in zip((None, (3.0, 5.0)), expected):
        assert_same(fast.whole_body(q, v, todo, anchored, stabilisation=rates), known)


def test_dependent_rows_are_solved_in_numpy():
    """One contact twice: its forces are not unique, the smallest ones are returned."""
    twice = [Constraint(name, 'point_contact', 'link_7') for name in ('one', 'two')]
    fast, slow = (Robot.from_urdf(ARM7, compile=on) for on in (True, False))
    q, v = 0.5 * np.random.default_rng(6).normal(size=(2, 7))
    v = slow.project_velocity(q, v, twice)
    todo = (Task('rest', 'posture', position=0.9 * q),)
    assert_same(compiled(fast, q, v, todo, twice), slow.whole_body(q, v, todo, twice))


def test_a_conflict_is_named():
    """Where there is no solution the reason is that of the NumPy path."""
    fast, slow = (Robot.from_urdf(ARM7, compile=on) for on in (True, False))
    q, v = np.full(7, 0.3), np.zeros(7)
    todo = (Task('leap', 'posture', 0, acceleration=np.full(7, 1e4)),)
    found, expected = compiled(fast, q, v, todo), slow.whole_body(q, v, todo)
    assert found.status == expected.status == 'infeasible' and found.conflict == expected.conflict


@pytest.mark.parametrize('change', [
    {'q': np.full(7, np.nan)}, {'v': np.full(7, np.inf)}, {'q': np.zeros(6)}, {'q': 'north'},
    {'tasks': [None]}, {'tasks': 3}, {'bounds': ['torque']}, {'bounds': [{}]},
    {'tasks': [Task('a', 'torque'), Task('a', 'torque')]},
    {'tasks': [Task('a', 'frame', frame='nowhere')]}, {'tasks': [Task('a', 'force', contact='x')]},
    {'tasks': [Task('a', 'posture', joints=['x'])]}, {'tasks': [Task('a', 'torque', value=[1.0])]},
    {'q': ['0'] * 7}, {'v': np.zeros(7, complex)}, {'v': np.zeros(7, 'm8[s]')},
    {'wrenches': {'nowhere': np.zeros(6)}}, {'wrenches': {'link_5': np.zeros((3, 6))}},
    {'stabilisation': (-1.0, 1.0)},
    {'bounds': [Bound('acceleration', limit=(1.0, 2.0))]}])
def test_wrong_arguments_raise_the_same_errors(change):
    """With and without the kernel."""
    fast, slow = (Robot.from_urdf(ARM7, compile=on) for on in (True, False))
    named = {'q': np.zeros(7), 'v': np.zeros(7), 'tasks': [Task('rest', 'posture')]}
    compiled(fast, **named)
    messages = []
    for robot in (fast, slow):
        with pytest.raises(DynamicsError) as caught:
            robot.whole_body(**{**named, **change})
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_lists_and_strided_arrays_are_taken(monkeypatch):
    """As everywhere: converted, not refused."""
    fast, slow = (Robot.from_urdf(ARM7, compile=on) for on in (True, False))
    q, v = 0.5 * np.random.default_rng(7).normal(size=(2, 7))
    todo = [Task('rest', 'posture', position=0.9 * q)]
    expected = slow.whole_body(q, v, todo)
    assert_same(compiled(fast, list(q), list(v), todo), expected)
    assert_same(fast.whole_body(np.repeat(q, 2)[::2], np.repeat(v, 2)[::2], todo), expected)


def test_two_bounds_of_joint_limits_are_solved_in_numpy():
    """The kernel has the limits of one such bound."""
    fast, slow = (Robot.from_urdf(ARM7, compile=on) for on in (True, False))
    q, v = 0.5 * np.random.default_rng(8).normal(size=(2, 7))
    todo, bounds = [Task('rest', 'posture')], (LIMITS, Bound('joint_limits', limit=1.0, step=0.1))
    assert_same(fast.whole_body(q, v, todo, bounds=bounds),
                slow.whole_body(q, v, todo, bounds=bounds))
