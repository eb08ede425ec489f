"""Compute the states of a robot during an excitation, and how far they exceed limits.

In a tree every joint is moved. In a robot with loops the independent joints are moved, and the
others follow; a motion that the loops cannot follow is rejected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dynamics_node.constrained.independent_joints import MULTI_AXIS
from dynamics_node.constrained.loop_motion import LoopMotion, transmission_gain
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.fourier import Fourier
from dynamics_node.identification.loop_equations import loop_motion_of, project
from dynamics_node.identification.recording import motor_names
from dynamics_node.model.model import JointInfo
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:   # it imports this module
    from dynamics_node.identification.excitation_limits import ExcitationLimits

BETWEEN = 0.995      # of a limit is used: torques may peak between two samples of the check
INSIDE = 1e-3        # [m] within a box, for the same reason
CENTERS = 1000       # random configurations at a time, of a tree
KNOWN = 300          # configurations of a mechanism; a motion starts at the nearest
MAX_GAIN = 5.0       # times the usual entries of N: nearer to a singular configuration is excluded

States: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]   # q, v, a of N states, a row each


def excited_robot(robot: Robot) -> ExcitedTree:
    """Return the ExcitedTree of a robot, or the ExcitedMechanism of a robot with loops."""
    loops = loop_motion_of(robot)
    return ExcitedTree(robot) if loops is None else ExcitedMechanism(robot, loops)


class ExcitedTree:
    """A robot without loops: all joints are moved.

    :ivar joints: the moved joints.
    :ivar others: the joints that follow.
    """

    loops: LoopMotion | None = None

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.joints: tuple[JointInfo, ...] = robot.model.joints
        self.others: tuple[JointInfo, ...] = ()

    def states(self, trajectory: Fourier, times: np.ndarray) -> States | None:
        """Return (q, v, a) of the robot along a Fourier motion; None if it cannot follow."""
        return trajectory.sample(times)

    def states_near(self, states: States, trajectory: Fourier, times: np.ndarray) -> States | None:
        """Return (q, v, a) of a motion that differs from that of `states` by a small step."""
        return trajectory.sample(times)

    def moved(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> States:
        """Return the entries of the moved joints in states of the robot."""
        return q, v, a

    def configurations(self, rng: np.random.Generator, limits: ExcitationLimits, share: float
                       ) -> tuple[np.ndarray, np.ndarray]:
        """Return (q (N, nq), moved joints as shares of half their range), random."""
        x = rng.uniform(-share, share, (CENTERS, len(self.joints)))
        return limits.middle + limits.half * x, x

    def random_states(self, rng: np.random.Generator, limits: ExcitationLimits,
                      acceleration: np.ndarray, count: int) -> States:
        """Return (q, v, a) of random states within limits and accelerations."""
        shape = (count, len(self.joints))
        q = rng.uniform(limits.lower, limits.upper, shape)
        v = rng.uniform(-limits.velocity, limits.velocity, shape)
        return q, v, rng.uniform(-acceleration, acceleration, shape)

    def excess(self, limits: ExcitationLimits, q: np.ndarray, v: np.ndarray, a: np.ndarray
               ) -> np.ndarray:
        """Return by how much each state exceeds the limits of torques and frames, (N, limits).

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

    loops: LoopMotion

    def __init__(self, robot: Robot, loops: LoopMotion) -> None:
        motors = motor_names(robot)
        undriven = [name for name in loops.names if name not in motors]
        if undriven:
            raise DynamicsError(f'{undriven} have no motor, and the loops leave them free: no '
                                'motion of the motors excites the robot as planned')
        if len(motors) > len(loops.names):
            raise DynamicsError(
                f'the robot has {len(motors)} motors and {len(loops.names)} degrees of freedom: a '
                'sum of sines for each motor would break the loops. Declare all but '
                f'{len(loops.names)} of {list(motors)} as passive, for the excitation only')
        self.robot, self.loops = robot, loops
        self.joints = tuple(robot.model.joint(name) for name in loops.names)
        self.others = tuple(joint for joint in robot.model.joints if joint.name not in loops.names
                            and joint.kind not in MULTI_AXIS)
        known = loops.random_states(np.random.default_rng(0), KNOWN)
        self._known = np.concatenate([loops.home[None], known.q])
        self._max_gain = MAX_GAIN * np.median(transmission_gain(known.N))

    def states(self, trajectory: Fourier, times: np.ndarray) -> States | None:
        """Return (q, v, a) of the robot along a Fourier motion; None if the loops cannot follow."""
        positions, v, a = trajectory.sample(times)
        far = np.abs(self._known[:, self.loops.q_indices] - positions[0]).max(axis=1)
        try:
            q = self.loops.follow(positions, self._known[far.argmin()])
        except DynamicsError:
            return None
        return self._if_regular(q, v, a)

    def states_near(self, states: States, trajectory: Fourier, times: np.ndarray) -> States | None:
        """Return (q, v, a) of a motion that differs from that of `states` by a small step."""
        positions, v, a = trajectory.sample(times)
        q = states[0].copy()
        q[:, self.loops.q_indices] = positions
        q, converged, _ = self.loops.close_loops(q)
        return self._if_regular(q, v, a) if converged.all() else None

    def _if_regular(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> States | None:
        motion = self.loops.motion(q, v, a)
        return motion[:3] if motion.regular.all() else None

    def moved(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> States:
        """Return the entries of the moved joints in states of the robot."""
        own = self.loops.independent
        return q[:, self.loops.q_indices], v[:, own], a[:, own]

    def configurations(self, rng: np.random.Generator, limits: ExcitationLimits, share: float
                       ) -> tuple[np.ndarray, np.ndarray]:
        """Return (q (N, nq), moved joints as shares of half their range), random."""
        q = rng.permutation(self._known)
        x = (q[:, self.loops.q_indices] - limits.middle) / limits.half
        inside = (np.abs(x) <= share).all(axis=1)
        return q[inside], x[inside]

    def random_states(self, rng: np.random.Generator, limits: ExcitationLimits,
                      acceleration: np.ndarray, count: int) -> States:
        """Return (q, v, a) of random states within limits and accelerations."""
        return self.loops.random_states(rng, count, limits.velocity, acceleration,
                                        (limits.lower, limits.upper))[:3]

    def excess(self, limits: ExcitationLimits, q: np.ndarray, v: np.ndarray, a: np.ndarray
               ) -> np.ndarray:
        """Return the excess of torques and frames, and of joints that follow, as shares.

        The last column measures the distance to singular configurations.
        """
        others, own = limits.others, super().excess(limits, q, v, a)
        assert others is not None
        gain = transmission_gain(self.loops.transmission(q).N)
        positions = [joint.q.start for joint in self.others]
        speeds = [joint.v.start for joint in self.others]
        return np.concatenate([
            own, np.abs(q[:, positions] - others.middle) / others.half - BETWEEN,
            np.abs(v[:, speeds]) / others.velocity - BETWEEN,
            np.abs(a[:, speeds]) / others.acceleration - BETWEEN,
            gain[:, None] / self._max_gain - BETWEEN], axis=1)
