"""Fixtures of a real node, for the command `call`."""

from support.ros_fixtures import (  # noqa: F401
    arm,
    client,
    launch,
    launch_once,
    no_participant_is_left,
    node_forks,
    ros_environment,
    start_node,
)
