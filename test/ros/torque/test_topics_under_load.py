"""Test torques while clients call every service without pause: the benchmark in short.

In simulated time, step by step: each joint state is sent when the torque of the one before it has
arrived. So every one must be answered, however busy the machine is.
"""

import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from support.remote_node import wait_until
from support.simple_recordings import recorded
from support.simulated_arm import LockstepArm
from support.torque_wire import REST, parameters

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.csv_files import write_csv

pytestmark = pytest.mark.long

LOAD = Path(__file__).resolve().parents[3] / 'benchmark' / 'torque_under_load.py'
CLIENTS = ('services', 'batches', 'new kernels', 'files')
STEPS = 200
SOME = 10           # requests
PATIENCE = 180.0    # [s] for the clients to start, and for requests beside a busy machine
RELIABLE = 'qos_overrides./joint_states.subscription.reliability:=reliable'   # none may get lost


@contextmanager
def clients(forks, folder):
    """Run the clients of the benchmark, each a process; yield them."""
    environment = {**os.environ, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'}   # as the node
    recording = folder / 'motion.csv'
    write_csv(recording, recorded(Robot.from_urdf(ARM7)))
    with (folder / 'clients.log').open('wb') as log:
        started = [forks.start(LOAD, ['--client', name, '--recording', str(recording)], log,
                               environment) for name in CLIENTS]
        try:
            yield started
        finally:
            for process in started:
                process.kill()
                process.wait()


def served(arm):
    """Return how many requests the node has answered."""
    return sum(int(item.value) for status in arm.node.heard[-1:] for item in status.values
               if item.key in ('requests served', 'requests refused'))


def faults(arm):
    """Return the kinds of faults that the newest diagnostics count."""
    return [item.key for item in arm.statuses[-1].values
            if item.key.startswith('refused: ') and not item.key.startswith('refused: enable')]


def step_until(arm, condition, what):
    wait_until(lambda: arm.step() or condition(), what, PATIENCE)


def test_every_joint_state_is_answered_under_load(launch, node_forks, tmp_path):
    """No fault; every message within the contract. The arm moves, so that the torque changes."""
    arm = LockstepArm(launch(
        *parameters(use_sim_time=True), RELIABLE, namespace='', environment={
            'DYNAMICS_NODE_COMPILE': '1', 'DYNAMICS_NODE_CACHE': str(tmp_path / 'cache')}))
    arm.run_until(lambda: arm.enable().success, 'enable')
    arm.run_until(lambda: arm.said('enabled'), 'enabled')
    with clients(node_forks, tmp_path) as started:
        arm.lockstep = True
        step_until(arm, lambda: served(arm) > SOME, 'requests')
        step_until(arm, lambda: 'robot description was refused' in arm.log(), 'garbage')
        before, count = served(arm), len(arm.heard)
        for k in range(STEPS):
            phase = 2.0 * np.pi * k / STEPS
            arm.q, arm.v = REST + 0.2 * np.sin(phase), np.zeros(7)
            arm.step()
        step_until(arm, lambda: served(arm) > before, 'more requests')
        assert [process.poll() for process in started] == [None] * len(CLIENTS)
    assert len(arm.heard) - count >= STEPS
    assert arm.said('enabled')
    assert faults(arm) == []
    arm.check()
    assert 'Traceback' not in arm.log()
    arm.close()
