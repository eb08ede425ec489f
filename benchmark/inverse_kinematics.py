"""Compare inverse kinematics to the same Newton loop, written with Pinocchio in Python.

Random poses that can be reached, from random starts. Both take the same steps: damping, limits and
restarts are those of task_space/newton_step.py and inverse_kinematics.py. Pinocchio's restarts run
one after another, ours in a batch. Each time is of one solution, from the pose as a matrix to the
configuration; the two alternate. A closed form, which returns all solutions, is measured by itself;
compared is then the iteration that it takes the place of.
"""

import gc
from statistics import median
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import table
from robots import urdf

from dynamics_node import Robot
from dynamics_node.robot.arguments import check_single_configuration
from dynamics_node.robot.task_arguments import check_targets, check_tolerance
from dynamics_node.task_space import inverse_kinematics as ours
from dynamics_node.task_space.closed_form import arm_of
from dynamics_node.task_space.newton_step import LEAST_DAMPING, LONGEST
from dynamics_node.task_space.target import Target

TIPS = {'panda': 'panda_hand', 'ur5': 'tool0', 'kinova': 'j2s6s200_end_effector'}
TOLERANCE = 1e-6     # [m and rad]
RESTARTS = 64
TURN = 50            # poses by one, then by the other
SOLVED, FASTER = 99.5, 5.0  # to reach: per cent solved, ratio of the medians
ALL_SOLVED = 100.0          # to reach with a closed form


class Bar(NamedTuple):
    """A measured value, and the least value to reach."""

    what: str
    value: float
    unit: str
    bar: float   # None where none is set

    @property
    def met(self):
        return self.bar is None or self.value >= self.bar


