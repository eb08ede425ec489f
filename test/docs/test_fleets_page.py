"""Test the profile of docs/fleets.md for fleets without a discovery server."""

import subprocess
import sys
from pathlib import Path

PROFILE = Path(__file__).resolve().parents[2] / 'config' / 'fleet.xml'
WANTED = 4194304   # bytes
SIZES = """
import os, socket
import rclpy
rclpy.init()
node = rclpy.create_node('sizes')
for each in map(int, os.listdir('/proc/self/fd')):
    try:
        with socket.socket(fileno=os.dup(each)) as found:
            if found.type == socket.SOCK_DGRAM and found.getsockname()[1]:
                print(found.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF))
    except OSError:
        pass
node.destroy_node()
rclpy.shutdown()
"""


def test_the_profile_makes_receive_buffers_larger(tmp_path, ros_environment, monkeypatch):
    """Of the sockets of Fast DDS, as far as the system permits; Linux doubles what is asked for."""
    for name in ('ROS_LOCALHOST_ONLY', 'ROS_AUTOMATIC_DISCOVERY_RANGE'):
        monkeypatch.delenv(name, raising=False)
    for name in ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE'):
        monkeypatch.setenv(name, str(PROFILE))
    done = subprocess.run([sys.executable, '-c', SIZES], cwd=tmp_path, capture_output=True,
                          text=True, check=True, timeout=60.0)
    granted = int(Path('/proc/sys/net/core/rmem_max').read_text())
    assert max(map(int, done.stdout.split())) >= 2 * min(WANTED, granted)
