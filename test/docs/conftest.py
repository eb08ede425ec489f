"""Fixtures of a real node, for the commands of the pages."""

from support.ros_fixtures import (  # noqa: F401
    launch_once,
    no_participant_is_left,
    node_forks,
    ros_environment,
)
