"""Make a NodeState without ROS, with simulated clocks, and send requests to it."""

from typing import NamedTuple

import numpy as np
import pytest

from dynamics_node import Robot
from dynamics_node.errors import DynamicsError
from dynamics_node.ros.deferred_reply import DeferredReply
from dynamics_node.ros.identification.worker_process import WorkerMessage
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters.caps import DEFAULT_CAPS, Caps
from dynamics_node.ros.parameters.declared import ModelParameters
from support import random_trees

NOW = 1_700_000_000_123_456_789  # [ns]
# service -> the fields that must have a value per joint, beside position and velocity
FIELDS = {'inverse_dynamics': ('acceleration',), 'forward_dynamics': ('effort',),
          'hybrid_dynamics': ('acceleration', 'effort'), 'dynamics_terms': (), 'kinematics': (),
          'joint_reactions': ('acceleration',), 'directional_derivative': ('acceleration',),
          'derivative_terms': ('acceleration',),
          'batch_dynamics': ('acceleration',), 'dynamics_derivatives': ('acceleration',),
          'linearization': ('effort',), 'constrained_dynamics': ('acceleration', 'effort'),
          'contact_and_impact': ('effort',), 'operational_space': (), 'task_control': ()}
MORE = {'batch_dynamics': {'question': 'inverse'}, 'dynamics_derivatives': {'question': 'inverse'},
        'constrained_dynamics': {'question': 'inverse'},
        'contact_and_impact': {'question': 'forces', 'contact_frames': ['elbow_link']},
        'directional_derivative': {'question': 'inverse'}, 'derivative_terms': {'regressor': True},
        'operational_space': {'frames': ['base']}}
MANY = ('batch_dynamics', 'dynamics_derivatives', 'linearization', 'directional_derivative',
        'derivative_terms')  # take many states at once


class Clocks:
    """The time of stamps [ns], and monotonic seconds; both advance on request."""

    def __init__(self):
        self.now, self.seconds = NOW, 100.0


def node_state_of(source, waiting=tuple, **parameters):
    """Return a NodeState with the robot of a URDF; its clocks are node_state.clocks."""
    clocks = Clocks()
    parameters = ModelParameters(**{'max_state_age': 0.0, **parameters})
    node_state = NodeState(lambda: clocks.now, lambda: clocks.seconds, parameters, waiting=waiting)
    node_state.clocks, node_state.caps = clocks, Caps(dict(DEFAULT_CAPS.most))
    node_state.load(source)
    return node_state


def measure(node_state, q, v, effort=None, age=0, joints=None):
    """Set the measured state of all joints, or of some, `age` nanoseconds ago."""
    for joint in node_state.robot.model.joints:
        if joints is not None and joint.name not in joints:
            continue
        if joint.kind in ('planar', 'floating'):
            node_state.measured_state.take_joint(NOW - age, joint.name, q[joint.q], v[joint.v])
        else:
            node_state.measured_state.take(NOW - age, [joint.name], q[joint.q], v[joint.v],
                            () if effort is None else effort[joint.v])


def ask(node_state, service, **fields):
    """Return the reply to a request that is not refused."""
    reply = reply_of(node_state, service, **fields)
    assert (reply.success, reply.message) == (True, '')
    return reply


def reply_of(node_state, service, **fields):
    """Return the response of an active node with that state; a bug fails the test."""
    from dynamics_node.ros.services.runner import ServiceRunner
    from dynamics_node.ros.services.table import SERVICES
    kind, handler, _ = SERVICES[service]
    runner = ServiceRunner(node_state, pytest.fail)
    runner.active = True
    reply = runner.callback(handler)(kind.Request(**fields), kind.Response())
    return at_once(runner, reply) if isinstance(reply, DeferredReply) else reply


def at_once(runner, deferred):
    """Return the response of a deferred reply; its job runs here and now."""
    try:
        outcome = deferred.job.run(deferred.joint_states, lambda *_: None, lambda *_: None)
        return runner.finish(deferred, WorkerMessage('done', (outcome,)))
    except DynamicsError as error:
        return runner.finish(deferred, WorkerMessage('refused', (str(error),)))


def refused(node_state, service, **fields):
    """Return the message of a refusal, whose response is empty otherwise."""
    reply = reply_of(node_state, service, **fields)
    assert reply == type(reply)(success=False, message=reply.message)
    return reply.message


def whole_state(n=2):
    """Return position and velocity of n joints."""
    return {'position': [0.1] * n, 'velocity': [0.2] * n}


def wrench(frame, six):
    from geometry_msgs.msg import WrenchStamped
    message = WrenchStamped()
    message.header.frame_id = frame
    for vector, values in ((message.wrench.force, six[:3]), (message.wrench.torque, six[3:])):
        vector.x, vector.y, vector.z = map(float, values)
    return message


class Scene(NamedTuple):
    """A node_state with a complete measured state, and the same robot."""

    node_state: NodeState
    robot: Robot
    rng: np.random.Generator
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray   # zero where nothing drives

    def some_joints(self):
        """Return any number of joints in any order."""
        names = list(self.rng.permutation(self.robot.joint_names))
        return list(map(str, names[:self.rng.integers(1, len(names) + 1)]))

    def reply_order(self, names):
        return [*names, *(name for name in self.robot.joint_names if name not in names)]

    def of(self, names, x, which='v'):
        """Return the entries of x that belong to some joints, in their order."""
        return np.concatenate([x[..., getattr(self.robot.model.joint(name), which)]
                               for name in names], axis=-1)

    def put(self, names, x, others, which='v'):
        """Return `others` with the entries of some joints replaced by those of x."""
        whole = np.array(others)
        for name in names:
            place = getattr(self.robot.model.joint(name), which)
            whole[place] = x[place]
        return whole


def scene(text, seed=0, base='fixed'):
    """Return the Scene of a URDF."""
    rng = np.random.default_rng(seed)
    gravity = tuple((6.0 * rng.normal(size=3)).tolist())
    node_state = node_state_of(text, base=base, gravity=gravity)
    robot = Robot.from_urdf(text, base=base, gravity=gravity)
    tau = rng.normal(size=robot.nv)
    for joint in robot.model.joints:
        if joint.kind in ('planar', 'floating'):
            tau[joint.v] = 0.0
    made = Scene(node_state, robot, rng, robot.random_configuration(rng), rng.normal(size=robot.nv),
                 tau)
    measure(node_state, made.q, made.v, made.tau)
    return made


def tree_scene(tree):
    """Return the Scene of a random tree: branched, every kind of joint."""
    return scene(random_trees.urdf(np.random.default_rng(tree.seed), tree.mimic), tree.seed,
                 tree.base)
