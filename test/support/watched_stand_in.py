"""Stand in for a running node: a state that the test sets, and requests that it counts."""

import time

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.inspector.identify_state import IdentifyState
from dynamics_node.inspector.live_page import Allowed
from dynamics_node.inspector.live_state import LiveState, NamedValues, NodeModel

CODE = 'kq7mzd2wxh9p'
ARM = Robot.from_urdf(ARM7, compile=False)
JOINTS = ARM.joint_names
GAINS = {'kp': dict.fromkeys(JOINTS, 100.0), 'kd': dict.fromkeys(JOINTS, 20.0)}


def now(*numbers):
    """Return the NamedValues of all joints of the arm, which have just arrived."""
    return named(dict(zip(JOINTS, numbers)), time.monotonic())


def named(values, arrived):
    """Return the NamedValues of numbers that arrived together."""
    return NamedValues(values, dict.fromkeys(values, arrived))


def model_of(robot=ARM, text=None, note=''):
    """Return the NodeModel of a robot."""
    text = ARM7.read_text() if text is None else text
    return NodeModel((robot.name, text), robot, text, note)


class WatchedStandIn:
    """What a WatchedNode is to a page; and the requests to it."""

    name = '/arm/dynamics_node'

    def __init__(self):
        self.state = LiveState(False)
        self.requests = []
        self.identifying = IdentifyingStandIn(self.requests)

    def allowed(self, trajectory=None):
        """Return the Allowed of a page that may control it."""
        return Allowed(self, self.identifying, CODE, trajectory)

    def live(self, **changes):
        """Set the state of a node that holds the arm."""
        self.state = LiveState(
            True, model_of(), '', now(0.3, 0.7, -0.2, 1.1, 0.4, -0.6, 0.1), now(*[0.0] * 7),
            now(0, -19, 2, -8, 0, 1, 0), gate='enabled', mode='gravity', rate='500.0',
            gains=GAINS,
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

    def set_gains(self, gain, values):
        self.requests.append(('set_gains', gain, values))
        return 'set'

    def follow(self, points):
        self.requests.append(('follow', len(points.times)))
        return 'sent'


class IdentifyingStandIn:
    """What IdentifyRequests are to a page; it counts requests."""

    def __init__(self, requests):
        self.requests, self.identification = requests, IdentifyState()

    def state(self):
        """Return the IdentifyState that the test has set."""
        return self.identification

    def begin(self, duration, points):
        self.requests.append(('begin', duration, points))
        return 'started'

    def use(self):
        self.requests.append(('use',))
        return 'started'

    def cancel(self):
        self.requests.append(('cancel',))
        return 'cancelled'
