"""Simulate the driver of an arm: check and hold commands, read sensors. Without ROS.

The newest valid command is kept, as a forward_command_controller on effort does. The brakes open
with the first command; they close again when none has come for `timeout`.
"""

from collections import Counter

import numpy as np
from sensor import Reading, Sensor

START = 1_000_000_000  # the simulated clock's first reading [ns]: to ROS, zero is no time at all


class Driver:
    """An arm, its sensors, the command it is under, and a load that comes at a given time.

    :ivar torque: the present command in the order of arm.joint_names.
    :ivar plan: (time, frame, mass, com) of a point mass to be attached when the arm has been moving
        for that time [s], or None.
    :ivar counts: what happened: commands, refused ones and why, timeouts.
    """

    def __init__(self, arm, sensor=None, commanded=None, timeout=0.0, brake=True):
        """Take an arm.

        :param commanded: order of the joints in a command; None is the arm's.
        :param timeout: simulated time after which an old command is given up [s]; 0: never.
        :param brake: whether the brakes are closed until the first command.
        """
        self.arm, self.sensor, self.timeout = arm, sensor or Sensor(), timeout
        commanded = list(commanded or arm.joint_names)
        if sorted(commanded) != sorted(arm.joint_names):
            raise ValueError(f'commanded joints are {", ".join(commanded)}; expected an order of '
                             f'{", ".join(arm.joint_names)}')
        self._place = [commanded.index(name) for name in arm.joint_names]
        self.counts = Counter()
        self.plan = None
        self._brake = brake
        self.reset(arm.q)

    def reset(self, q):
        """Set positions, velocities zero, brakes as at the start; keep time and load."""
        self.torque, self._last = np.zeros(self.arm.n), self.arm.steps
        self.released_at = None if self._brake else self.arm.steps
        self.arm.braked = self._brake
        self.arm.set(q)

    @property
    def moving_for(self):
        """Simulated time since the brakes opened [s]; 0 while they are closed."""
        if self.released_at is None:
            return 0.0
        return (self.arm.steps - self.released_at) * self.arm.timestep

    @property
    def now(self):
        """The simulated clock [ns]."""
        return START + round(self.arm.steps * self.arm.timestep * 1e9)

    # Commands --------------------------------------------------------------------------------

    def take_command(self, values):
        """Keep a command, values in the commanded order; return whether it is valid."""
        return self._take(values, self._place)

    def take_named(self, names, values):
        """Keep a command by joint names; return whether it is valid."""
        place = {name: k for k, name in enumerate(names)}
        if len(names) != len(values) or not place.keys() >= set(self.arm.joint_names):
            self.counts['refused: names'] += 1
            return False
        return self._take(values, [place[name] for name in self.arm.joint_names], len(names))

    def _take(self, values, place, size=None):
        if len(values) != (size or self.arm.n):
            self.counts['refused: size'] += 1
            return False
        torque = np.asarray(values, dtype=float)[place]
        if not np.isfinite(torque).all():
            self.counts['refused: not finite'] += 1
            return False
        self.counts['commands'] += 1
        self.torque, self._last = torque, self.arm.steps
        return True

    def release(self):
        """Open the brakes, if they are closed."""
        if self.arm.braked:
            self.arm.release()
            self.released_at = self._last = self.arm.steps
            self.sensor.restart()  # however long it has stood: the same motion, the same noise

    # Time ------------------------------------------------------------------------------------

    def advance(self, n):
        """Advance n time steps under the present command."""
        if self.plan and self.released_at is not None and self.moving_for >= self.plan[0]:
            self.attach(*self.plan[1:])
        if self._too_old():
            self.counts['timeouts'] += 1
            self.released_at = None
            self.arm.brake()
        self.arm.step(self.torque, n)

    def read(self, stamp=None):
        """Return the Reading that arrives now, or None; stamped by the simulated clock if None."""
        arm = self.arm
        return self.sensor(Reading(self.now if stamp is None else stamp, arm.q, arm.v, arm.effort))

    def _too_old(self):
        return (self.timeout > 0.0 and not self.arm.braked
                and (self.arm.steps - self._last) * self.arm.timestep > self.timeout)

    # Load ------------------------------------------------------------------------------------

    def attach(self, frame, mass, com=(0.0, 0.0, 0.0)):
        """Attach a point mass now."""
        self.plan = None
        self.arm.attach('payload', frame, mass, com)

    def detach(self):
        """Detach the load, or cancel its attachment."""
        self.plan = None
        self.arm.detach('payload')
