"""Describe motions of one joint while the others hold a pose, fast or slow.

These motions determine all that any motion can determine: the column of the mass matrix of the
joint, the gravity of all joints, and the friction of the joint. They are easy to program on any
robot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from dynamics_node.identification.excitation_limits import ExcitationLimits
from dynamics_node.robot.robot import Robot

FAST_TIME, SLOW_TIME = 10.0, 20.0   # [s] duration; of a slow motion one period
FAST_AMPLITUDE = 0.5     # [rad or m] at most
SLOW_AMPLITUDE = 1.0     # [rad or m] at most: up to 0.31 rad/s or m/s
SHORTEST_PERIOD = 0.8    # [s]
SLOWER = 1.5 ** np.arange(5)   # times the period, until torques are within their limits
SAMPLES = 24             # of a motion that is judged


class JointMotion(NamedTuple):
    """One joint moves to and fro, q = center + amplitude sin(2 pi t / period)."""

    joint: str
    fast: bool          # inertia matters, not only gravity and friction
    center: float       # [rad or m]
    amplitude: float    # [rad or m]
    period: float       # [s]
    duration: float     # [s]
    pose: Mapping[str, float]          # {joint: position} of the other joints [rad or m]
    parameters: tuple[str, ...] = ()   # base parameters that are not determined without it

    def states(self, robot: Robot, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (q, v, a) at some times [s], (N, nv) each."""
        q, v, a = np.zeros((3, len(times), robot.nv))
        for name, position in self.pose.items():
            q[:, robot.model.joint(name).q.start] = position
        own, w = robot.model.joint(self.joint).v.start, 2.0 * np.pi / self.period
        q[:, own] = self.center + self.amplitude * np.sin(w * times)
        v[:, own] = self.amplitude * w * np.cos(w * times)
        a[:, own] = -self.amplitude * w * w * np.sin(w * times)
        return q, v, a

    def judged_states(self, robot: Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (q, v, a) of SAMPLES of one period."""
        return self.states(robot, self.period * (np.arange(SAMPLES) + 0.5) / SAMPLES)

    def __str__(self) -> str:
        """Return what to do."""
        low, high = self.center - self.amplitude, self.center + self.amplitude
        held = ', '.join(f'{name} at {position:.2f}' for name, position in self.pose.items())
        return (f'{self.joint} {"fast" if self.fast else "slowly"} to and fro between {low:.2f} '
                f'and {high:.2f} with a period of {self.period:.2g} s, for {self.duration:.0f} s'
                + (f', with {held}' if held else '')
                + (f' (for {", ".join(self.parameters)})' if self.parameters else ''))


def joint_motions(robot: Robot, limits: ExcitationLimits, pose: np.ndarray
                  ) -> Iterator[JointMotion]:
    """Yield the fast and the slow motion of each joint with the others at a pose, (nq,).

    Motions that the torque limits do not permit are left out.
    """
    names = robot.joint_names
    for k, joint in enumerate(names):
        others = {name: float(pose[robot.model.joint(name).q.start])
                  for name in names if name != joint}
        for fast in (True, False):
            amplitude = float(min(FAST_AMPLITUDE if fast else SLOW_AMPLITUDE, limits.half[k]))
            center = float(np.clip(pose[robot.model.joint(joint).q.start],
                                   limits.lower[k] + amplitude, limits.upper[k] - amplitude))
            shortest = 2.0 * np.pi * amplitude / limits.velocity[k]
            period = max(SHORTEST_PERIOD if fast else SLOW_TIME, shortest)
            for slower in SLOWER if fast else SLOWER[:1]:   # slow: gravity alone would be too much
                motion = JointMotion(joint, fast, center, amplitude, float(slower * period),
                                     FAST_TIME if fast else SLOW_TIME, others)
                torque = robot.inverse_dynamics(*motion.judged_states(robot))
                if (np.abs(torque) <= limits.torque).all():
                    yield motion
                    break
