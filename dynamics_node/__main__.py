"""Run the program `dynamics_node` as `python -m dynamics_node`."""

import sys

from dynamics_node.commands.executable import main

if __name__ == '__main__':
    sys.exit(main())
