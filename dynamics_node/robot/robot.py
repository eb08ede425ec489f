"""Define Robot, the main class of the library."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.algorithms.energy import total_mass
from dynamics_node.algorithms.inertial_parameters import inertial_parameters
from dynamics_node.constrained.read_loops import Loops
from dynamics_node.kernels.keys import all_keys
from dynamics_node.kernels.robot_kernels import RobotKernels
from dynamics_node.model import configuration
from dynamics_node.model.build import FRICTION_SPEED, build_model
from dynamics_node.model.force_elements import Actuator, Spring
from dynamics_node.model.links import RobotLink, record_of_links
from dynamics_node.model.model import Model
from dynamics_node.model.payload import Payload
from dynamics_node.model.read_urdf import read_urdf
from dynamics_node.model.records import RobotRecord
from dynamics_node.model.report import ModelReport, model_report
from dynamics_node.model.urdf_text import MAX_BYTES, urdf_text
from dynamics_node.model.write_urdf import urdf_of_model
from dynamics_node.robot import arguments
from dynamics_node.robot.argument_types import Constraints
from dynamics_node.robot.changes import Changes
from dynamics_node.robot.closed import ClosedMechanism
from dynamics_node.robot.configurations import Configurations
from dynamics_node.robot.constrained import ConstrainedDynamics
from dynamics_node.robot.constraint_sets import ConstraintSets, loops_of
from dynamics_node.robot.delegate import Delegate
from dynamics_node.robot.derivatives import Derivatives
from dynamics_node.robot.dispatch import Dispatcher
from dynamics_node.robot.dynamics import Dynamics
from dynamics_node.robot.force_elements import ForceElements
from dynamics_node.robot.kernel_method import KernelMethod
from dynamics_node.robot.links import LinkQuantities
from dynamics_node.robot.prescribed import PrescribedMotion
from dynamics_node.robot.simulation import Simulation
from dynamics_node.robot.soft_contact import SoftContacts
from dynamics_node.robot.task_space import TaskSpace
from dynamics_node.task_space.target import Target


class Robot:
    """A robot's dynamics. Immutable: safe to share between threads, and it pickles.

    Methods take single states (n,) or batches (N, n), mixed at will (inverse_kinematics,
    joint_velocities, whole_body and constraint_report: one state), and return fresh float64 arrays
    in SI units, 6-vectors linear first; or write to those of `out`, where they have that argument.
    Invalid arguments raise a DynamicsError that names them.
    """

    model: Model
    _dispatcher: Dispatcher
    _sets: ConstraintSets
    _task_space: TaskSpace

    def __init__(self, model: Model, compile: bool = True, kernels: RobotKernels | None = None):
        """Take a model; from_urdf and from_links make one.

        :param kernels: kernels of a robot of the same structure, to be shared.
        """
        checks.check_kind('model', model, Model)
        dispatcher = Dispatcher(model, kernels, checks.flag('compile', compile), self._install)
        sets, dynamics = ConstraintSets(model), Dynamics(dispatcher)
        constrained = ConstrainedDynamics(dispatcher, sets)
        prescribed = PrescribedMotion(dispatcher, sets, constrained)
        vars(self).update(
            model=model, _dispatcher=dispatcher, _sets=sets, _dynamics=dynamics,
            _changes=Changes(self), _force_elements=ForceElements(dispatcher),
            _configurations=Configurations(dispatcher), _links=LinkQuantities(dispatcher),
            _derivatives=Derivatives(dispatcher, dynamics), _constrained=constrained,
            _prescribed=prescribed, _closed=ClosedMechanism(dispatcher, sets),
            _soft_contacts=SoftContacts(dispatcher), _task_space=TaskSpace(self, dispatcher, sets),
            _simulation=Simulation(dispatcher, sets, prescribed))

    @classmethod
    def from_urdf(cls, source: str | bytes | os.PathLike, base: str = 'fixed',
                  gravity: ArrayLike = (0.0, 0.0, -9.81),
                  locked: Mapping[str, float] | None = None,
                  armature: Mapping[str, float] | None = None, friction: bool = True,
                  friction_speed: float = FRICTION_SPEED, max_bytes: int = MAX_BYTES,
                  compile: bool = True,
                  loops: str | os.PathLike | Loops | Mapping | Constraints = None) -> Robot:
        """Return the robot of a URDF, given as text or as the path of a file.

        :param base: 'fixed' to the world or 'floating' in it.
        :param gravity: vector towards the earth in the root frame [m/s^2].
        :param locked: {joint: position} of joints that do not move; they are no degrees of freedom.
        :param armature: {joint: rotor inertia x gear ratio^2} [kg m^2 or kg].
        :param friction: False ignores the URDF's <dynamics damping friction>.
        :param friction_speed: speed at which 71 % of dry friction acts [rad/s or m/s].
        :param max_bytes: a longer text is refused.
        :param compile: False computes in NumPy; so does the environment DYNAMICS_NODE_COMPILE=0.
        :param loops: constraints that close loops: YAML (a path or text), a list of Constraint or
            of dicts, or Loops, which name the joints without a motor too (docs/constraints.md).
        :raise ModelError: names the link or joint that is wrong, and what would be valid.
        """
        return cls._from_record(read_urdf(urdf_text(source, max_bytes)), compile, loops, base=base,
                                gravity=gravity, locked=locked, armature=armature,
                                friction=friction, friction_speed=friction_speed)

    @classmethod
    def from_links(cls, links: Sequence[RobotLink], name: str = 'robot',
                   notes: Sequence[str] = (), **options: Any) -> Robot:
        """Return the robot of links that are described in Python (docs/models.md).

        :param notes: sentences on the origin of the links, for the model report.
        :param options: base, gravity, locked, armature, friction, friction_speed, compile and
            loops, as in from_urdf.
        """
        return cls._from_record(record_of_links(links, name, notes), **options)

    @classmethod
    def _from_record(cls, record: RobotRecord, compile: bool = True, loops: Any = None,
                     **options: Any) -> Robot:
        model = build_model(record, **options)
        return cls(model.with_(loops=tuple(loops_of(model, loops))), compile)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f'a Robot is immutable; make another one to change {name!r}')

    def __reduce__(self) -> tuple:
        return type(self), (self.model, self._dispatcher.kernels is not None)

    def __repr__(self) -> str:
        return (f"<Robot '{self.name}': {len(self.joint_names)} joints, nq={self.nq}, "
                f'nv={self.nv}, {self.total_mass:.4g} kg>')

    # Properties ------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name of the robot in the URDF."""
        return self.model.name

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the moving, independent joints, in the order of q and v."""
        return tuple(joint.name for joint in self.model.joints)

    @property
    def dof_names(self) -> tuple[str, ...]:
        """Names of the entries of v, a and tau: the joint's, or 'joint.axis' where it has more."""
        return configuration.dof_names(self.model)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all links; each is a frame, also those lumped into another."""
        return tuple(self.model.frames)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the links that a joint moves, mimic joints too: rows of results per body."""
        return tuple(body.name for body in self.model.bodies)

    @property
    def nq(self) -> int:
        """Number of entries of a configuration q."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of degrees of freedom: entries of v, a and tau."""
        return self.model.nv

    @property
    def total_mass(self) -> float:
        """Mass of all links and payloads [kg]."""
        return float(total_mass(self.model))

    @property
    def gravity(self) -> np.ndarray:
        """Vector towards the earth in the root frame, (3,) [m/s^2]."""
        return self.model.gravity.copy()

    @property
    def inertial_parameters(self) -> np.ndarray:
        """(m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of each moving body, (10 bodies,)."""
        return inertial_parameters(self.model)

    @property
    def loops(self) -> Loops:
        """Loops(constraints, passive): the constraints that close loops, the unactuated joints."""
        return Loops(*self.model.loops)

    @property
    def springs(self) -> tuple[Spring, ...]:
        """The springs and dampers at joints and between links."""
        return self.model.springs

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """The linear actuators between links."""
        return self.model.actuators

    def report(self) -> ModelReport:
        """Return the ModelReport: masses, limits, and implausible values; str() prints it."""
        return model_report(self.model)

    def to_urdf(self) -> str:
        """Return the robot as a URDF text, payloads as links; a comment says what it lacks."""
        return urdf_of_model(self.model)

    # Copies with changes ---------------------------------------------------------------------

    @property
    def payloads(self) -> dict[str, Payload]:
        """{name: Payload} of the payloads."""
        return dict(self.model.payloads)

    with_payload = Delegate('_changes', Changes.with_payload)
    with_payloads = Delegate('_changes', Changes.with_payloads)
    without_payload = Delegate('_changes', Changes.without_payload)
    with_gravity = Delegate('_changes', Changes.with_gravity)
    with_friction = Delegate('_changes', Changes.with_friction)
    with_loops = Delegate('_changes', Changes.with_loops)
    with_springs = Delegate('_changes', Changes.with_springs)

    # Compilation -----------------------------------------------------------------------------

    def compile(self, wait: bool = False, frames: Sequence[str] = (), wrenches: bool = False,
                payloads: bool = False, derivatives: bool = False,
                constraints: Constraints | bool = None,
                targets: Target | Sequence[Target] = ()) -> Robot:
        """Compile the kernels of this robot now, instead of each at its first use.

        :param wait: return when they are ready.
        :param frames: links whose pose, twist, Jacobian and its rate are wanted too.
        :param wrenches: also those that take external wrenches.
        :param payloads: also those that take payloads; a robot that carries one has only these.
        :param derivatives: also those of derivatives and regressors, which take ten times as long.
        :param constraints: also those of a set of constraints; True for the robot's own loops.
        :param targets: also inverse kinematics of such Targets: their frames and kinds count.
        :raise DynamicsError: compilation is switched off, or a kernel could not be made.
        """
        frames = arguments.check_frame_names(self.model, 'frames', frames)
        wait, wrenches, payloads, derivatives = (checks.flag(name, value) for name, value in (
            ('wait', wait), ('wrenches', wrenches), ('payloads', payloads),
            ('derivatives', derivatives)))
        valid = () if constraints is None or constraints is False else self._sets.of(
            None if constraints is True else constraints)
        keys = all_keys(self.model, frames, wrenches, payloads, derivatives, valid)
        self._dispatcher.compile([*keys, *self._task_space.keys(targets)], wait)
        return self

    @property
    def compiled(self) -> bool:
        """Whether the kernels of compile() without arguments are ready; False if one cannot be."""
        return self._dispatcher.is_compiled(all_keys(self.model))

    @property
    def compiling(self) -> int:
        """Number of kernels that are requested, by compile() or a first use, and not ready yet."""
        return 0 if self._dispatcher.kernels is None else self._dispatcher.kernels.unfinished()

    @property
    def compile_failures(self) -> list[str]:
        """Why kernels that were requested could not be made; NumPy is used in their place."""
        return [] if self._dispatcher.kernels is None else self._dispatcher.kernels.failures()

    @property
    def compilation_enabled(self) -> bool:
        """Whether kernels are compiled for this robot at all."""
        return self._dispatcher.kernels is not None

    # Configurations --------------------------------------------------------------------------

    neutral = Delegate('_configurations', Configurations.neutral)
    random_configuration = Delegate('_configurations', Configurations.random_configuration)
    integrate = Delegate('_configurations', Configurations.integrate)
    difference = Delegate('_configurations', Configurations.difference)

    def _install(self, name: str, bind: Callable) -> None:
        """Replace a method of this object by its kernel: a call goes directly to C.

        With arguments that the kernel does not accept (lists, wrenches, keywords) it calls the
        method of the class. A method of a subclass is not replaced: super() reaches the kernel.
        """
        if getattr(type(self), name) is getattr(Robot, name):
            vars(self)[name] = bind(Robot.__dict__[name].__get__(self, type(self)))

    # Dynamics --------------------------------------------------------------------------------

    inverse_dynamics = KernelMethod('_dynamics', Dynamics.inverse_dynamics)
    forward_dynamics = KernelMethod('_dynamics', Dynamics.forward_dynamics)
    hybrid_dynamics = Delegate('_dynamics', Dynamics.hybrid_dynamics)
    mass_matrix = KernelMethod('_dynamics', Dynamics.mass_matrix)
    mass_matrix_inverse = KernelMethod('_dynamics', Dynamics.mass_matrix_inverse)
    coriolis_matrix = KernelMethod('_dynamics', Dynamics.coriolis_matrix)
    gravity_torque = KernelMethod('_dynamics', Dynamics.gravity_torque)
    bias_torque = KernelMethod('_dynamics', Dynamics.bias_torque)
    friction_torque = KernelMethod('_dynamics', Dynamics.friction_torque)
    denoc = Delegate('_dynamics', Dynamics.denoc)
    denoc_matrices = Delegate('_dynamics', Dynamics.denoc_matrices)

    # Energy and kinematics -------------------------------------------------------------------

    kinetic_energy = KernelMethod('_dynamics', Dynamics.kinetic_energy)
    potential_energy = KernelMethod('_dynamics', Dynamics.potential_energy)
    center_of_mass = KernelMethod('_dynamics', Dynamics.center_of_mass)
    momentum = KernelMethod('_dynamics', Dynamics.momentum)
    frame_pose = Delegate('_dynamics', Dynamics.frame_pose)
    frame_twist = Delegate('_dynamics', Dynamics.frame_twist)
    jacobian = Delegate('_dynamics', Dynamics.jacobian)
    jacobian_rate = Delegate('_dynamics', Dynamics.jacobian_rate)

    # Links and joints one by one ---------------------------------------------------------------

    body_poses = KernelMethod('_links', LinkQuantities.body_poses)
    joint_reactions = KernelMethod('_links', LinkQuantities.joint_reactions)
    joint_reactions_derivatives = KernelMethod('_links', LinkQuantities.joint_reactions_derivatives)
    sensor_wrench = Delegate('_links', LinkQuantities.sensor_wrench)
    frame_acceleration = Delegate('_links', LinkQuantities.frame_acceleration)
    link_energies = KernelMethod('_links', LinkQuantities.link_energies)
    point_jacobian = Delegate('_links', LinkQuantities.point_jacobian)
    link_wrenches = Delegate('_links', LinkQuantities.link_wrenches)
    base_velocity = Delegate('_links', LinkQuantities.base_velocity)

    # Springs and linear actuators --------------------------------------------------------------

    spring_torque = KernelMethod('_force_elements', ForceElements.spring_torque)
    actuator_motion = Delegate('_force_elements', ForceElements.actuator_motion)
    actuator_forces = Delegate('_force_elements', ForceElements.actuator_forces)
    simulate = Delegate('_simulation', Simulation.simulate)
    rollouts = Delegate('_simulation', Simulation.rollouts)

    # Derivatives -------------------------------------------------------------------------------

    inverse_dynamics_derivatives = KernelMethod(
        '_derivatives', Derivatives.inverse_dynamics_derivatives)
    forward_dynamics_derivatives = KernelMethod(
        '_derivatives', Derivatives.forward_dynamics_derivatives)
    hybrid_dynamics_derivatives = Delegate('_derivatives', Derivatives.hybrid_dynamics_derivatives)
    inverse_dynamics_directional_derivative = Delegate(
        '_derivatives', Derivatives.inverse_dynamics_directional_derivative)
    forward_dynamics_directional_derivative = Delegate(
        '_derivatives', Derivatives.forward_dynamics_directional_derivative)
    hybrid_dynamics_directional_derivative = Delegate(
        '_derivatives', Derivatives.hybrid_dynamics_directional_derivative)
    inverse_dynamics_hessian_product = KernelMethod(
        '_derivatives', Derivatives.inverse_dynamics_hessian_product)
    regressor = KernelMethod('_derivatives', Derivatives.regressor)
    energy_regressor = KernelMethod('_derivatives', Derivatives.energy_regressor)
    mass_matrix_derivatives = KernelMethod('_derivatives', Derivatives.mass_matrix_derivatives)
    christoffel_symbols = KernelMethod('_derivatives', Derivatives.christoffel_symbols)
    generalised_momentum = KernelMethod('_derivatives', Derivatives.generalised_momentum)
    center_of_mass_motion = KernelMethod('_derivatives', Derivatives.center_of_mass_motion)
    gravity_stiffness = KernelMethod('_derivatives', Derivatives.gravity_stiffness)
    frame_pose_derivatives = Delegate('_derivatives', Derivatives.frame_pose_derivatives)
    frame_twist_derivatives = Delegate('_derivatives', Derivatives.frame_twist_derivatives)
    linearize = Delegate('_derivatives', Derivatives.linearize)

    # Loops, contacts, impacts ------------------------------------------------------------------

    constrained_forward_dynamics = Delegate(
        '_constrained', ConstrainedDynamics.constrained_forward_dynamics)
    prescribed_forward_dynamics = Delegate(
        '_prescribed', PrescribedMotion.prescribed_forward_dynamics)
    constrained_inverse_dynamics = Delegate(
        '_constrained', ConstrainedDynamics.constrained_inverse_dynamics)
    constrained_hybrid_dynamics = Delegate(
        '_constrained', ConstrainedDynamics.constrained_hybrid_dynamics)
    closed_dynamics = Delegate('_closed', ClosedMechanism.closed_dynamics)
    closed_hybrid_dynamics = Delegate('_closed', ClosedMechanism.closed_hybrid_dynamics)
    closed_linearization = Delegate('_closed', ClosedMechanism.closed_linearization)
    closed_jacobian = Delegate('_closed', ClosedMechanism.closed_jacobian)
    closed_inverse_derivatives = Delegate('_closed', ClosedMechanism.closed_inverse_derivatives)
    closed_forward_derivatives = Delegate('_closed', ClosedMechanism.closed_forward_derivatives)
    universal_form = Delegate('_constrained', ConstrainedDynamics.universal_form)
    constraint_rows = Delegate('_constrained', ConstrainedDynamics.constraint_rows)
    constraint_report = Delegate('_constrained', ConstrainedDynamics.constraint_report)
    constrained_forward_dynamics_derivatives = Delegate(
        '_constrained', ConstrainedDynamics.constrained_forward_dynamics_derivatives)
    constrained_inverse_dynamics_derivatives = Delegate(
        '_constrained', ConstrainedDynamics.constrained_inverse_dynamics_derivatives)
    project_configuration = Delegate('_constrained', ConstrainedDynamics.project_configuration)
    project_velocity = Delegate('_constrained', ConstrainedDynamics.project_velocity)
    contact_forces = Delegate('_constrained', ConstrainedDynamics.contact_forces)
    support_consistent_dynamics = Delegate(
        '_constrained', ConstrainedDynamics.support_consistent_dynamics)
    floating_base_torques = Delegate('_constrained', ConstrainedDynamics.floating_base_torques)
    soft_contact_forces = Delegate('_soft_contacts', SoftContacts.soft_contact_forces)
    impact = Delegate('_constrained', ConstrainedDynamics.impact)

    # Task space --------------------------------------------------------------------------------

    analytic_jacobian = Delegate('_task_space', TaskSpace.analytic_jacobian)
    operational_space = Delegate('_task_space', TaskSpace.operational_space)
    manipulability = Delegate('_task_space', TaskSpace.manipulability)
    inverse_kinematics = Delegate('_task_space', TaskSpace.inverse_kinematics)
    joint_velocities = Delegate('_task_space', TaskSpace.joint_velocities)
    whole_body = Delegate('_task_space', TaskSpace.whole_body)
