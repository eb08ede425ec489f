"""Test a fleet over two hosts (network namespaces) with a discovery server of Fast DDS."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from support.remote_node import wait_until

from dynamics_node.example_robots import ARM7

PATIENCE = 60.0                              # [s] on a loaded machine
HOSTS = ('192.0.2.1', '192.0.2.2')           # a range for documentation; exists in the test alone
PORT = 11811
# What keeps other tests on the loopback of this host.
LOOPBACK = ('ROS_LOCALHOST_ONLY', 'FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')
CALLER = """
import json, sys
import rclpy
from dynamics_node.ros.fleet_client import FleetClient, find_robots
rclpy.init()
node = rclpy.create_node('caller')
fleet = FleetClient(node, timeout=60.0, discovery=60.0)
print(json.dumps(find_robots(node, 60.0)), flush=True)
reply = fleet.call('dynamics_terms', [0.5] * 7, [0.0] * 7)
print(json.dumps({name: list(each.gravity) for name, each in reply.replies.items()}), flush=True)
sys.stdin.readline()      # the node is ended meanwhile
while find_robots(node):
    rclpy.spin_once(node, timeout_sec=0.05)
print('gone', flush=True)
"""


def _run(*words):
    subprocess.run(['ip', *words], check=True, capture_output=True, timeout=PATIENCE)


@pytest.fixture
def hosts():
    """Two network namespaces that are connected; their names."""
    names = [f'dyn{os.getpid()}{side}' for side in 'ab']
    if shutil.which('ip') is None or shutil.which('fastdds') is None:
        pytest.skip('needs the programs ip (iproute2) and fastdds (of ROS)')
    try:
        try:
            for name in names:
                _run('netns', 'add', name)
            _run('link', 'add', 'va', 'netns', names[0], 'type', 'veth', 'peer', 'name', 'vb',
                 'netns', names[1])
        except (subprocess.CalledProcessError, OSError) as error:
            pytest.skip(f'network namespaces are not permitted here: run as root ({error})')
        for name, link, address in zip(names, ('va', 'vb'), HOSTS):
            _run('-n', name, 'address', 'add', f'{address}/24', 'dev', link)
            _run('-n', name, 'link', 'set', 'lo', 'up')
            _run('-n', name, 'link', 'set', link, 'up')
        yield names
    finally:
        for name in names:
            with suppress(subprocess.CalledProcessError, OSError):
                _run('netns', 'delete', name)


@pytest.fixture
def start(hosts, tmp_path, ros_environment):
    """Return a function that starts a program on a host, with the discovery server's address."""
    started = []

    def begin(host, *words, **options):
        environment = os.environ | {
            'ROS_DISCOVERY_SERVER': f'{HOSTS[0]}:{PORT}', 'ROS_SUPER_CLIENT': 'TRUE',
            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET',
            'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4'}   # two hosts share no memory
        for unwanted in LOOPBACK:
            environment.pop(unwanted, None)
        path = tmp_path / f'{len(started)}.log'
        with path.open('wb') as log:
            process = subprocess.Popen(
                ['ip', 'netns', 'exec', hosts[host], *words],
                **{'stdout': log, 'stderr': log, 'env': environment, 'start_new_session': True,
                   **options})
        process.log = path
        started.append(process)
        return process
    yield begin
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_a_client_on_another_host_asks_a_node_and_notices_its_end(start):
    server = start(0, 'fastdds', 'discovery', '-i', '0', '-l', HOSTS[0], '-p', str(PORT))
    # A client of Fast DDS that starts at the same time as its server, or as another client, may
    # never find the others (seen with 2.14.5).
    wait_until(lambda: 'Server is running' in server.log.read_text(), 'the discovery server')
    node = start(0, 'dynamics_node', '--ros-args', '-p', f'robot_description:={ARM7}',
                 '-r', '__ns:=/arm_1')
    wait_until(lambda: 'activate: success' in node.log.read_text(), 'the node')
    caller = start(1, sys.executable, '-c', CALLER, text=True, stdin=subprocess.PIPE,
                   stdout=subprocess.PIPE, cwd='/')
    assert json.loads(caller.stdout.readline()) == ['/arm_1/dynamics_node']
    gravity = json.loads(caller.stdout.readline())['/arm_1/dynamics_node']
    from dynamics_node import Robot
    assert gravity == pytest.approx(Robot.from_urdf(ARM7).gravity_torque([0.5] * 7), rel=1e-12)
    os.killpg(node.pid, signal.SIGKILL)   # no good-bye: it is noticed by its silence
    begin = time.monotonic()
    caller.stdin.write('\n')
    caller.stdin.flush()
    assert caller.stdout.readline() == 'gone\n'
    assert time.monotonic() - begin < PATIENCE
