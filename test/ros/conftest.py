"""Import the fixtures of a real node for all tests of this room."""

import time

import pytest
from support.ros_fixtures import (  # noqa: F401
    arm,
    client,
    driven_arm,
    forked_loops,
    launch,
    launch_once,
    no_participant_is_left,
    node_forks,
    ros_environment,
    start_node,
)

from dynamics_node.ros.torque import law_kernels

PATIENCE = 180.0   # [s] for kernels beside busy processes


@pytest.fixture
def awaited_kernels(compiler_on, monkeypatch):
    """Robots compile. Where the node refuses, as kernels of the law are missing, wait for them."""
    def wait(robot, check=law_kernels.check_kernels):
        end = time.monotonic() + PATIENCE
        while robot.compilation_enabled and robot.compiling and time.monotonic() < end:
            time.sleep(0.001)
        check(robot)   # raises after that time
    monkeypatch.setattr(law_kernels, 'check_kernels', wait)
