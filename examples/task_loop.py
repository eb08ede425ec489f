"""Run the closed loop of closed_loop.py in mode task_space: stream references, record forces.

    with TaskLoop('build/demo-task', arm={'table': 0.2}) as loop:
        loop.place(q)
        loop.enable({'torque.mode': 'task_space', 'torque.task_frame': 'tool0'})
        loop.stream(lambda t: Aim(position=(0.5, 0.0, 0.3), orientation=(1.0, 0.0, 0.0, 0.0)))
        run, force = loop.run_pushing(3.0)

The reference for a state is sent before the torque of that state is passed on to the arm. So it
reaches the node before the next state, which the arm publishes only after that torque.
"""

from typing import NamedTuple

import numpy as np
from closed_loop import ClosedLoop
from geometry_msgs.msg import Point, Quaternion, Vector3, WrenchStamped

from dynamics_node.msg import TaskReference
from dynamics_node.ros import convert

PERIOD = 0.01    # [s] between references; in between they go on by their twist and acceleration
NOTHING = (0.0, 0.0, 0.0)


class Aim(NamedTuple):
    """The wanted position and motion of the tool, in the axes of the root; constant orientation."""

    position: tuple              # (3,) [m]
    orientation: tuple           # x y z w
    velocity: tuple = NOTHING    # (3,) [m/s]
    acceleration: tuple = NOTHING
    push: float = None           # force down on the table instead of moving up and down [N]
    free: tuple = ()             # axes that are not controlled, 0 to 5: along x y z, about x y z


class TaskLoop(ClosedLoop):
    """A ClosedLoop whose arm has a table, and whose node follows Aims."""

    def _join(self):
        super()._join()
        node = self._node
        self._plan, self._due, self._forces = None, 0.0, {}
        self._tasks = node.create_publisher(TaskReference, 'dynamics_node/task_reference', 10)
        touch = node.create_subscription(WrenchStamped, 'simulated_arm/contact_force',
                                         self._on_force, 10)
        self._ask.wait(lambda: self._tasks.get_subscription_count()
                       and touch.get_publisher_count(), 'both nodes')

    def enable(self, parameters):
        """Let the node drive the arm by its parameters, holding the tool where it is."""
        self._plan, self._due, self._forces = None, 0.0, {}
        super().enable(parameters)

    def stream(self, plan):
        """Send the Aim plan(t), t seconds after the brakes opened, from now on."""
        self._plan = plan

    def run_pushing(self, seconds, glance=lambda t: None):
        """Let time pass; return the Run since enable, and the force of the table, (N, 3) [N]."""
        run = self.run(seconds, glance)
        stamps = [self._zero + round(t * convert.BILLION) for t in run.t]
        self._ask.wait(lambda: all(stamp in self._forces for stamp in stamps), 'contact forces')
        return run, np.array([self._forces[stamp] for stamp in stamps])

    def _on_force(self, message):
        self._forces[convert.nanoseconds(message.header.stamp)] = _numbers(message.wrench.force)

    def _record(self, t):
        super()._record(t)
        if self._plan is not None and t >= self._due:
            self._due = t + PERIOD
            self._tasks.publish(_message(self._plan(t), self._state.header.stamp))


def _message(aim, stamp):
    message = TaskReference()
    message.header.stamp = stamp
    message.pose.position = _filled(Point(), aim.position)
    message.pose.orientation = _filled(Quaternion(), aim.orientation)
    message.twist.linear = _filled(Vector3(), aim.velocity)
    message.acceleration.linear = _filled(Vector3(), aim.acceleration)
    if aim.push is not None:
        message.wrench.force.z = -float(aim.push)
        message.force_axes = [False, False, True, False, False, False]
    message.free_axes = [axis in aim.free for axis in range(6)]
    return message


def _filled(message, values):
    for axis, value in zip('xyzw', values):
        setattr(message, axis, float(value))
    return message


def _numbers(vector):
    return vector.x, vector.y, vector.z
