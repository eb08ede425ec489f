"""Compare dynamics with loops and contacts to Pinocchio: agreement and speed."""

import numpy as np
import pinocchio as pin
from engines import Call
from race import AGREEMENT, PASSES, ratios_of
from robots import urdf
from timing import at_once, loop, over_states, take_turns

from dynamics_node import Robot
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.kernels.keys import key_of

QUANTITY = 'constrained_forward_dynamics'
BATCH = 1024
STATES = 64   # different ones, in the loop over single states; a batch repeats them
SPAN = 0.2    # how far the joints are from the neutral configuration [rad or m]
NAMES = ('stewart', 'solo12', 'talos')
# Least time(peer) / time(ours) to reach: {states: ratio}.
BARS = {'stewart': {1: 1.0, BATCH: 10.0}, 'solo12': {1: 1.0, BATCH: 10.0},
        'talos': {1: 3.0, BATCH: 3.0}}
FEET = [Constraint(f'{leg}_contact', 'point_contact', f'{leg}_FOOT')
        for leg in ('FL', 'FR', 'HL', 'HR')]
SOLES = [Constraint(f'{side}_sole_link', 'flat_contact', f'{side}_sole_link')
         for side in ('left', 'right')]
KNEES = {'leg_{}_3_joint': -0.4, 'leg_{}_4_joint': 0.8, 'leg_{}_5_joint': -0.4}  # bent [rad]
KINDS = {'spherical': pin.ContactType.CONTACT_3D, 'point_contact': pin.ContactType.CONTACT_3D,
         'flat_contact': pin.ContactType.CONTACT_6D}


def robot_of(name):
    """Return (our Robot, the URDF text, the free joint that Pinocchio needs).

    A Stewart platform, six legs on ball joints, 24 coordinates and 18 rows; a quadruped with four
    point contacts, 18 coordinates and 12 rows; a humanoid on two flat feet, 38 and 12.
    """
    if name == 'stewart':
        text = MECHANISMS[name].urdf.read_text()
        return Robot.from_urdf(text, friction=False, loops=MECHANISMS[name].loops), text, ()
    text = urdf(name)
    contacts = FEET if name == 'solo12' else SOLES
    return (Robot.from_urdf(text, base='floating', friction=False, loops=contacts), text,
            (pin.JointModelFreeFlyer(),))


def bend_knees(robot, q):
    """Bend the legs of TALOS: straight ones are singular."""
    for joint, angle in KNEES.items():
        for side in ('left', 'right'):
            q[robot.model.joint(joint.format(side)).q] = angle


class PinocchioConstraints:
    """Pinocchio's constraintDynamics, initialised once; one step, exact for independent rows."""

    def __init__(self, robot, text, base):
        self.model = pin.buildModelFromXML(text, *base)
        self.data = self.model.createData()
        joints = [(joint, self.model.joints[self.model.getJointId(
            joint.name if self.model.existJointName(joint.name) else 'root_joint')])
            for joint in robot.model.joints]
        self.order = np.concatenate([np.arange(theirs.idx_v, theirs.idx_v + theirs.nv)
                                     for _, theirs in joints])
        self._joints = joints
        self.constraints = pin.StdVec_RigidConstraintModel()
        self.found = pin.StdVec_RigidConstraintData()
        for constraint in robot.loops.constraints:
            self.constraints.append(pin.RigidConstraintModel(
                KINDS[constraint.kind], self.model,
                *self._place(constraint.frame, constraint.pose),
                *self._place(constraint.to, constraint.to_pose), pin.ReferenceFrame.LOCAL))
            self.found.append(self.constraints[len(self.constraints) - 1].createData())
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.found)

    def _place(self, link, pose):
        """Return (joint, placement) of a closure with the axes of its link."""
        at = pin.SE3(np.eye(3), np.array(pose[:3] or (0.0, 0.0, 0.0)))
        if link == 'world':
            return 0, at
        frame = self.model.frames[self.model.getFrameId(link, pin.FrameType.BODY)]
        return frame.parentJoint, frame.placement * at

    def states(self, q, v, tau):
        """Return the states in its order; a continuous joint's angle is a (cosine, sine)."""
        rows = np.empty((len(q), self.model.nq))
        for ours, theirs in self._joints:
            part = q[:, ours.q]
            rows[:, theirs.idx_q:theirs.idx_q + theirs.nq] = part if theirs.nq != 2 else (
                np.concatenate([np.cos(part), np.sin(part)], axis=1))
        there = np.empty((2, len(q), self.model.nv))
        there[0][:, self.order], there[1][:, self.order] = v, tau
        return rows, there[0], there[1]

    def call(self):
        return Call('constrained(model, data, q, v, x, constraints, found)',
                    {'constrained': pin.constraintDynamics, 'model': self.model,
                     'data': self.data, 'constraints': self.constraints, 'found': self.found})


