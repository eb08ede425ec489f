"""Call the services of a dynamics node from another node, with arrays instead of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Vector3Stamped
from numpy.typing import ArrayLike
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from dynamics_node.ros import convert
from dynamics_node.ros.client_calls import ClientCalls, Reply
from dynamics_node.ros.client_fields import (
    Constraints,
    Quantity,
    Rates,
    SoftContacts,
    Wrenches,
    rate_fields,
)
from dynamics_node.ros.client_fields import constraints_yaml as _yaml
from dynamics_node.ros.client_fields import duration_message as _duration
from dynamics_node.ros.client_fields import named_fields as _named
from dynamics_node.ros.client_fields import soft_contacts_yaml as _soft_yaml
from dynamics_node.ros.client_fields import wrench_messages as _wrenches
from dynamics_node.ros.client_messages import (
    bound_message,
    frame_target,
    inertia_message,
    motion_messages,
    task_message,
)
from dynamics_node.ros.client_replies import reader_of as _read
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.motion import FrameMotion, Tracking
from dynamics_node.task_space.target import Target
from dynamics_node.task_space.tasks import Task


class DynamicsClient:
    """The services of a dynamics node, as methods.

    States are given as arrays over `joints` (all joints, if none are named), or as {joint: value}.
    The node fills in missing values with measured ones. A method returns the reply, its numbers as
    NumPy arrays in the shape of their matrices; a refusal raises DynamicsError with the reason.

    A call blocks until the reply arrives: spin the node in another thread, or not at all. Inside a
    callback, where a call would block for ever, use `wait=False`: the method then returns a Future,
    to await or to add a callback to.
    """

    def __init__(self, node: Node, name: str = 'dynamics_node', timeout: float = 10.0) -> None:
        """Prepare calls from a node.

        :param name: name of the dynamics node, with its namespace.
        :param timeout: greatest time to wait for a reply [s]; longer than the parameter
            service.max_duration of the node, so that its refusal arrives.
        """
        self._calls = ClientCalls(node, name, timeout)
        self._ask = self._calls.call

    def is_ready(self, service: str) -> bool:
        """Return whether a service of the node, such as 'inverse_dynamics', is known and ready."""
        return self._calls.client_of(service).service_is_ready()

    # Dynamics --------------------------------------------------------------------------------

    def inverse_dynamics(self, q: Quantity = None, v: Quantity = None, a: Quantity = None,
                         joints: Sequence[str] = (), wrenches: Wrenches = None,
                         wait: bool = True, **options: Any) -> Reply:
        """Return .effort, the torques that cause an acceleration.

        :param wrenches: {link: (fx, fy, fz, tx, ty, tz)} on the robot, at that link, in its axes.
        :param options: wrenches_in_root_axes=True; also in all other methods with `wrenches`.
        """
        return self._ask('inverse_dynamics', wait, **_named(joints, position=q, velocity=v,
                         acceleration=a), external_wrenches=_wrenches(wrenches), **options)

    def forward_dynamics(self, q: Quantity = None, v: Quantity = None, tau: Quantity = None,
                         joints: Sequence[str] = (), wrenches: Wrenches = None,
                         wait: bool = True, **options: Any) -> Reply:
        """Return .acceleration under torques."""
        return self._ask('forward_dynamics', wait, **_named(joints, position=q, velocity=v,
                         effort=tau), external_wrenches=_wrenches(wrenches), **options)

    def hybrid_dynamics(self, q: Quantity = None, v: Quantity = None, a: Quantity = None,
                        tau: Quantity = None, given: Sequence[bool] = (),
                        joints: Sequence[str] = (), wrenches: Wrenches = None,
                        wait: bool = True, **options: Any) -> Reply:
        """Return .acceleration and .effort, from a where `given` is True and tau elsewhere."""
        return self._ask('hybrid_dynamics', wait, **_named(joints, position=q, velocity=v,
                         acceleration=a, effort=tau), external_wrenches=_wrenches(wrenches),
                         acceleration_given=[bool(x) for x in given], **options)

    def dynamics_terms(self, q: Quantity = None, v: Quantity = None, joints: Sequence[str] = (),
                       wait: bool = True, closed: bool = False,
                       coordinates: Sequence[str] = ()) -> Reply:
        """Return .mass_matrix, .coriolis_matrix, .gravity and the other terms of the equation.

        :param closed: whether for the closed mechanism, if the robot has loops.
        :param coordinates: its independent joints; () for those with a motor.
        """
        return self._ask('dynamics_terms', wait, **_named(joints, position=q, velocity=v),
                         closed=closed, coordinates=list(coordinates))

    def kinematics(self, frames: Sequence[str] = (), q: Quantity = None, v: Quantity = None,
                   joints: Sequence[str] = (), jacobians: bool = True, rates: bool = False,
                   local: bool = False, wait: bool = True, a: Quantity = None,
                   accelerations: bool = False, **options: Any) -> Reply:
        """Return .poses, .twists, .jacobians (frames, 6, n), .jacobian_rates, .accelerations.

        :param options: closed, coordinates: as in dynamics_terms; rotation_parameters,
            position_parameters of .analytic_jacobians.
        """
        return self._ask('kinematics', wait, **_named(joints, position=q, velocity=v,
                         acceleration=a), frames=list(frames), jacobians=jacobians,
                         jacobian_rates=rates, local=local, accelerations=accelerations, **options)

    def joint_reactions(self, q: Quantity = None, v: Quantity = None, a: Quantity = None,
                        joints: Sequence[str] = (), wrenches: Wrenches = None,
                        wait: bool = True, **options: Any) -> Reply:
        """Return .wrenches of .joints, .accelerations of .frames, and .sensor_wrenches.

        :param options: other fields of the service: local, sensor_links, sensor_frames.
        """
        return self._ask('joint_reactions', wait, **_named(joints, position=q, velocity=v,
                         acceleration=a), external_wrenches=_wrenches(wrenches), **options)

    def batch_dynamics(self, question: str, q: Quantity = None, v: Quantity = None,
                       a: Quantity = None, tau: Quantity = None, given: Sequence[bool] = (),
                       joints: Sequence[str] = (), wrenches: Wrenches = None,
                       wait: bool = True, **options: Any) -> Reply:
        """Return the dynamics of N states, (N, n).

        :param question: 'inverse', 'forward', 'hybrid' or 'terms'.
        """
        return self._ask('batch_dynamics', wait, question=question,
                         **_named(joints, position=q, velocity=v, acceleration=a, effort=tau),
                         external_wrenches=_wrenches(wrenches),
                         acceleration_given=[bool(x) for x in given], **options)

    def dynamics_derivatives(self, question: str, q: Quantity = None, v: Quantity = None,
                             a: Quantity = None, tau: Quantity = None,
                             given: Sequence[bool] = (), joints: Sequence[str] = (),
                             wrenches: Wrenches = None, wait: bool = True,
                             **options: Any) -> Reply:
        """Return .by_position, .by_velocity, .by_input, (n, n), or (N, n, n) for N states.

        Also the quantities that they are derivatives of, .effort or .acceleration.

        :param question: 'inverse', 'forward' or 'hybrid'.
        :param options: closed, coordinates: as in dynamics_terms.
        """
        return self._ask('dynamics_derivatives', wait, _read(q, v, a, tau), question=question,
                         **_named(joints, position=q, velocity=v, acceleration=a, effort=tau),
                         external_wrenches=_wrenches(wrenches),
                         acceleration_given=[bool(x) for x in given], **options)

    def directional_derivative(self, question: str, q: Quantity = None, v: Quantity = None,
                               a: Quantity = None, tau: Quantity = None,
                               given: Sequence[bool] = (), joints: Sequence[str] = (),
                               wrenches: Wrenches = None, wait: bool = True,
                               dq: Quantity = None, dv: Quantity = None, da: Quantity = None,
                               dtau: Quantity = None, ddamping: Quantity = None,
                               dfriction: Quantity = None, darmature: Quantity = None,
                               dwrenches: Wrenches = None, dinertias: Rates = None,
                               dgravity: Sequence[float] = (), dorigins: Rates = None,
                               daxes: Rates = None) -> Reply:
        """Return .effort_rate or .acceleration_rate, d/dp by a scalar p, (n,), or (N, n).

        :param question: 'inverse', 'forward' or 'hybrid'.
        :param dq, dv, ...: the rates d/dp, as in the methods of Robot; one row for all states.
        """
        return self._ask('directional_derivative', wait, _read(q, v, a, tau), question=question,
                         **_named(joints, position=q, velocity=v, acceleration=a, effort=tau,
                                  position_rate=dq, velocity_rate=dv, acceleration_rate=da,
                                  effort_rate=dtau, damping_rate=ddamping,
                                  friction_rate=dfriction, armature_rate=darmature),
                         external_wrenches=_wrenches(wrenches),
                         acceleration_given=[bool(x) for x in given],
                         wrench_rates=_wrenches(dwrenches), gravity_rate=list(dgravity),
                         **rate_fields(dinertias=dinertias, dorigins=dorigins, daxes=daxes))

    def derivative_terms(self, q: Quantity = None, v: Quantity = None, a: Quantity = None,
                         joints: Sequence[str] = (), weights: Quantity = None,
                         dq: Quantity = None, dv: Quantity = None, da: Quantity = None,
                         wait: bool = True, **requests: bool) -> Reply:
        """Return .mass_matrix_derivatives, .christoffel_symbols, .regressor, ..., as requested.

        :param weights, dq, dv, da: for a product with the Hessian; None for no product.
        :param requests: the names of the terms, True for those to compute.
        """
        return self._ask('derivative_terms', wait, _read(q, v, a),
                         **_named(joints, position=q, velocity=v, acceleration=a, weights=weights,
                                  position_direction=dq, velocity_direction=dv,
                                  acceleration_direction=da), **requests)

    def linearization(self, q: Quantity = None, v: Quantity = None, tau: Quantity = None,
                      step: float = 0.0, joints: Sequence[str] = (), wrenches: Wrenches = None,
                      wait: bool = True, closed: bool = False,
                      coordinates: Sequence[str] = ()) -> Reply:
        """Return .state_matrix A (2n, 2n), .input_matrix B (2n, nv), .drift (2n,) for LQR.

        :param step: [s]; zero is continuous time.
        :param closed, coordinates: as in dynamics_terms.
        """
        return self._ask('linearization', wait, _read(q, v, tau), step=float(step),
                         **_named(joints, position=q, velocity=v, effort=tau),
                         external_wrenches=_wrenches(wrenches), closed=closed,
                         coordinates=list(coordinates))

    def constrained_dynamics(self, question: str, q: Quantity = None, v: Quantity = None,
                             a: Quantity = None, tau: Quantity = None,
                             given: Sequence[bool] = (), joints: Sequence[str] = (),
                             wrenches: Wrenches = None, constraints: Constraints = (),
                             wait: bool = True, **options: Any) -> Reply:
        """Return .acceleration, .effort, .multipliers of .row_names, and .report, a message.

        :param question: 'inverse', 'forward' or 'hybrid', with the loops of the node closed.
        :param constraints: additional ones.
        :param options: other fields of the service: project, choice, passive_joints, ...
        """
        return self._ask('constrained_dynamics', wait, question=question,
                         **_named(joints, position=q, velocity=v, acceleration=a, effort=tau),
                         external_wrenches=_wrenches(wrenches),
                         acceleration_given=[bool(x) for x in given],
                         constraints_yaml=_yaml(constraints), **options)

    def contact_and_impact(self, question: str, contacts: Constraints = (), q: Quantity = None,
                           v: Quantity = None, a: Quantity = None, tau: Quantity = None,
                           joints: Sequence[str] = (), wrenches: Wrenches = None,
                           wait: bool = True, soft_contacts: SoftContacts = (),
                           touch: ArrayLike = (), **options: Any) -> Reply:
        """Return .contact_wrenches, .verdicts of .contact_names, and the motion.

        :param question: 'forces' under tau, 'distribution' of the torques of a, 'impact',
            'support' for .inertia, .null_space, .bias, .jacobian of the motion that contacts leave
            free, or 'soft_forces' for .soft_forces, .depths, .touch_points of soft contacts.
        :param touch: points of soft contacts: .touch_points of the state before, (k, 3).
        :param options: other fields of the service: contact_frames, friction, restitution, ...
        """
        return self._ask('contact_and_impact', wait, question=question,
                         **_named(joints, position=q, velocity=v, acceleration=a, effort=tau),
                         external_wrenches=_wrenches(wrenches), contacts_yaml=_yaml(contacts),
                         soft_contacts_yaml=_soft_yaml(soft_contacts),
                         touch_points=convert.floats(np.asarray(touch, dtype=float)), **options)

    # Task space ------------------------------------------------------------------------------

    def operational_space(self, frames: str | Sequence[str], q: Quantity = None,
                          v: Quantity = None, joints: Sequence[str] = (), wait: bool = True,
                          axes: Sequence[str] = (), manipulability: bool = False,
                          **options: Any) -> Reply:
        """Return .inertia, .bias, .gravity, .jacobian, .consistent_inverse, .null_space of links.

        :param frames: the name of a link, or several.
        :param axes: rows of each link, some of x, y, z, rx, ry, rz; () for all six.
        :param manipulability: return .mobility, .velocity_radii and the like too.
        :param options: closed, coordinates: as in dynamics_terms.
        """
        return self._ask('operational_space', wait, **_named(joints, position=q, velocity=v),
                         frames=[frames] if isinstance(frames, str) else list(frames),
                         axes=list(axes), manipulability=manipulability, **options)

    def inverse_kinematics(self, targets: Target | Sequence[Target], start: Quantity = None,
                           joints: Sequence[str] = (), wait: bool = True,
                           **options: Any) -> Reply:
        """Return .solved, .position (nq), .position_errors, .rotation_errors, .reason, .solutions.

        .solutions (k, nq) has all solutions if .complete is true.

        :param targets: a Target or several; FrameTarget messages too.
        :param start: position where the search starts; None: as measured.
        :param options: tolerance, restarts.
        """
        listed = targets if isinstance(targets, Sequence) else [targets]
        return self._ask('inverse_kinematics', wait, **_named(joints, position=start),
                         targets=[frame_target(each) for each in listed], **options)

    def differential_kinematics(self, tasks: FrameMotion | Tracking | Sequence,
                                q: Quantity = None, joints: Sequence[str] = (),
                                contacts: Constraints = (), weights: Quantity = None,
                                preferred: Quantity = None, damping: float = 0.0,
                                wait: bool = True) -> Reply:
        """Return .velocity (n,) that moves links as the tasks require, and .twists of the links.

        :param tasks: as for Robot.joint_velocities: one, a list, or lists by priority.
        """
        return self._ask('differential_kinematics', wait, tasks=motion_messages(tasks),
                         **_named(joints, position=q, joint_weights=weights,
                                  preferred_velocity=preferred),
                         constraints_yaml=_yaml(contacts), damping=float(damping))

    def task_control(self, tasks: Sequence[Task], bounds: Sequence[Bound] | None = None,
                     q: Quantity = None, v: Quantity = None, joints: Sequence[str] = (),
                     contacts: Constraints = (), wrenches: Wrenches = None, wait: bool = True,
                     **options: Any) -> Reply:
        """Return .status, .effort, .acceleration, .multipliers, .errors {task: array}, .conflict.

        :param bounds: None for torque limits and friction, () for no bounds.
        :param contacts: in addition to the loops of the node.
        :param options: other fields of the service: passive_joints, stabilisation, ...
        """
        return self._ask('task_control', wait, **_named(joints, position=q, velocity=v),
                         tasks=[task_message(task) for task in tasks],
                         bounds=[bound_message(bound) for bound in bounds or ()],
                         unbounded=bounds is not None and not bounds,
                         constraints_yaml=_yaml(contacts), external_wrenches=_wrenches(wrenches),
                         **options)

    def trajectory_torques(self, trajectory: JointTrajectory, wait: bool = True,
                           **fields: Any) -> Reply:
        """Return .trajectory with effort, .margin, .greatest_payload of a JointTrajectory."""
        return self._ask('trajectory_torques', wait, trajectory=trajectory, **fields)

    # Settings --------------------------------------------------------------------------------

    def set_payload(self, name: str, frame: str, mass: float,
                    com: Sequence[float] = (0.0, 0.0, 0.0),
                    inertia: ArrayLike | None = None, transition: float = 0.0,
                    wait: bool = True) -> Reply:
        """Attach a payload to a link, as Robot.with_payload does, within `transition` [s]."""
        return self._ask('set_payload', wait, name=name, frame=frame,
                         payload=inertia_message(mass, com, inertia),
                         transition_time=_duration(transition))

    def remove_payload(self, name: str, transition: float = 0.0, wait: bool = True) -> Reply:
        """Remove a payload within `transition` [s]."""
        return self._ask('set_payload', wait, name=name, remove=True,
                         transition_time=_duration(transition))

    def list_payloads(self, wait: bool = True) -> Reply:
        """Return .names, .frames, .payloads, .fraction of the attached payloads."""
        return self._ask('list_payloads', wait)

    def set_gravity(self, gravity: Sequence[float], frame: str = '', wait: bool = True) -> Reply:
        """Set the gravity vector, in the axes of a link; '' is the root frame."""
        message = Vector3Stamped(vector=convert.vector3(gravity))
        message.header.frame_id = frame
        return self._ask('set_gravity', wait, gravity=message)

    def set_friction(self, damping: Quantity = None, friction: Quantity = None,
                     joints: Sequence[str] = (), reset: bool = False, wait: bool = True,
                     **further: Quantity) -> Reply:
        """Set damping and dry friction, arrays over `joints` or {joint: value}.

        :param further: stribeck, stribeck_speed, friction_asymmetry, damping_asymmetry,
            friction_speed; the same.
        """
        return self._ask('set_friction', wait, reset=reset,
                         **_named(joints, damping=damping, friction=friction, **further))

    # Reports and identification --------------------------------------------------------------

    def model_report(self, wait: bool = True) -> Reply:
        """Return .report (text), .joint_names, limits, .findings."""
        return self._ask('model_report', wait)

    def identify_payload(self, question: str, frame: str = '', q: ArrayLike = (),
                         tau: ArrayLike = (), approach: ArrayLike = (),
                         joints: Sequence[str] = (), name: str = '', transition: float = 0.0,
                         wait: bool = True, **fields: Any) -> Reply:
        """Return .payload, .sigmas, .residual of the payload of a link, see IdentifyPayload.srv.

        :param question: 'motion', 'unloaded', 'pose', 'poses' or 'forget'.
        :param q, tau, approach: static poses, (N, n).
        :param name: attach the identified payload with this name; '': do not attach it.
        """
        rows = {key: np.ravel(value).tolist() for key, value in (
            ('position', q), ('effort', tau), ('approach', approach))}
        return self._ask('identify_payload', wait, question=question, frame=frame, name=name,
                         set=bool(name), joint_names=list(joints), **rows,
                         transition_time=_duration(transition), **fields)

    def self_test(self, samples: int = 0, seed: int = 0, wait: bool = True) -> Reply:
        """Return .passed, .report of physical laws checked on the robot of the node."""
        return self._ask('self_test', wait, samples=samples, seed=seed)
