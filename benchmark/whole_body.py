"""Measure one step of the whole-body problem, and the share of its QP."""

import time

import numpy as np
from constraints import FEET, bend_knees
from robots import urdf
from startup import Cost
from timing import loop, take_turns

from dynamics_node import Robot
from dynamics_node.spatial import so3
from dynamics_node.task_space import whole_body
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.tasks import Task

NAMES = ('solo12', 'panda', 'talos')
FRAMES = {'solo12': 'base_link', 'panda': 'panda_hand'}
STATES = 16
LEVELS = {'one QP': (1, 1, 1), 'three strict levels': (1, 2, 3)}
# Greatest times of a step [us]. A controller at 1 kHz has 1000.
BARS = {('solo12', 'one QP'): 120.0, ('solo12', 'three strict levels'): 300.0,
        ('talos', 'one QP'): 400.0}
BAR = 1000.0
SOLES = {'left_sole_link': (0.1, 0.06), 'right_sole_link': (0.1, 0.06)}  # half sizes [m]


def measure(name, turns, tick):
    """Return the Costs of a whole step, and of its QP."""
    robot, steps, bounds = problem_of(name)
    runs = {}
    for label, levels in LEVELS.items():
        states = [(q, v, tasks(levels)) for q, v, tasks in steps]
        for q, v, todo in states:
            if robot.whole_body(q, v, todo, bounds=bounds).status != 'solved':
                raise AssertionError(f'{name}: a problem of the benchmark has no solution')
        while robot.compiling:  # the kernel of these tasks, requested by the first call
            time.sleep(0.1)
        runs[label] = loop('q, v, tasks in states', 'step(q, v, tasks, None, bounds)',
                           step=robot.whole_body, states=states, bounds=bounds)
    problems = _caught(robot, [(q, v, tasks(LEVELS['one QP'])) for q, v, tasks in steps], bounds)
    runs['the QP'] = loop('given, named in problems', 'solve(*given, **named)', problems=problems,
                          solve=whole_body.solve_qp)
    seconds = take_turns(runs, turns, tick)
    best = {label: min(times) / len(steps) * 1e6 for label, times in seconds.items()}
    return [*(Cost(f'{name}: {label}, dynamics and all', best[label], 'us',
                   BARS.get((name, label), BAR)) for label in LEVELS),
            Cost(f'{name}:   of it solving the one QP', best['the QP'], 'us', None)]


def problem_of(name):
    """Return (robot, [(q, v, tasks of levels)], bounds); 8 of the 16 quadrupeds touch bounds."""
    rng = np.random.default_rng(1)
    if name == 'talos':
        return _humanoid(rng)
    standing = name == 'solo12'
    robot = Robot.from_urdf(urdf(name), base='floating' if standing else 'fixed', friction=False,
                            loops=[_rough(foot) for foot in FEET] if standing else None)
    robot.compile(wait=True, frames=[FRAMES[name]], constraints=robot.loops.constraints or None)
    bounds = (Bound('torque', limit=2.7 if standing else None), Bound('friction'),
              Bound('joint_limits', step=0.001, limit=200.0))
    return robot, [_state(robot, rng, FRAMES[name], standing) for _ in range(STATES)], bounds


def _humanoid(rng):
    """Return (robot, [(q, v, tasks of levels)], bounds) of TALOS on two flat feet."""
    robot = Robot.from_urdf(urdf('talos'), base='floating', friction=False,
                            loops=[{'name': sole, 'kind': 'flat_contact', 'frame': sole,
                                    'friction': 0.6} for sole in SOLES])
    robot.compile(wait=True, frames=list(SOLES), constraints=robot.loops.constraints)
    bounds = Bound('torque'), Bound('friction', sizes=SOLES)
    return robot, [_stance(robot, rng) for _ in range(STATES)], bounds


def _stance(robot, rng):
    q = robot.neutral()
    bend_knees(robot, q)
    q = robot.integrate(q, rng.uniform(-0.02, 0.02, robot.nv))
    v = robot.project_velocity(q, 0.05 * rng.normal(size=robot.nv))
    aim = robot.center_of_mass(q) + 0.005 * rng.normal(size=3)
    poses = {sole: robot.frame_pose(q, sole) for sole in SOLES}

    def tasks(levels):
        return (Task('com', 'center_of_mass', levels[0], position=aim),
                *(Task(sole, 'frame', levels[0], frame=sole,
                       position=(*pose[:3, 3], *so3.to_quaternion(pose[:3, :3])))
                  for sole, pose in poses.items()),
                Task('posture', 'posture', levels[1], 0.01, position=q[7:], stiffness=10.0),
                Task('torque', 'torque', levels[2], 1e-6), Task('force', 'force', levels[2], 1e-6))
    return q, v, tasks


def _rough(foot):
    return {'name': foot.name, 'kind': foot.kind, 'frame': foot.frame, 'friction': 0.6}


def _state(robot, rng, frame, standing):
    if standing:
        q = robot.integrate(robot.neutral(), rng.uniform(-0.1, 0.1, robot.nv))
        q[7:] += np.tile([0.0, 0.8, -1.6], 4) * np.repeat([1.0, 1.0, -1.0, -1.0], 3)
        v = robot.project_velocity(q, 0.2 * rng.normal(size=robot.nv))
    else:
        q, v = robot.random_configuration(rng), 0.2 * rng.normal(size=robot.nv)
    pose = robot.frame_pose(q, frame)
    goal = (*pose[:3, 3] + 0.02 * rng.normal(size=3), *so3.to_quaternion(pose[:3, :3]))
    joints = q[7:] if standing else q

    def tasks(levels):
        return (Task('frame', 'frame', levels[0], frame=frame, position=goal),
                Task('posture', 'posture', levels[1], 0.01, position=joints, stiffness=10.0),
                Task('torque', 'torque', levels[2], 1e-4), Task('force', 'force', levels[2], 1e-4))
    return q, v, tasks


def _caught(robot, states, bounds):
    """Return the arguments with which the QP solver is called."""
    problems, solve = [], whole_body.solve_qp

    def spy(*given, **named):
        problems.append((given, named))
        return solve(*given, **named)
    whole_body.solve_qp = spy
    try:
        for q, v, tasks in states:
            robot.whole_body(q, v, tasks, bounds=bounds)
    finally:
        whole_body.solve_qp = solve
    if len(problems) != len(states):
        raise AssertionError('a single level should be one QP')
    return problems


if __name__ == '__main__':
    for which in NAMES:
        for row in measure(which, 30, lambda _: None):
            print(f'{row.what:50} {row.value:8.1f} {row.unit}')
