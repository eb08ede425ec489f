"""Import the fixtures of a real node for the fuzz tests."""

from support.ros_fixtures import (  # noqa: F401
    client,
    launch,
    node_forks,
    ros_environment,
    start_node,
)
