"""Time steps of tsid, in the Python of its own virtual environment: it does not fit beside pin 4.

python tsid_steps.py JOB: a file that tsid_peer.py writes. Answers `time steps` with the seconds of
a loop over all states, in CPU time, `show steps` with the accelerations and torques of all states,
in our order.
"""

import json
import sys
from pathlib import Path
from time import process_time

import numpy as np
import pinocchio as pin
import tsid.tsid_pywrap as tsid

NORMAL = np.array([0.0, 0.0, 1.0])
LEAST_FORCE, GREATEST_FORCE = 0.0, 1e4  # of a contact [N]


class Problem:
    """The formulation of tsid, and the arguments of its steps."""

    def __init__(self, job):
        robot = tsid.RobotWrapper(job['urdf'], pin.StdVec_StdString(), pin.JointModelFreeFlyer(),
                                  False)
        model = robot.model()
        joints = [model.joints[model.getJointId(name)] for name in job['joints']]
        self.order = np.concatenate([range(6), [joint.idx_v for joint in joints]]).astype(int)
        self._robot, self._kept = robot, []
        self.formulation = tsid.InverseDynamicsFormulationAccForce('tsid', robot, False)
        self.states = [(self._there(q, 7), self._there(v, 6))
                       for q, v in zip(job['q'], job['v'])]
        self.formulation.computeProblemData(0.0, *self.states[0])
        for contact in job['contacts']:
            self._add_contact(contact, job['force_weight'])
        self._references = [self._add_task(task) for task in job['tasks']]
        self._limit(np.array(job['torque_limits']))
        self._solver = tsid.SolverHQuadProgFast('solver')
        self._solver.resize(self.formulation.nVar, self.formulation.nEq, self.formulation.nIn)

    def _there(self, ours, fixed):
        """Return a vector in the order of tsid; the first numbers are those of the base."""
        there = np.array(ours)
        there[fixed + self.order[6:] - 6] = ours[fixed:]
        return there

    def _add_contact(self, contact, weight):
        if contact['points'] is None:
            made = tsid.ContactPoint(contact['frame'], self._robot, contact['frame'], NORMAL,
                                     contact['friction'], LEAST_FORCE, GREATEST_FORCE)
            made.useLocalFrame(False)
            made.setKp(np.zeros(3)), made.setKd(np.zeros(3))
        else:
            made = tsid.Contact6d(contact['frame'], self._robot, contact['frame'],
                                  np.array(contact['points']).T, NORMAL, contact['friction'],
                                  LEAST_FORCE, GREATEST_FORCE)
            made.setKp(np.zeros(6)), made.setKd(np.zeros(6))
        # by default, normal forces count a thousandth
        made.setRegularizationTaskWeightVector(np.ones(3 if contact['points'] is None else 6))
        frame = self._robot.model().getFrameId(contact['frame'])
        made.setReference(self._robot.framePosition(self.formulation.data(), frame))
        self.formulation.addRigidContact(made, weight, 1.0, 0)
        self._kept.append(made)

    def _add_task(self, task):
        """Return (the task, its references in all states)."""
        if task['kind'] == 'frame':
            made = tsid.TaskSE3Equality(task['name'], self._robot, task['frame'])
            made.useLocalFrame(False)
            size, values = 6, [_pose(position) for position in task['positions']]
        elif task['kind'] == 'center_of_mass':
            made, size = tsid.TaskComEquality(task['name'], self._robot), 3
            values = [np.array(position) for position in task['positions']]
        else:
            made = tsid.TaskJointPosture(task['name'], self._robot)
            size = self._robot.nv - 6
            values = [self._there(np.concatenate([np.zeros(6), position]), 6)[6:]
                      for position in task['positions']]
        made.setKp(task['stiffness'] * np.ones(size))
        made.setKd(task['damping'] * np.ones(size))
        self.formulation.addMotionTask(made, task['weight'], 1, 0.0)
        return made, [_sample(value, size) for value in values]

    def _limit(self, ours):
        limits = self._there(np.concatenate([np.zeros(6), ours]), 6)[6:]
        bounds = tsid.TaskActuationBounds('torque', self._robot)
        bounds.setBounds(-limits, limits)
        self.formulation.addActuationTask(bounds, 1.0, 0, 0.0)
        self._kept.append(bounds)

    def run(self, keep=None):
        """Do the steps of all states."""
        formulation, solver = self.formulation, self._solver
        for k, (q, v) in enumerate(self.states):
            for task, references in self._references:
                task.setReference(references[k])
            solution = solver.solve(formulation.computeProblemData(0.0, q, v))
            torque = formulation.getActuatorForces(solution)
            a = formulation.getAccelerations(solution)
            if keep is not None:
                found = np.concatenate([a[self.order], torque[self.order[6:] - 6]])
                keep.append(found if solution.status == 0 else np.full(len(found), np.nan))


def _pose(position):
    """Return what TaskSE3Equality reads: the position, then the columns of the rotation."""
    rotation = pin.Quaternion(np.array(position[3:])).matrix()
    return np.concatenate([position[:3], rotation.T.ravel()])


def _sample(value, size):
    sample = tsid.TrajectorySample(len(value), size)
    sample.value(value), sample.derivative(np.zeros(size)), sample.second_derivative(np.zeros(size))
    return sample


if __name__ == '__main__':
    problem = Problem(json.loads(Path(sys.argv[1]).read_text()))
    for line in sys.stdin:
        if line.startswith('time'):
            start = process_time()
            problem.run()
            print(process_time() - start, flush=True)
        else:
            found = []
            problem.run(found)
            print(*np.ravel(found), flush=True)
