"""Measure what the nodes of a fleet take on one machine: CPU, memory, time of calls.

python benchmark/fleet.py [--robots 20] [--rate 50] [--seconds 20] [--interval 2.5] [--server]

Prints a table as JSON.

Each robot has its namespace and its joint states; one process publishes the states of all.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from array import array
from pathlib import Path

import numpy as np
import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from ros_calls import cpu_seconds
from sensor_msgs.msg import JointState

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'examples'))
from processes import die_with_parent, own_domain, program_of  # noqa: E402

from dynamics_node import Robot  # noqa: E402
from dynamics_node.example_robots import ARM7  # noqa: E402
from dynamics_node.ros import FleetClient, find_robots  # noqa: E402

SENSOR = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
PROFILE = Path(__file__).resolve().parent / 'fleet.xml'
PROFILE_VARIABLES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')
SERVER_PORT = 11811   # plus the domain
PATIENCE = 300.0   # [s] until all nodes are there


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--robots', type=int, default=20)
    parser.add_argument('--rate', type=float, default=50.0, help='of joint states [Hz]')
    parser.add_argument('--seconds', type=float, default=20.0)
    parser.add_argument('--interval', type=float, default=2.5, help='between two starts [s]')
    parser.add_argument('--server', action='store_true', help='with a discovery server')
    options = parser.parse_args()
    names = [f'/arm_{k}' for k in range(options.robots)]
    with own_domain() as domain:
        os.environ.update(dict.fromkeys(PROFILE_VARIABLES, str(PROFILE)))
        server = start_server(domain) if options.server else None
        of_nodes = dict(os.environ)
        if server is not None:
            os.environ['ROS_SUPER_CLIENT'] = 'TRUE'   # of this process: it looks for all nodes
        options.begin = time.monotonic()
        nodes = []
        rclpy.init()
        try:
            for name in names:
                nodes.append(start(name, of_nodes))
                time.sleep(options.interval)
            print(json.dumps(measure(nodes, names, options), indent=2))
        finally:
            rclpy.try_shutdown()
            for each in nodes:
                each.send_signal(signal.SIGINT)
            for each in nodes:
                each.wait(PATIENCE)
            if server is not None:
                server.terminate()
                server.wait(PATIENCE)


def start_server(domain):
    """Start a discovery server, which this process and its nodes use from now on."""
    address = f'127.0.0.1:{SERVER_PORT + domain}'
    host, port = address.split(':')
    # what `fastdds discovery` starts as a child, which would outlive a kill of this process
    server = subprocess.Popen(['fast-discovery-server', '-i', '0', '-l', host, '-p', port],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True, preexec_fn=die_with_parent)
    os.environ['ROS_DISCOVERY_SERVER'] = address
    return server


def start(name, environment):
    """Start the node of a robot; it ends with this process, also if that is killed."""
    return subprocess.Popen(
        [str(program_of('dynamics_node')), '--ros-args', '-p', f'robot_description:={ARM7}', '-r',
         f'__ns:={name}'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environment, start_new_session=True, preexec_fn=die_with_parent)


def measure(nodes, names, options):
    """Return {what: value}."""
    node, executor = rclpy.create_node('measure'), EventsExecutor()
    executor.add_node(node)
    stop = threading.Event()
    spinning = threading.Thread(target=spin, args=(executor, stop))
    spinning.start()
    found = find_robots(node, PATIENCE, len(names))
    assert len(found) == len(names), f'{len(found)} of {len(names)} nodes after {PATIENCE} s'
    fleet = FleetClient(node, timeout=PATIENCE, discovery=PATIENCE)
    fleet.call('model_report')
    started = time.monotonic() - options.begin
    wait_until_idle(nodes)
    quiet = share_of_core(nodes, options.seconds)
    publish = threading.Thread(target=publish_states, args=(node, names, options, stop))
    publish.start()
    measured = share_of_core(nodes, options.seconds)
    seconds = [timed(fleet) for _ in range(20)]
    stop.set()
    publish.join()
    spinning.join()
    n = len(nodes)
    return {'robots': n, 'start until all reply [s]': round(started, 1),
            'CPU per robot without joint states [% of a core]': round(100.0 * quiet / n, 2),
            f'CPU per robot, joint states at {options.rate:g} Hz [% of a core]': round(
                100.0 * measured / n, 2),
            'memory per robot, proportional share [MB]': round(
                sum(memory(each.pid) for each in nodes) / n, 1),
            'call of inverse dynamics to all at once, median [ms]': round(
                1e3 * float(np.median(seconds)), 1)}


def spin(executor, stop):
    while not stop.is_set():
        executor.spin_once(timeout_sec=0.1)


def wait_until_idle(nodes):
    """Wait until all kernels are compiled."""
    before, now = -1.0, 0.0
    while now - before > 0.1 * len(nodes):
        time.sleep(2.0)
        before, now = now, sum(cpu_seconds(each.pid) for each in nodes)


def share_of_core(nodes, seconds):
    """Return the CPU time of all processes of the nodes, per second."""
    before, begin = sum(cpu_seconds(each.pid) for each in nodes), time.monotonic()
    time.sleep(seconds)
    return (sum(cpu_seconds(each.pid) for each in nodes) - before) / (time.monotonic() - begin)


def publish_states(node, names, options, stop):
    """Publish the joint states of all robots until `stop` is set."""
    robot = Robot.from_urdf(ARM7, compile=False)
    message = JointState(name=list(robot.joint_names), position=array('d', [0.1] * robot.nv),
                         velocity=array('d', [0.0] * robot.nv), effort=array('d', [0.0] * robot.nv))
    publishers = [node.create_publisher(JointState, f'{name}/joint_states', SENSOR)
                  for name in names]
    begin, k = time.monotonic(), 0
    while not stop.is_set():
        message.header.stamp = node.get_clock().now().to_msg()
        for each in publishers:
            each.publish(message)
        k += 1
        time.sleep(max(0.0, begin + k / options.rate - time.monotonic()))


def timed(fleet):
    """Return the seconds of one call to all robots; all must reply."""
    begin = time.monotonic()
    replies, errors = fleet.call('inverse_dynamics', a=[0.1] * 7)
    assert not errors, errors
    return time.monotonic() - begin


def memory(pid):
    """Return the memory of a process and its children [MB]; shared pages count by their share."""
    text = Path(f'/proc/{pid}/smaps_rollup').read_text()
    own = next(int(line.split()[1]) for line in text.splitlines() if line.startswith('Pss:'))
    children = Path(f'/proc/{pid}/task/{pid}/children').read_text().split()
    return own * 1024 / 1e6 + sum(memory(int(each)) for each in children)


if __name__ == '__main__':
    os.environ.pop('ROS_DISCOVERY_SERVER', None)
    main()
