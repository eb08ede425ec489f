"""Show an arm that moves in the browser (`make inspector`).

    python examples/inspector.py [--port 8080]

A simulated arm (MuJoCo, examples/sim), the dynamics node and the inspector run as three processes,
on a ROS domain of their own, in real time. The arm moves to and fro until Ctrl-C.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / 'sim'))
HERE = Path(__file__).resolve().parent
BENT = [0.0, 0.5, 0.0, -1.2, 0.0, 0.8, 0.0]      # [rad]
SWING = [0.8, 0.3, 0.3, 0.4, 0.5, -0.4, 0.6]     # [rad] from there and back
PERIOD, STEP = 6.0, 0.1                          # [s] of a swing, between two points
PATIENCE = 120.0                                 # [s] for the kernels to be compiled
NODE = {'torque.mode': 'computed_torque', 'torque.command_topic': 'effort_controller/commands',
        'torque.gains': 'kp_kd', 'torque.kp.default': 100.0, 'torque.kd.default': 20.0,
        'torque.hold_reference': True, 'observer.effort_meaning': 'unknown',
        # A browser that draws in software delays all processes; a real arm needs the defaults.
        'safety.max_state_age': 1.0, 'safety.max_clock_step': 3.0, 'safety.watchdog_time': 3.0}


def main(argv=None):
    """Run until Ctrl-C; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--port', type=int, default=8080, help='of the page')
    parser.add_argument('--out', type=Path, default=Path('build/inspector'), help='for the logs')
    parser.add_argument('--swings', type=int, default=0, help='then end; 0: until Ctrl-C')
    arguments = parser.parse_args(argv)
    from processes import Processes, own_domain, program_of
    with own_domain():
        processes = Processes(arguments.out)
        processes.start('arm', HERE / 'sim' / 'arm_node.py', {'initial_position': BENT})
        processes.start('node', program_of('dynamics_node'), NODE)
        page = subprocess.Popen([sys.executable, str(program_of('dynamics_node')), 'inspect-live',
                                 '--port', str(arguments.port)])
        try:
            move(processes, arguments.swings)
        except KeyboardInterrupt:
            return 130
        except (RuntimeError, TimeoutError) as error:
            print(f'inspector: {error}', file=sys.stderr)
            return 1
        finally:
            page.terminate()
            page.wait()
            processes.close()
    return 0


def move(processes, swings):
    """Enable torques, then send one swing after the other; 0: without end."""
    import rclpy
    from trajectory_msgs.msg import JointTrajectory

    from dynamics_node.ros.send_reference import trajectory_of
    rclpy.init(args=[])
    node = rclpy.create_node('mover')
    try:
        enable(node, processes)
        publisher = node.create_publisher(JointTrajectory, 'dynamics_node/reference', 1)
        done = 0
        while swings == 0 or done < swings:
            processes.check()
            publisher.publish(trajectory_of(swing()))
            time.sleep(PERIOD + 1.0)
            done += 1
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def enable(node, processes):
    """Enable torques as soon as the node accepts that."""
    import rclpy
    from std_srvs.srv import SetBool
    client = node.create_client(SetBool, 'dynamics_node/enable')
    deadline, why = time.monotonic() + PATIENCE, 'no service dynamics_node/enable'
    while time.monotonic() < deadline:
        processes.check()
        if client.wait_for_service(1.0):
            future = client.call_async(SetBool.Request(data=True))
            rclpy.spin_until_future_complete(node, future, timeout_sec=20.0)
            if future.done() and future.result().success:
                return
            why = future.result().message if future.done() else 'no answer'
            time.sleep(0.5)
    raise TimeoutError(f'torques could not be enabled within {PATIENCE:g} s: {why}')


def swing():
    """Return the points of a motion from BENT and back, at rest at both ends."""
    import numpy as np

    from dynamics_node.identification.trajectory_files import TimedPoints
    times = np.arange(0.0, PERIOD + STEP / 2.0, STEP)
    phase, w = 2.0 * np.pi * times / PERIOD, 2.0 * np.pi / PERIOD
    shape = (0.5 * (1.0 - np.cos(phase)), 0.5 * w * np.sin(phase), 0.5 * w ** 2 * np.cos(phase))
    q, v, a = (part[:, None] * np.array(SWING) for part in shape)
    names = tuple(f'joint_{k}' for k in range(1, 8))
    # The acceleration begins at its greatest value; the gate's slew limit smooths the start.
    return TimedPoints(names, times, np.array(BENT) + q, v, a)


if __name__ == '__main__':
    sys.exit(main())