class PinocchioLoop:
    """The loop as a user of Pinocchio writes it; nothing is checked."""

    def __init__(self, text, frame):
        self.model = pin.buildModelFromXML(text)
        self.data = self.model.createData()
        self.frame = self.model.getFrameId(frame)
        self.lower, self.upper = self.model.lowerPositionLimit, self.model.upperPositionLimit
        self.vector = self.model.nq == self.model.nv  # else an angle is a (cosine, sine)
        self.one_axis = np.array([joint.idx_q if joint.nq == 1 else -1
                                  for joint in self.model.joints[1:]])
        self.bounded = self.one_axis >= 0
        self.unit = np.eye(6)

    def solve(self, pose, start):
        """Return (q, whether it is solved)."""
        R, p = pose[:3, :3], pose[:3, 3]
        q, solved = self.descend(R, p, start)
        tried = 0
        while not solved and tried < RESTARTS:
            q, solved = self.descend(R, p, pin.randomConfiguration(self.model))
            tried += 1
        return q, solved

    def descend(self, R, p, q):
        model, data, frame, unit = self.model, self.data, self.frame, self.unit
        before = np.inf
        for k in range(1, ours.MOST_STEPS + 2):
            pin.computeJointJacobians(model, data, q)
            at = pin.updateFramePlacement(model, data, frame)
            J = pin.getFrameJacobian(model, data, frame, pin.LOCAL)
            turned = at.rotation.T
            linear, angular = turned @ (p - at.translation), pin.log3(turned @ R)
            squares = linear @ linear, angular @ angular
            if squares[0] <= TOLERANCE ** 2 and squares[1] <= TOLERANCE ** 2:
                return q, True
            cost = squares[0] + squares[1]
            if k % ours.LOOK_EVERY == 0:
                if cost > ours.FALLEN * before:
                    break
                before = cost
            e = np.concatenate([linear, angular])
            J = J * self.free(q, J.T @ e)
            square = J @ J.T
            damping = ours.CAUTION * cost + LEAST_DAMPING * (np.trace(square) + 1.0)
            step = J.T @ np.linalg.solve(square + damping * unit, e)
            step *= 1.0 / np.sqrt(1.0 + step @ step / LONGEST ** 2)
            q = q + step if self.vector else pin.integrate(model, q, step)
            q = np.minimum(np.maximum(q, self.lower), self.upper)
        return q, False

    def free(self, q, gradient):
        """Return 0 where a joint is at its limit and the step goes beyond it, else 1."""
        place = self.one_axis
        blocked = (((q[place] <= self.lower[place]) & (gradient < 0.0))
                   | ((q[place] >= self.upper[place]) & (gradient > 0.0)))
        return 1.0 - (blocked & self.bounded)

    def configuration(self, q):
        """Return our configuration in its coordinates; the joints come in the same order here."""
        there = []
        for joint, angle in zip(self.model.joints[1:], q):
            there += [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
        return np.array(there)


def measure(name, poses, tick):
    """Return the Bars of one robot."""
    text, frame = urdf(name), TIPS[name]
    robot, peer = Robot.from_urdf(text, friction=False), PinocchioLoop(text, frame)
    assert list(peer.model.names)[1:] == list(robot.joint_names)
    rng = np.random.default_rng(0)
    pin.seed(0)
    cases = []
    for _ in range(poses):
        pose = robot.frame_pose(robot.random_configuration(rng), frame)
        cases.append((pose, robot.random_configuration(rng)))
    robot.compile(wait=True, targets=[Target.pose(frame, cases[0][0])])
    robot.inverse_kinematics(Target.pose(frame, cases[0][0]))  # binds the kernels
    closed_form = arm_of(robot.model, frame) is not None
    solve = iteration_of(robot) if closed_form else robot.inverse_kinematics
    times, solved = {'ours': [], 'theirs': []}, {'ours': 0, 'theirs': 0}
    gc.disable()
    for first in range(0, poses, TURN):
        turn = cases[first:first + TURN]
        for pose, start in turn:
            begin = perf_counter()
            found = solve(Target.pose(frame, pose), start, tolerance=TOLERANCE, restarts=RESTARTS)
            times['ours'].append(perf_counter() - begin)
            solved['ours'] += is_right(robot, peer, frame, pose, found)
        for pose, start in turn:
            there = peer.configuration(start)
            begin = perf_counter()
            _, success = peer.solve(pose, there)
            times['theirs'].append(perf_counter() - begin)
            solved['theirs'] += success
        tick((first + len(turn)) / poses)
    extra = closed_form_bars(name, robot, peer, frame, cases) if closed_form else []
    gc.enable()
    percent = {each: 100.0 * count / poses for each, count in solved.items()}
    return [*extra, *bars_of(name, times, percent)]


def iteration_of(robot):
    """Return robot.inverse_kinematics without the closed form."""
    def solve(target, start, tolerance, restarts):
        return ours.inverse_kinematics(
            robot.model, robot._task_space.newton_step([target]),
            check_targets(robot.model, target), check_single_configuration(robot.model, start),
            check_tolerance(tolerance), restarts, seed=0)
    return solve


def closed_form_bars(name, robot, peer, frame, cases):
    """Return the Bars of the closed form: how many poses it solves, with how many solutions."""
    solved, solutions, times = 0, 0, []
    for pose, start in cases:
        begin = perf_counter()
        found = robot.inverse_kinematics(Target.pose(frame, pose), start)
        times.append(1e6 * (perf_counter() - begin))
        solved += found.complete and is_right(robot, peer, frame, pose, found)
        solutions += len(found.solutions)
    label, poses = f'{name}: closed form, ', len(cases)
    return [Bar(label + 'solved within limits', 100.0 * solved / poses, '%', ALL_SOLVED),
            Bar(label + 'solutions per pose', solutions / poses, '', None),
            Bar(label + 'median', median(times), 'us', None),
            Bar(label + '99 of 100 below', np.percentile(times, 99), 'us', None)]


def is_right(robot, peer, frame, pose, found):
    """Return whether a solution is right: the pose by Pinocchio, and within the limits."""
    pin.framesForwardKinematics(peer.model, peer.data, peer.configuration(found.q))
    at = peer.data.oMf[peer.frame]
    near = (np.linalg.norm(at.translation - pose[:3, 3]) <= 1.001 * TOLERANCE
            and np.linalg.norm(pin.log3(at.rotation.T @ pose[:3, :3])) <= 1.001 * TOLERANCE)
    within = all(joint.lower <= found.q[joint.q][0] <= joint.upper
                 for joint in robot.model.joints)
    return found.success and near and within


def bars_of(name, times, solved):
    micro = {who: 1e6 * np.array(seconds) for who, seconds in times.items()}
    label = f'{name}: inverse kinematics, '
    return [
        Bar(label + 'solved within limits', solved['ours'], '%', SOLVED),
        Bar(label + 'solved by the Pinocchio loop', solved['theirs'], '%', None),
        Bar(label + 'median', median(micro['ours']), 'us', None),
        Bar(label + 'median of the Pinocchio loop', median(micro['theirs']), 'us', None),
        Bar(label + '99 of 100 below', np.percentile(micro['ours'], 99), 'us', None),
        Bar(label + '99 of 100 of the loop below', np.percentile(micro['theirs'], 99), 'us', None),
        Bar(label + 'median against the loop',
            median(micro['theirs']) / median(micro['ours']), 'x', FASTER)]


if __name__ == '__main__':
    print(table.solutions([bar for robot_name in TIPS
                           for bar in measure(robot_name, 1000, lambda share: None)]))
