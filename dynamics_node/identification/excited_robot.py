"""What moves during an excitation, and what does a motion ask of it?

Of a tree every joint is moved. Of a robot with loops the independent joints are moved, and the
others follow; a motion that the loops cannot follow is none.
"""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.independent_joints import MULTI_AXIS
from dynamics_node.identification.loop_equations import loop_motion_of, project
from dynamics_node.identification.loop_motion import strength
from dynamics_node.identification.recording import motor_names

BETWEEN = 0.995      # of a limit is used: torques may peak between two points of the check
INSIDE = 1e-3        # [m] within a box, for the same reason
CENTERS = 1000       # random configurations at a time, of a tree
KNOWN = 300          # of a mechanism: a motion begins at the nearest
TOO_STRONG = 5.0     # times the usual entries of N: so near to a singular configuration no motion
#                      may come


def excited_robot(robot):
    """Return the ExcitedTree of a robot, or its ExcitedMechanism where it has loops."""
    loops = loop_motion_of(robot)
    return ExcitedTree(robot) if loops is None else ExcitedMechanism(robot, loops)


class ExcitedTree:
    """A robot without loops: all joints are moved.

    :ivar joints: that are moved.
    :ivar others: that follow.
    """

    loops = None

    def __init__(self, robot):
        self.robot, self.joints, self.others = robot, robot.model.joints, ()

    def states(self, trajectory, times):
        """Return (q, v, a) of the robot along a Fourier motion; None if it cannot follow."""
        return trajectory.sample(times)

    def states_near(self, states, trajectory, times):
        """Return the same of a motion that differs by next to nothing from that of `states`."""
        return trajectory.sample(times)

    def moved(self, q, v, a):
        """Return what the moved joints do of states of the robot."""
        return q, v, a

    def configurations(self, rng, limits, share):
        """Return (q (N, nq), the moved joints in shares of half their range) at random."""
        x = rng.uniform(-share, share, (CENTERS, len(self.joints)))
        return limits.middle + limits.half * x, x

    def random_states(self, rng, limits, acceleration, count):
        """Return (q, v, a) of random states within limits, with accelerations up to some."""
        shape = (count, len(self.joints))
        q = rng.uniform(limits.lower, limits.upper, shape)
        v = rng.uniform(-limits.velocity, limits.velocity, shape)
        return q, v, rng.uniform(-acceleration, acceleration, shape)

    def excess(self, limits, q, v, a):
        """Return how far torques and frames are beyond their limits at each state, (N, limits).

        Torques as a share of their limit, frames in metres; negative is within.
        """
        torque = project(self.loops, q, self.robot.inverse_dynamics(q, v, a))
        parts = [np.abs(torque) / limits.torque - BETWEEN]
        for box in limits.boxes:
            at = self.robot.frame_pose(q, box.frame)[..., :3, 3]
            parts += [np.asarray(box.lower) + INSIDE - at, at - np.asarray(box.upper) + INSIDE]
        return np.concatenate(parts, axis=-1)


class ExcitedMechanism(ExcitedTree):
    """A robot with loops: its motors are moved, the other joints follow."""

    def __init__(self, robot, loops):
        motors = motor_names(robot)
        loose = [name for name in loops.names if name not in motors]
        if loose:
            raise DynamicsError(f'{loose} have no motor, and the loops leave them free: no motion '
                                'of the motors excites the robot as planned')
        if len(motors) > len(loops.names):
            raise DynamicsError(
                f'the robot has {len(motors)} motors and {len(loops.names)} freedoms: a sum of '
                f'sines for each motor would break the loops. Call all but {len(loops.names)} of '
                f'{list(motors)} passive, for the excitation only')
        self.robot, self.loops = robot, loops
        self.joints = tuple(robot.model.joint(name) for name in loops.names)
        self.others = tuple(joint for joint in robot.model.joints if joint.name not in loops.names
                            and joint.kind not in MULTI_AXIS)
        known = loops.random_states(np.random.default_rng(0), KNOWN)
        self._known = np.concatenate([loops.home[None], known.q])
        self._strongest = TOO_STRONG * np.median(strength(known.N))

    def states(self, trajectory, times):
        """Return (q, v, a) of the robot along a Fourier motion; None if the loops cannot follow."""
        where, v, a = trajectory.sample(times)
        far = np.abs(self._known[:, self.loops.places] - where[0]).max(axis=1)
        try:
            q = self.loops.followed(where, self._known[far.argmin()])
        except DynamicsError:
            return None
        return self._regular(q, v, a)

    def states_near(self, states, trajectory, times):
        """Return the same of a motion that differs by next to nothing from that of `states`."""
        where, v, a = trajectory.sample(times)
        q = states[0].copy()
        q[:, self.loops.places] = where
        q, converged, _ = self.loops.corrected(q)
        return self._regular(q, v, a) if converged.all() else None

    def _regular(self, q, v, a):
        motion = self.loops.motion(q, v, a)
        return motion[:3] if motion.clear.all() else None

    def moved(self, q, v, a):
        """Return what the moved joints do of states of the robot."""
        own = self.loops.independent
        return q[:, self.loops.places], v[:, own], a[:, own]

    def configurations(self, rng, limits, share):
        """Return (q (N, nq), the moved joints in shares of half their range) at random."""
        q = rng.permutation(self._known)
        x = (q[:, self.loops.places] - limits.middle) / limits.half
        inside = (np.abs(x) <= share).all(axis=1)
        return q[inside], x[inside]

    def random_states(self, rng, limits, acceleration, count):
        """Return (q, v, a) of random states within limits, with accelerations up to some."""
        return self.loops.random_states(rng, count, limits.velocity, acceleration,
                                        (limits.lower, limits.upper))[:3]

    def excess(self, limits, q, v, a):
        """Return the same, and how far joints that follow are beyond their limits, as shares.

        The last one is how near the mechanism is to a singular configuration.
        """
        others, own = limits.others, super().excess(limits, q, v, a)
        places = [joint.q.start for joint in self.others]
        speeds = [joint.v.start for joint in self.others]
        return np.concatenate([
            own, np.abs(q[:, places] - others.middle) / others.half - BETWEEN,
            np.abs(v[:, speeds]) / others.velocity - BETWEEN,
            np.abs(a[:, speeds]) / others.acceleration - BETWEEN,
            strength(self.loops.transmission(q).N)[:, None] / self._strongest - BETWEEN], axis=1)
