"""Connect the library to ROS 2: the only folder that imports rclpy or messages.

The clients are here: `from dynamics_node.ros import DynamicsClient, FleetClient, find_robots`.
"""

from typing import TYPE_CHECKING

from dynamics_node.lazy_names import lazy_names

if TYPE_CHECKING:
    from dynamics_node.ros.client import DynamicsClient
    from dynamics_node.ros.fleet_client import FleetClient, find_robots

__all__ = ['DynamicsClient', 'FleetClient', 'find_robots']

# Processes of the node import modules of this folder, but no client.
__getattr__, __dir__ = lazy_names(__name__, {'client': ('DynamicsClient',),
                                             'fleet_client': ('FleetClient', 'find_robots')})
