"""Stand in for a running node: a state that the test sets, and requests that it counts."""

import time

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.inspector.live_state import LiveState, NamedValues

JOINTS = Robot.from_urdf(ARM7, compile=False).joint_names


def now(*numbers):
    """Return the NamedValues of all joints of the arm, which have just arrived."""
    return named(dict(zip(JOINTS, numbers)), time.monotonic())


def named(values, arrived):
    """Return the NamedValues of numbers that arrived together."""
    return NamedValues(values, dict.fromkeys(values, arrived))


class WatchedStandIn:
    """What a WatchedNode is to a page; and the requests to it."""

    name = '/arm/dynamics_node'

    def __init__(self):
        self.state = LiveState(False)
        self.requests = []

    def live(self, **changes):
        """Set the state of a node that holds the arm."""
        self.state = LiveState(
            True, ARM7.read_text(), now(0.3, 0.7, -0.2, 1.1, 0.4, -0.6, 0.1), now(*[0.0] * 7),
            now(0, -19, 2, -8, 0, 1, 0), gate='enabled', mode='gravity', rate='500.0',
            wanted=now(0, -18.9, 1.8, -7.6, 0.3, 1.3, 0),
            released=now(0, -18.9, 1.8, -7.6, 0.3, 1.3, 0))._replace(**changes)

    def read(self):
        """Return the state; its messages have just arrived."""
        return self.state

    def enable(self, on):
        self.requests.append(('enable', on))
        return 'torques are enabled.'

    def attach(self, name, frame, mass):
        self.requests.append(('attach', name, frame, mass))
        return 'attached'

    def detach(self, name):
        self.requests.append(('detach', name))
        return 'detached'
