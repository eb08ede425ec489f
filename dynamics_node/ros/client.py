"""Ask a dynamics node from another node, with arrays and names instead of messages."""

import functools
import math
import threading
import time
from types import SimpleNamespace

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Inertia, Vector3Stamped, WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from rclpy.task import Future

from dynamics_node.constrained.read_loops import read_constraints, to_yaml
from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.client_messages import bound_message, frame_target, task_message
from dynamics_node.ros.services.table import SERVICES

CROWD = QoSProfile(depth=1000)  # the queue of a client takes the replies to all others too
MATRICES = ('mass_matrix', 'coriolis_matrix', 'by_position', 'by_velocity', 'by_input',
            'state_matrix', 'inertia', 'null_space', 'directions')
FRAME_MATRICES = ('jacobians', 'jacobian_rates')
ENERGIES = ('kinetic_energy', 'potential_energy')


class DynamicsClient:
    """The services of a dynamics node, as methods.

    States are given as arrays over `joints` (all joints, if none are named), or as {joint: value}.
    What is left out is filled by the node from what it measures. A method returns the reply with
    its fields as NumPy arrays, matrices in shape; a refusal raises DynamicsError with its reason.

    A call blocks until the answer is there: let the node spin in another thread, or not at all.
    Inside a callback, where blocking would be for ever, take `wait=False`: the method then returns
    a Future, to be awaited or given a callback.
    """

    def __init__(self, node, name='dynamics_node', timeout=5.0):
        """Take the node to ask from, the name of the one to ask, and how long to wait [s]."""
        self._node, self._name, self._timeout = node, name, timeout
        self._clients = {}

    # Dynamics --------------------------------------------------------------------------------

    def inverse_dynamics(self, q=None, v=None, a=None, joints=(), wrenches=None, wait=True):
        """Return .effort for an acceleration.

        :param wrenches: {link: (fx, fy, fz, tx, ty, tz)} on the robot, at and in that link.
        """
        return self._ask('inverse_dynamics', wait, **_named(joints, position=q, velocity=v,
                         acceleration=a), external_wrenches=_wrenches(wrenches))

    def forward_dynamics(self, q=None, v=None, tau=None, joints=(), wrenches=None, wait=True):
        """Return .acceleration under torques."""
        return self._ask('forward_dynamics', wait, **_named(joints, position=q, velocity=v,
                         effort=tau), external_wrenches=_wrenches(wrenches))

    def hybrid_dynamics(self, q=None, v=None, a=None, tau=None, given=(), joints=(), wrenches=None,
                        wait=True):
        """Return .acceleration and .effort, from a where `given` is True and tau elsewhere."""
        return self._ask('hybrid_dynamics', wait, **_named(joints, position=q, velocity=v,
                         acceleration=a, effort=tau), external_wrenches=_wrenches(wrenches),
                         acceleration_given=[bool(x) for x in given])

    def dynamics_terms(self, q=None, v=None, joints=(), wait=True):
        """Return .mass_matrix, .coriolis_matrix, .gravity and all else of the equation."""
        return self._ask('dynamics_terms', wait, **_named(joints, position=q, velocity=v))

    def kinematics(self, frames=(), q=None, v=None, joints=(), jacobians=True, rates=False,
                   local=False, wait=True):
        """Return .poses, .twists, .jacobians (frames, 6, n) and .jacobian_rates of links."""
        return self._ask('kinematics', wait, **_named(joints, position=q, velocity=v),
                         frames=list(frames), jacobians=jacobians, jacobian_rates=rates,
                         local=local)

    def batch_dynamics(self, question, q=None, v=None, a=None, tau=None, given=(), joints=(),
                       wrenches=None, wait=True):
        """Return the answers for N states, (N, n): 'inverse', 'forward', 'hybrid' or 'terms'."""
        return self._ask('batch_dynamics', wait, question=question,
                         **_named(joints, position=q, velocity=v, acceleration=a, effort=tau),
                         external_wrenches=_wrenches(wrenches),
                         acceleration_given=[bool(x) for x in given])

    def dynamics_derivatives(self, question, q=None, v=None, a=None, tau=None, given=(), joints=(),
                             wrenches=None, wait=True):
        """Return .by_position, .by_velocity, .by_input, (n, n), of 'inverse', 'forward', 'hybrid'.

        Also what they are derivatives of, .effort or .acceleration. (N, n, n) for N states.
        """
        return self._ask('dynamics_derivatives', wait, _read(q, v, a, tau), question=question,
                         **_named(joints, position=q, velocity=v, acceleration=a, effort=tau),
                         external_wrenches=_wrenches(wrenches),
                         acceleration_given=[bool(x) for x in given])

    def linearization(self, q=None, v=None, tau=None, step=0.0, joints=(), wrenches=None,
                      wait=True):
        """Return .state_matrix A (2n, 2n), .input_matrix B (2n, n), .drift (2n,) for LQR.

        :param step: [s]; zero is continuous time.
        """
        return self._ask('linearization', wait, _read(q, v, tau), step=float(step),
                         **_named(joints, position=q, velocity=v, effort=tau),
                         external_wrenches=_wrenches(wrenches))

    def constrained_dynamics(self, question, q=None, v=None, a=None, tau=None, given=(), joints=(),
                             wrenches=None, constraints=(), wait=True, **options):
        """Return .acceleration, .effort, .multipliers over .row_names, .report and its numbers.

        :param question: 'inverse', 'forward' or 'hybrid', with the node's loops closed.
        :param constraints: more of them, as Constraint or dicts.
        :param options: other fields of the service, project, choice, passive_joints, ...
        """
        return self._ask('constrained_dynamics', wait, question=question,
                         **_named(joints, position=q, velocity=v, acceleration=a, effort=tau),
                         external_wrenches=_wrenches(wrenches),
                         acceleration_given=[bool(x) for x in given],
                         constraints_yaml=_yaml(constraints), **options)

    def contact_and_impact(self, question, contacts=(), q=None, v=None, a=None, tau=None,
                           joints=(), wrenches=None, wait=True, **options):
        """Return .contact_wrenches, .verdicts of .contact_names, and the motion.

        :param question: 'forces' under tau, 'distribution' for a, or 'impact'.
        :param contacts: as Constraint or dicts.
        :param options: other fields of the service, contact_frames, friction, restitution, ...
        """
        return self._ask('contact_and_impact', wait, question=question,
                         **_named(joints, position=q, velocity=v, acceleration=a, effort=tau),
                         external_wrenches=_wrenches(wrenches), contacts_yaml=_yaml(contacts),
                         **options)

    # Task space ------------------------------------------------------------------------------

    def operational_space(self, frames, q=None, v=None, joints=(), wait=True, axes=()):
        """Return .inertia, .bias, .gravity, .jacobian, .consistent_inverse, .null_space of links.

        :param frames: the name of a link, or several.
        :param axes: rows of each link, some of x, y, z, rx, ry, rz; () for all six.
        """
        return self._ask('operational_space', wait, **_named(joints, position=q, velocity=v),
                         frames=[frames] if isinstance(frames, str) else list(frames),
                         axes=list(axes))

    def inverse_kinematics(self, targets, start=None, joints=(), wait=True, **options):
        """Return .solved, .position (nq), .position_errors, .rotation_errors, .reason.

        :param targets: a Target or several; FrameTarget messages too.
        :param start: position, as measured where it is left out.
        :param options: tolerance, restarts.
        """
        targets = targets if isinstance(targets, (list, tuple)) else [targets]
        return self._ask('inverse_kinematics', wait, **_named(joints, position=start),
                         targets=[frame_target(each) for each in targets], **options)

    def task_control(self, tasks, bounds=None, q=None, v=None, joints=(), contacts=(),
                     wrenches=None, wait=True, **options):
        """Return .status, .effort, .acceleration, .multipliers, .errors {task: array}, .conflict.

        :param tasks: of Task; bounds: of Bound, None for torque limits and friction, () for none.
        :param contacts: held besides the node's loops, as Constraint or dicts.
        :param options: other fields of the service, passive_joints, stabilisation, ...
        """
        return self._ask('task_control', wait, **_named(joints, position=q, velocity=v),
                         tasks=[task_message(task) for task in tasks],
                         bounds=[bound_message(bound) for bound in bounds or ()],
                         unbounded=bounds is not None and not bounds,
                         constraints_yaml=_yaml(contacts), external_wrenches=_wrenches(wrenches),
                         **options)

    def trajectory_torques(self, trajectory, wait=True, **fields):
        """Return .trajectory with effort, .margin, .greatest_payload of a JointTrajectory."""
        return self._ask('trajectory_torques', wait, trajectory=trajectory, **fields)

    # Settings --------------------------------------------------------------------------------

    def set_payload(self, name, frame, mass, com=(0.0, 0.0, 0.0), inertia=None, transition=0.0,
                    wait=True):
        """Attach a load to a link, as Robot.with_payload does, within `transition` [s]."""
        tensor = np.zeros((3, 3)) if inertia is None else np.asarray(inertia, dtype=float)
        (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = tensor.tolist()
        load = Inertia(m=float(mass), com=convert.vector3(com), ixx=ixx, ixy=ixy, ixz=ixz, iyy=iyy,
                       iyz=iyz, izz=izz)
        return self._ask('set_payload', wait, name=name, frame=frame, payload=load,
                         transition_time=_duration(transition))

    def remove_payload(self, name, transition=0.0, wait=True):
        """Take a load off."""
        return self._ask('set_payload', wait, name=name, remove=True,
                         transition_time=_duration(transition))

    def list_payloads(self, wait=True):
        """Return .names, .frames, .payloads, .fraction of what is held."""
        return self._ask('list_payloads', wait)

    def set_gravity(self, gravity, frame='', wait=True):
        """Set the vector towards the earth, in the axes of a link; '' is the root frame."""
        message = Vector3Stamped(vector=convert.vector3(gravity))
        message.header.frame_id = frame
        return self._ask('set_gravity', wait, gravity=message)

    def set_friction(self, damping=None, friction=None, joints=(), reset=False, wait=True):
        """Set damping and dry friction, arrays over `joints` or {joint: value}."""
        return self._ask('set_friction', wait, reset=reset,
                         **_named(joints, damping=damping, friction=friction))

    # What it is ------------------------------------------------------------------------------

    def model_report(self, wait=True):
        """Return .report (text), .joint_names, limits, .findings."""
        return self._ask('model_report', wait)

    def identify_payload(self, question, frame='', q=(), tau=(), approach=(), joints=(), name='',
                         transition=0.0, wait=True, **fields):
        """Return .payload, .sigmas, .residual of what a link holds, see IdentifyPayload.srv.

        :param question: 'motion', 'unloaded', 'pose', 'poses' or 'forget'.
        :param q, tau, approach: of static poses, (N, n).
        :param name: of the payload that the robot is to carry from then on; '' only tells.
        """
        rows = {key: np.ravel(value).tolist() for key, value in (
            ('position', q), ('effort', tau), ('approach', approach))}
        return self._ask('identify_payload', wait, question=question, frame=frame, name=name,
                         set=bool(name), joint_names=list(joints), **rows,
                         transition_time=_duration(transition), **fields)

    def self_test(self, samples=0, seed=0, wait=True):
        """Return .passed, .report of the laws of physics on the node's own robot."""
        return self._ask('self_test', wait, samples=samples, seed=seed)

    # How they are asked ----------------------------------------------------------------------

    def _ask(self, name, wait, read=None, /, **fields):
        read = read or result_of
        kind, _ = SERVICES[name]
        client = self._clients.get(name)
        if client is None:
            client = self._clients[name] = self._node.create_client(
                kind, f'{self._name}/{name}', qos_profile=CROWD)
        deadline = time.monotonic() + self._timeout
        if wait and not client.service_is_ready() and not client.wait_for_service(self._timeout):
            raise TimeoutError(f"no service '{client.srv_name}' after {self._timeout:g} s: is the "
                               'node running, configured, and in this namespace?')
        raw = client.call_async(kind.Request(**fields))
        answer = Future()
        raw.add_done_callback(lambda done: _pass_on(done, answer, read))
        return self._wait(client, raw, read, deadline) if wait else answer

    def _wait(self, client, raw, read, deadline):
        if self._node.executor is None:  # nobody spins it
            executor = SingleThreadedExecutor(context=self._node.context)
            executor.add_node(self._node)
            executor.spin_until_future_complete(raw, max(0.0, deadline - time.monotonic()))
            executor.shutdown()
        else:
            arrived = threading.Event()
            raw.add_done_callback(lambda _: arrived.set())
            arrived.wait(max(0.0, deadline - time.monotonic()))
        if not raw.done():
            client.remove_pending_request(raw)
            raise TimeoutError(f"'{client.srv_name}' did not answer within {self._timeout:g} s; in "
                               'a callback of a node that one thread spins, ask with wait=False')
        return read(raw.result())


def _pass_on(raw, answer, read):
    try:
        answer.set_result(read(raw.result()))
    except Exception as error:
        answer.set_exception(error)


def result_of(response, single=False):
    """Return a response with arrays in place of sequences of numbers, or raise its refusal.

    :param single: leave the axis of states away where there is one state.
    """
    if not response.success:
        raise DynamicsError(response.message)
    fields = {name: getattr(response, name) for name in response.get_fields_and_field_types()}
    n = fields.get('states')
    rows = () if n is None or (single and n == 1) else (n,)
    frames, axes = len(fields.get('frames', ())), len(fields.get('axes', ()))
    for name, value in fields.items():
        if hasattr(value, 'typecode'):
            fields[name] = _in_shape(name, np.array(value), rows, frames, axes)
    if 'lost' in fields:
        fields['lost'] = np.array(fields['lost'], dtype=bool)
    if 'errors' in fields:
        fields['errors'] = {each.name: np.array(each.error) for each in fields['errors']}
    return SimpleNamespace(**fields)


def _in_shape(name, x, rows, frames, axes):
    """Return the entries of a field as the array that they are, rows for N states.

    :param frames, axes: how many links a reply has, and chosen axes of each.
    """
    if not x.size:
        return x
    if name in MATRICES:
        n = math.isqrt(x.size // math.prod(rows))
        return x.reshape(*rows, n, n)
    if name == 'input_matrix':  # twice as many rows as columns
        return x.reshape(*rows, -1, math.isqrt(x.size // math.prod(rows) // 2))
    if name in FRAME_MATRICES:
        return x.reshape(frames, 6, -1)
    if name == 'jacobian':
        return x.reshape(axes * frames, -1)
    if name == 'consistent_inverse':
        return x.reshape(-1, axes * frames)
    return x.reshape(*rows, -1) if rows and name not in ENERGIES else x


def _read(*quantities):
    """Return how to read a reply: one state, unless some quantity has rows."""
    return functools.partial(result_of, single=all(np.ndim(x) < 2 for x in quantities))


def _named(joints, **quantities):
    """Return the fields joint_names and one per quantity, from arrays or {joint: value}."""
    said = {name: value for name, value in quantities.items() if value is not None}
    names = list(joints)
    for name, value in said.items():
        if isinstance(value, dict):
            names = names or list(value)
            if set(value) != set(names):
                raise DynamicsError(f'{name} speaks of {", ".join(value)}, another quantity or '
                                    f'joints of {", ".join(names)}; name the same joints in all')
            said[name] = [value[joint] for joint in names]
    return {'joint_names': names,
            **{name: convert.floats(np.asarray(value, dtype=float))
               for name, value in said.items()}}


def _wrenches(wrenches):
    stamped = []
    for frame, wrench in (wrenches or {}).items():
        message = WrenchStamped()
        message.header.frame_id = frame
        message.wrench.force = convert.vector3(wrench[:3])
        message.wrench.torque = convert.vector3(wrench[3:])
        stamped.append(message)
    return stamped


def _yaml(constraints):
    """Return the YAML of constraints, given as text, Constraint or dicts."""
    if isinstance(constraints, str):
        return constraints
    return to_yaml(read_constraints(constraints)) if len(constraints) else ''


def _duration(seconds):
    whole, rest = divmod(round(seconds * 1e9), convert.BILLION)
    return Duration(sec=whole, nanosec=rest)
