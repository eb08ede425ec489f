"""Call services of nodes in other processes; stop waiting when such a process ends."""

import time

from rcl_interfaces.srv import SetParametersAtomically
from rclpy.duration import Duration
from rclpy.parameter import Parameter
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynamics_node import DynamicsError
from dynamics_node.ros import convert

PATIENCE = 30.0   # [s] of wall time, for an answer from a loaded machine
AGAIN = 5.0       # [s] after which a request is sent again: a reply may be lost during discovery
GLANCE = 0.1      # [s] of wall time, between looks at the processes
POLL = 0.002      # [s] of wall time, between looks at a condition


class Asking:
    """Services of other nodes, from a node that spins in another thread."""

    def __init__(self, node, processes):
        """Take the node to ask from, and the Processes that must not end meanwhile."""
        self._node, self._processes, self._clients = node, processes, {}

    def set(self, node, parameters, again_if=None):
        """Set parameters of a node, all or none; raise its refusal.

        :param again_if: a refusal that contains this text is followed by another call.
        """
        name, deadline = f'{node}/set_parameters_atomically', time.monotonic() + PATIENCE
        messages = [Parameter(key, value=value).to_parameter_msg()
                    for key, value in parameters.items()]
        result = self._reply(SetParametersAtomically, name, parameters=messages).result
        while again_if and again_if in result.reason and time.monotonic() < deadline:
            result = self._reply(SetParametersAtomically, name, parameters=messages).result
        if not result.successful:
            raise RuntimeError(f'{name}: {result.reason}')

    def call(self, kind, name, again_if=None, **fields):
        """Return the message of a service that has success and message, or raise its refusal.

        :param again_if: a refusal that contains this text is followed by another call.
        """
        deadline = time.monotonic() + PATIENCE
        reply = self._reply(kind, name, **fields)
        while again_if and again_if in reply.message and time.monotonic() < deadline:
            reply = self._reply(kind, name, **fields)
        if not reply.success:
            raise RuntimeError(f'{name}: {reply.message}')
        return reply.message

    def _reply(self, kind, name, **fields):
        if name not in self._clients:
            self._clients[name] = self._node.create_client(kind, name)
        client, futures, sent = self._clients[name], [], -AGAIN
        self.wait(client.service_is_ready, name)

        def answered():
            nonlocal sent
            if time.monotonic() - sent >= AGAIN:
                sent = time.monotonic()
                futures.append(client.call_async(kind.Request(**fields)))
            return next((future for future in futures if future.done()), None)
        return self.wait(answered, name).result()

    def wait(self, condition, what, meanwhile=lambda: None):
        """Return the first true value of condition(); fail if a process ends or time runs out.

        :param meanwhile: called now and then; time begins anew whenever it returns something else.
        """
        deadline, glanced, sign = time.monotonic() + PATIENCE, 0.0, None
        while not (value := condition()):
            now = time.monotonic()
            if now - glanced > GLANCE:
                glanced = now
                self._processes.check()
                before, sign = sign, meanwhile()
                if sign != before:
                    deadline = now + PATIENCE
            if now > deadline:
                raise TimeoutError(f'no sign of {what} after {PATIENCE:g} s; the node says:\n'
                                   f'{self._processes.tail("node")}')
            time.sleep(POLL)
        return value


def stamp_known_to(client):
    """Return the stamp of the state that the node of a DynamicsClient has [ns], -1: none."""
    try:
        return convert.nanoseconds(client.inverse_dynamics().state_stamp)
    except (DynamicsError, TimeoutError):
        return -1


def trajectory_message(spline, joint_names, start):
    """Return the JointTrajectory of a Spline that starts at a time [ns]."""
    message = JointTrajectory(joint_names=joint_names)
    message.header.stamp = convert.time(start)
    message.points = [JointTrajectoryPoint(
        time_from_start=Duration(seconds=float(t)).to_msg(), positions=q.tolist(),
        velocities=v.tolist(), accelerations=a.tolist()) for t, q, v, a in zip(
            spline.times, spline.positions, spline.velocities, spline.accelerations)]
    return message
