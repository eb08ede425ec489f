"""Import the fixtures of a real node for the fuzz tests."""

from support.ros_fixtures import client, launch, ros_environment, start_node  # noqa: F401