class ConstraintRace:
    """The two engines with one robot, and states that keep its constraints."""

    def __init__(self, name):
        self.name = name
        self.robot, text, base = robot_of(name)
        key = key_of(self.robot.model, QUANTITY, constraints=self.robot.loops.constraints)
        self.robot._dispatcher.compile([key], wait=True)
        self.peer = PinocchioConstraints(self.robot, text, base)
        rng = np.random.default_rng(1)
        rows = [self._state(rng) for _ in range(STATES)]
        self.single = [np.array(part) for part in zip(*rows)]
        self.batch = [np.tile(part, (BATCH // STATES, 1)) for part in self.single]
        self.robot.constrained_forward_dynamics(*rows[0])  # the first call binds the kernel
        self.call = Call('call(q, v, x)', {'call': self.robot.constrained_forward_dynamics})

    def _state(self, rng):
        robot = self.robot
        start = robot.neutral()
        if self.name == 'talos':
            bend_knees(robot, start)
        q = robot.integrate(start, rng.uniform(-SPAN, SPAN, robot.nv))
        if self.name == 'solo12':  # bent knees: a straight leg is singular
            q[7:] += np.tile([0.0, 0.8, -1.6], 4) * np.repeat([1.0, 1.0, -1.0, -1.0], 3)
        q = robot.project_configuration(q)
        v = robot.project_velocity(q, rng.normal(size=robot.nv))
        return q, v, rng.normal(size=robot.nv)

    def check(self):
        """Raise if the engines disagree."""
        ours = self.robot.constrained_forward_dynamics(*self.single).a
        call = self.peer.call()
        for k, state in enumerate(zip(*self.peer.states(*self.single))):
            names = {**call.names, **dict(zip('qvx', state))}
            theirs = eval(call.expression, names)[self.peer.order]
            error = np.abs(ours[k] - theirs).max() / np.abs(theirs).max()
            if not error <= AGREEMENT:
                raise AssertionError(f'{self.name}: we and Pinocchio differ by {error:.1e}')

    def one_by_one(self, turns, tick):
        """Return the Ratio of single states."""
        runs = {'ours': over_states(self.call, 'q, v, x', _rows(self.single)),
                'pinocchio': over_states(self.peer.call(), 'q, v, x',
                                         _rows(self.peer.states(*self.single)))}
        return self._ratios(1, take_turns(runs, turns, tick), dict.fromkeys(runs, STATES))

    def in_batches(self, turns, tick):
        """Return the Ratio of a batch: ours in one call on one thread, theirs in a loop."""
        q, v, x = self.batch
        call = self.peer.call()
        runs = {'ours': at_once(self.call, PASSES, q=q, v=v, x=x),
                'pinocchio': loop('q, v, x in zip(Q, V, X)', call.expression,
                                  **dict(zip('QVX', self.peer.states(*self.batch))), **call.names)}
        return self._ratios(BATCH, take_turns(runs, turns, tick),
                            {'ours': PASSES * BATCH, 'pinocchio': BATCH})

    def _ratios(self, states, seconds, counts):
        return ratios_of(self.name, QUANTITY, states, seconds, counts,
                         {'pinocchio': BARS[self.name][states]})


def _rows(arrays):
    return list(zip(*([row.copy() for row in array] for array in arrays)))


if __name__ == '__main__':
    import sys
    for which in sys.argv[1:] or NAMES:
        race = ConstraintRace(which)
        race.check()
        for row in (*race.one_by_one(60, lambda _: None), *race.in_batches(20, lambda _: None)):
            print(f'{row.what}: {row.ratio:.1f}, {row.ours:.0f} ns against {row.theirs:.0f} ns')
