"""Run the commands that need no ROS: `python -m dynamics_node inspect robot.urdf`."""

import sys

from dynamics_node.commands.main import main

if __name__ == '__main__':
    sys.exit(main())
