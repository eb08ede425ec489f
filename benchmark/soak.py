"""Soak test of the node: many mixed calls, valid and invalid, while memory is measured.

python benchmark/soak.py [--calls 200000]

Exit code 0 only if every valid call succeeded, every invalid one failed, and memory did not grow.
"""

import argparse
import random
import sys
import time
from array import array
from pathlib import Path

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from progress import Progress
from ros_calls import Caller, server
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynamics_node import Robot, srv
from dynamics_node.example_robots import ARM7

WARM_UP = 0.1        # of the calls: caches fill, kernels are loaded
FLAT = 5.0           # [MB] that memory may grow by after that
EVERY = 1000         # calls between two measurements of the memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--calls', type=int, default=200_000)
    calls = parser.parse_args().calls
    rclpy.init()
    try:
        with server() as process:
            sys.exit(soak(process, calls))
    finally:
        rclpy.try_shutdown()


def soak(process, calls):
    """Return the exit code."""
    caller = Caller()
    caller.wait_until_compiled()
    mix = Mix(caller, random.Random(1))
    progress = Progress(calls)
    progress.stage(f'{calls} mixed calls', calls)
    memory, wrong, start = [], [], time.monotonic()
    for k in range(calls):
        kind, name, request, good = mix.draw()
        _, response = caller.call(caller.client(kind, f'/dynamics_node/{name}'), request)
        if response.success != good:
            wrong.append(f'{name}: {response.message or "an invalid request succeeded"}')
        if k % EVERY == 0:
            memory.append(megabytes(process.pid))
            progress(k / calls)
            if process.poll() is not None:
                print('soak: the node has ended')
                return 1
    progress.clear()
    settled = memory[int(WARM_UP * len(memory)):]
    grown = settled[-1] - settled[0]
    print(f'{calls} calls in {time.monotonic() - start:.0f} s, {len(wrong)} with a wrong '
          f'outcome; memory {memory[0]:.1f} MB at first, {settled[0]:.1f} MB after warm-up, '
          f'{settled[-1]:.1f} MB at the end: grown by {grown:.2f} MB (at most {FLAT:g})')
    for line in sorted(set(wrong))[:10]:
        print(f'  {line}')
    return int(bool(wrong) or grown > FLAT)


class Mix:
    """Draws requests of many services, one in ten of them invalid."""

    def __init__(self, caller, rng):
        self.rng = rng
        self.robot = Robot.from_urdf(ARM7, compile=False)
        self.names = list(self.robot.joint_names)
        self.publisher = caller.node.create_publisher(JointState, '/joint_states', 10)

    def numbers(self, n=None):
        n = self.robot.nv if n is None else n
        return array('d', [self.rng.uniform(-1.0, 1.0) for _ in range(n)])

    def draw(self):
        """Return (type, name, request, whether it is valid)."""
        if self.rng.random() < 0.05:
            self.publisher.publish(JointState(name=self.names, position=self.numbers(),
                                              velocity=self.numbers(), effort=self.numbers()))
        good = self.rng.random() > 0.1
        kind, name, request, spoil = self.rng.choice(
            [self.inverse, self.forward, self.hybrid, self.terms, self.kinematics, self.batch,
             self.trajectory, self.payload, self.gravity, self.friction, self.report])()
        if spoil is None:  # the request has no fields
            good = True
        if not good:
            spoil(request)
        return kind, name, request, good

    def state(self, **more):
        names = self.rng.sample(self.names, len(self.names))
        return {'joint_names': names, 'position': self.numbers(), 'velocity': self.numbers(),
                **{field: self.numbers() for field in more}}

    def wrench(self):
        message = WrenchStamped()
        message.header.frame_id = self.rng.choice(self.robot.frame_names)
        message.wrench.force.x = self.rng.uniform(-10.0, 10.0)
        return [message] if self.rng.random() < 0.3 else []

    def inverse(self):
        return srv.InverseDynamics, 'inverse_dynamics', srv.InverseDynamics.Request(
            **self.state(acceleration=True), external_wrenches=self.wrench()), _unknown_joint

    def forward(self):
        return srv.ForwardDynamics, 'forward_dynamics', srv.ForwardDynamics.Request(
            **self.state(effort=True), external_wrenches=self.wrench()), _nan

    def hybrid(self):
        given = [self.rng.random() < 0.5 for _ in self.names]
        return srv.HybridDynamics, 'hybrid_dynamics', srv.HybridDynamics.Request(
            **self.state(acceleration=True, effort=True), acceleration_given=given), _short

    def terms(self):
        return (srv.DynamicsTerms, 'dynamics_terms', srv.DynamicsTerms.Request(**self.state()),
                _nan)

    def kinematics(self):
        request = srv.Kinematics.Request(**self.state(), jacobians=True, jacobian_rates=True,
                                         frames=[self.rng.choice(self.robot.frame_names)])
        return srv.Kinematics, 'kinematics', request, lambda r: setattr(r, 'frames', ['nowhere'])

    def batch(self):
        n = self.rng.choice([1, 10, 100])
        request = srv.BatchDynamics.Request(
            question=self.rng.choice(['inverse', 'forward', 'hybrid', 'terms']),
            position=self.numbers(n * self.robot.nv), velocity=self.numbers())
        if request.question in ('forward', 'hybrid'):
            request.effort = self.numbers()
        return srv.BatchDynamics, 'batch_dynamics', request, lambda r: setattr(r, 'question', '?')

    def trajectory(self):
        points = [JointTrajectoryPoint(positions=self.numbers()) for _ in range(5)]
        for k, point in enumerate(points):
            point.time_from_start.sec = k
        request = srv.TrajectoryTorques.Request(
            trajectory=JointTrajectory(joint_names=self.names, points=points),
            payload_frame=self.robot.frame_names[-1])
        return (srv.TrajectoryTorques, 'trajectory_torques', request,
                lambda r: setattr(r.trajectory, 'points', []))

    def payload(self):
        request = srv.SetPayload.Request(name=self.rng.choice('abc'),
                                         frame=self.rng.choice(self.robot.frame_names))
        request.payload.m = self.rng.uniform(0.1, 2.0)
        request.transition_time.nanosec = self.rng.choice([0, 50_000_000])
        return srv.SetPayload, 'set_payload', request, lambda r: setattr(r.payload, 'm', -1.0)

    def gravity(self):
        request = srv.SetGravity.Request()
        request.gravity.vector.z = self.rng.uniform(-10.0, -9.0)
        return (srv.SetGravity, 'set_gravity', request,
                lambda r: setattr(r.gravity.vector, 'z', np.inf))

    def friction(self):
        request = srv.SetFriction.Request(joint_names=self.names[:2], friction=[0.1, 0.2])
        return srv.SetFriction, 'set_friction', request, lambda r: setattr(r, 'friction', [-1.0, 0])

    def report(self):
        return srv.ListPayloads, 'list_payloads', srv.ListPayloads.Request(), None


def _unknown_joint(request):
    request.joint_names = ['no_such_joint', *request.joint_names[1:]]


def _nan(request):
    request.position = array('d', [np.nan, *request.position[1:]])


def _short(request):
    request.velocity = request.velocity[:-1]


def megabytes(pid):
    for line in Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('VmRSS'):
            return int(line.split()[1]) / 1024.0
    raise RuntimeError('no VmRSS')


if __name__ == '__main__':
    main()
