"""Fuzz the handlers of all services in this process: random requests, several robots."""

import pytest
from rclpy.serialization import serialize_message
from support.fuzz import MOST_TEXT, cases, no_hang, rng_of, same_memory
from support.node_states import at_once, node_state_of
from support.random_requests import RandomRequests
from support.tiny_robots import EVERY_KIND, TWO_JOINTS

from dynamics_node.example_robots import ARM7
from dynamics_node.ros.deferred_reply import DeferredReply
from dynamics_node.ros.long_requests.durations import duration_of
from dynamics_node.ros.sendable_messages import sendable
from dynamics_node.ros.services.runner import ServiceRunner
from dynamics_node.ros.services.table import SERVICES

# Numbers such as 1e300 overflow in NumPy: the reply has inf, and the node writes one line.
pytestmark = pytest.mark.filterwarnings('ignore::RuntimeWarning')

# questions of all services, kinds of constraints, targets, tasks and bounds, axes, methods
WORDS = ('inverse', 'forward', 'hybrid', 'terms', 'forces', 'distribution', 'impact', 'motion',
         'unloaded', 'pose', 'poses', 'forget', 'position', 'orientation', 'axis', 'frame',
         'posture', 'center_of_mass', 'force', 'torque', 'acceleration', 'joint_limits', 'friction',
         'point_contact', 'flat_contact', 'line_contact', 'least_torque', 'least_force', 'x', 'rz')
YAML = '- {name: foot, kind: point_contact, frame: elbow_link, friction: 0.5}'
ROBOTS = {'two joints': (TWO_JOINTS, 'fixed'), 'every kind': (EVERY_KIND, 'floating'),
          'arm': (str(ARM7), 'fixed'), 'floating arm': (str(ARM7), 'floating')}
CASES = 250          # of each robot
WARM_UP = 50         # of them, in which caches fill
LONGEST = 2.0        # [s] estimated: longer requests would be stopped, by the pool


class Fuzzed:
    """A node without ROS that replies to random requests."""

    def __init__(self, source, base):
        self.node_state = node_state_of(source, base=base, compile=False)
        self.bugs = []
        self.runner = ServiceRunner(self.node_state, self.bugs.append)
        self.runner.active = True
        robot = self.node_state.robot
        self.words = [*WORDS, YAML, *robot.joint_names, *robot.frame_names] * 2
        self.sizes = robot.nv, robot.nq, len(robot.joint_names), 2 * robot.nv

    def check(self, seed):
        """Check the reply of a case."""
        with no_hang():
            service, reply = self.reply(seed)
        assert self.bugs == [], f'seed {seed}, {service}'
        if reply is not None:
            assert len(serialize_message(sendable(reply)))
            assert reply.success or 0 < len(reply.message) < MOST_TEXT, f'seed {seed}, {service}'

    def reply(self, seed):
        """Return (service, reply) of a case; None for a request that the pool would stop."""
        rng = rng_of(seed)
        service = rng.choice(list(SERVICES))
        kind, handler, estimate = SERVICES[service]
        request = RandomRequests(rng, self.words).draw(kind.Request, self.sizes)
        if service == 'self_test':
            request.samples = min(request.samples, 3) or 1   # it only has a size
        if service == 'inverse_kinematics':
            request.restarts = min(request.restarts, 3)      # without kernels they are slow
        if estimate is not None and (
                duration_of(estimate, self.node_state, request).seconds > LONGEST):
            return service, None
        reply = self.runner.callback(handler)(request, kind.Response())
        return service, (at_once(self.runner, reply) if isinstance(reply, DeferredReply)
                         else reply)


@pytest.mark.parametrize('robot', ROBOTS)
def test_every_request_gets_a_short_reply(robot):
    """None raises an exception, none hangs, and memory stays."""
    node = Fuzzed(*ROBOTS[robot])
    seeds = cases(CASES)
    for seed in seeds[:WARM_UP]:
        node.check(seed)
    with same_memory():
        for seed in seeds[WARM_UP:]:
            node.check(seed)
    assert node.runner.served > 0.05 * len(seeds) and node.runner.refused > 0.2 * len(seeds)
