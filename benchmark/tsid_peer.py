"""Compare one step of the whole-body problem with one of tsid, on the same problems.

python benchmark/tsid_peer.py [ROBOT ...]

tsid needs a virtual environment of its own, whose Python is named by the environment variable
TSID_PYTHON: pip install tsid==1.7.1 pin==3.4.0 'cmeel-urdfdom<5' 'cmeel-tinyxml2<11' (Python 3.11).
It has one level of weighted tasks below the strict one; so there is no row of three strict levels.

Both have the same tasks, torque limits, and per point contact a pyramid of four sides and the sign
of the normal force; both start every QP cold. tsid has accelerations and forces as variables; of a
flat foot, forces at four corners, each in its pyramid, where we limit the wrench. A step of tsid is
all that its user calls: references, computeProblemData, solve, torques and accelerations.
Times are CPU times: other load of the machine does not count.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from peer_process import Absent, PeerProcess
from race import ratios_of
from robots import urdf
from timing import loop, take_turns
from whole_body import SOLES, problem_of

from dynamics_node.task_space.tasks import Task

NAMES = ('solo12', 'talos')
STEPS = Path(__file__).with_name('tsid_steps.py')
PEER, QUANTITY = 'tsid', 'whole_body'
BAR = 1.0         # least time(tsid) / time(ours)
# Relative to the largest, if no bound is active. tsid adds 1e-8 to its Hessian; beside a weight of
# forces of 1e-6, as in whole_body.py, accelerations of TALOS differ by 1.4e-3; here by 4e-4, and
# torques by 1.3e-3.
AGREEMENT = {'accelerations': 1e-3, 'torques': 2e-3}
FORCE_WEIGHT = 1e-4


def python():
    """Return the Python that has tsid."""
    chosen = os.environ.get('TSID_PYTHON')
    if not chosen:
        raise Absent('the environment variable TSID_PYTHON is not set')
    done = subprocess.run([chosen, '-c', 'import pinocchio, tsid.tsid_pywrap'],
                          capture_output=True, text=True, env=_environment())
    if done.returncode:
        raise Absent(f'{chosen} has no tsid: {done.stderr.strip().splitlines()[-1]}')
    return chosen


def _environment():
    """Return this environment without our packages."""
    return {name: value for name, value in os.environ.items()
            if name not in ('PYTHONPATH', 'LD_LIBRARY_PATH')}


def measure(name, turns, tick):
    """Return the Ratio of a robot; raise AssertionError if the accelerations differ."""
    chosen = python()
    robot, steps, bounds = problem_of(name)
    forces = Task('force', 'force', 1, FORCE_WEIGHT)
    states = [(q, v, [*(task for task in tasks((1, 1, 1)) if task.kind not in ('torque', 'force')),
                      forces]) for q, v, tasks in steps]
    bounds = tuple(bound for bound in bounds if bound.kind in ('torque', 'friction'))

    def solved():
        return [robot.whole_body(*state, bounds=bounds) for state in states]
    solved()
    while robot.compiling:
        time.sleep(0.1)
    ours = solved()
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / 'job.json'
        text = Path(folder) / 'robot.urdf'
        text.write_text(urdf(name))
        job.write_text(json.dumps({'urdf': str(text), **_job(robot, states, bounds)}))
        with PeerProcess([chosen, STEPS, job], env=_environment()) as peer:
            theirs = peer.result('steps').reshape(len(states), -1)
            _check(name, ours, theirs)
            runs = {'ours': loop('q, v, tasks in states', 'step(q, v, tasks, None, bounds)',
                                 timer=time.process_time, step=robot.whole_body, states=states,
                                 bounds=bounds),
                    PEER: peer.loop('steps')}
            seconds = take_turns(runs, turns, tick)
    return ratios_of(name, QUANTITY, 1, seconds, dict.fromkeys(runs, len(states)), {PEER: BAR})


def _job(robot, states, bounds):
    """Return the problem as JSON knows it."""
    friction, torque = (next(bound for bound in bounds if bound.kind == kind)
                        for kind in ('friction', 'torque'))
    joints = [joint for joint in robot.model.joints if joint.v.stop - joint.v.start == 1]
    limits = [joint.max_effort if torque.limit is None else torque.limit for joint in joints]
    tasks = [of_state for _, _, of_state in states]
    return {
        'joints': [joint.name for joint in joints], 'torque_limits': limits,
        'q': [q.tolist() for q, _, _ in states], 'v': [v.tolist() for _, v, _ in states],
        'contacts': [{'frame': contact.frame, 'points': _corners(contact),
                      # their pyramid has the coefficient itself, ours is inside the cone
                      'friction': contact.friction * math.cos(math.pi / friction.sides)}
                     for contact in robot.loops.constraints],
        'force_weight': FORCE_WEIGHT,
        'tasks': [{'name': task.name, 'kind': task.kind, 'frame': task.frame,
                   'weight': task.weight, 'stiffness': task.stiffness, 'damping': task.damping,
                   'positions': [list(map(float, own[k].position)) for own in tasks]}
                  for k, task in enumerate(tasks[0]) if task.kind != 'force']}


def _corners(contact):
    """Return the corners of a sole, or None of a point contact."""
    if contact.name not in SOLES:
        return None
    x, y = SOLES[contact.name]
    return [[x, y, 0.0], [x, -y, 0.0], [-x, y, 0.0], [-x, -y, 0.0]]


def _check(name, ours, theirs):
    """Raise if accelerations or torques differ in states in which no bound is active."""
    free = [k for k, found in enumerate(ours) if not found.active]
    if not free:
        raise AssertionError(f'{name}: a bound is active in all states')
    for k in free:
        a, torque = ours[k].acceleration, ours[k].torque[6:]
        for what, own, other in (('accelerations', a, theirs[k][:len(a)]),
                                 ('torques', torque, theirs[k][len(a):])):
            error = np.abs(own - other).max() / np.abs(own).max()
            if not error <= AGREEMENT[what]:
                raise AssertionError(f'{name}, state {k}: {what} of us and tsid differ by '
                                     f'{error:.1e}')


if __name__ == '__main__':
    try:
        python()
    except Absent as reason:
        sys.exit(f'tsid_peer: skipped: {reason}')
    for which in sys.argv[1:] or NAMES:
        for row in measure(which, 1000, lambda _: None):
            print(f'{row.what}: {row.ours / 1e3:.1f} us against {row.theirs / 1e3:.1f} us, '
                  f'{row.ratio:.2f} times faster (median {row.typical:.2f})')
