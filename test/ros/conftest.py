"""Import the fixtures of a real node for all tests of this room."""

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
