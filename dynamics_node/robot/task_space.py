"""Compute operational space, inverse kinematics and whole-body control of a robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.algorithms.analytic_jacobian import analytic_jacobian
from dynamics_node.algorithms.manipulability import Manipulability, manipulability
from dynamics_node.algorithms.operational_space import (
    OperationalSpace,
    operational_space,
    reference_inertia,
)
from dynamics_node.checks import at_least_zero, flag
from dynamics_node.constrained.closed_dynamics import inverse_of_inertia
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.errors import DynamicsError, NotFinite
from dynamics_node.kernels.keys import KernelKey, key_of
from dynamics_node.robot import arguments, task_arguments
from dynamics_node.robot.argument_types import Constraints, Wrenches
from dynamics_node.robot.compiled_whole_body import CompiledWholeBody
from dynamics_node.robot.constraint_sets import ConstraintSets
from dynamics_node.robot.dispatch import Dispatcher
from dynamics_node.spatial.stacks import times
from dynamics_node.task_space.bounds import DEFAULT_BOUNDS, Bound
from dynamics_node.task_space.closed_form import arm_of_parts, kernels_of
from dynamics_node.task_space.closed_newton_step import ClosedNewtonStep
from dynamics_node.task_space.differential_kinematics import contact_level, joint_velocities
from dynamics_node.task_space.inverse_kinematics import InverseKinematics, inverse_kinematics
from dynamics_node.task_space.motion import FrameMotion, Tracking, motion_rows
from dynamics_node.task_space.target import Target, parts_of
from dynamics_node.task_space.tasks import AXES, Task
from dynamics_node.task_space.whole_body import WholeBody, check, whole_body
from dynamics_node.task_space.whole_body_setting import Setting, setting_of

if TYPE_CHECKING:
    from dynamics_node.robot.robot import Robot

TOLERANCE = 1e-6  # of inverse kinematics [m and rad]
RESTARTS = 64     # of inverse kinematics
MOST_RESTARTS = 1_000_000  # take an hour and more
MOST_SETTINGS = 64         # of whole-body problems, kept by a robot

Motions = FrameMotion | Tracking | Sequence[FrameMotion | Tracking | Sequence]


class TaskSpace:
    """The methods of a Robot for its frames; they use the robot's other methods."""

    def __init__(self, robot: Robot, dispatcher: Dispatcher, sets: ConstraintSets) -> None:
        self._robot, self._dispatcher, self._sets = robot, dispatcher, sets
        self._model = dispatcher.model
        self._stacks: dict = {}  # (frames, axes) -> what _stack returns
        self._compiled = CompiledWholeBody(dispatcher)
        self._settings: dict = {}  # (id of constraints, passive) -> (constraints, Setting)

    # Operational space -----------------------------------------------------------------------

    def analytic_jacobian(self, q: ArrayLike, frame: str, rotation: str = 'euler_zyx',
                          position: str = 'cartesian') -> np.ndarray:
        """Return J_A, rates of the parameters of the frame's pose = J_A v, (3 + n, nv).

        The position comes first, then the n parameters of the rotation.

        :param rotation: 'euler_zyx', 'euler_xyz', 'euler_zyz', 'euler_zxz', 'rotation_vector',
            'quaternion' (x y z w), 'angle_axis' (angle, axis) or 'matrix' (row by row).
        :param position: 'cartesian', 'cylindrical' or 'spherical'; see spatial/positions.py.
        :raise SingularParametrisation: these parameters cannot follow every motion from there.
        """
        return analytic_jacobian(self._robot.frame_pose(q, frame), self._robot.jacobian(q, frame),
                                 rotation, position)

    def operational_space(self, q: ArrayLike, v: ArrayLike, frame: str | Sequence[str],
                          axes: Sequence[str] | Sequence[Sequence[str]] | None = None,
                          closed: bool = False, coordinates: Sequence[str] | None = None
                          ) -> OperationalSpace:
        """Return the OperationalSpace of a frame, or of a list of frames.

        inertia w' + bias + gravity = F is the force that accelerates the chosen axes by w', if the
        joints apply J' F, and friction_torque(v) against friction; N' tau_0 may be added and
        accelerates none of them. Exact in all directions in which the frames can move, damped near
        singularities as in algorithms/operational_space.py; `lost` and `directions` show where
        they cannot move. For a robot with loops the result is that of the open tree, like
        mass_matrix, or with `closed` that of the mechanism.

        :param frame: name of a link, or a list of names.
        :param axes: which rows: some of x, y, z (along) and rx, ry, rz (about the root's axes), for
            each frame the same; or one such list per frame. None for all six.
        :param closed: in the coordinates of closed_dynamics, which take the place of all joints.
        :param coordinates: as in closed_dynamics.
        """
        frames, rows, reference = self._stack(frame, axes)
        robot = self._robot
        q_rows, v_rows = self._side_by_side(q, v)
        if self._is_closed(closed, coordinates):
            terms = robot.closed_dynamics(q_rows, v_rows, coordinates=coordinates)
            J, drift = self._closed_rows(q_rows, v_rows, frames, rows, coordinates)
            return operational_space(J, drift, inverse_of_inertia(terms.mass_matrix),
                                     terms.coriolis, terms.gravity, reference)
        jacobians = [robot.jacobian(q_rows, name) for name in frames]
        rates = [robot.jacobian_rate(q_rows, v_rows, name) for name in frames]
        J, rate = ((parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-2))
                   for parts in (jacobians, rates))
        if rows is not None:
            J, rate = J[..., rows, :], rate[..., rows, :]
        gravity = robot.gravity_torque(q_rows)
        coriolis = robot.bias_torque(q_rows, v_rows) - gravity
        return operational_space(J, times(rate, v_rows),
                                 robot.mass_matrix_inverse(q_rows), coriolis, gravity, reference)

    def manipulability(self, q: ArrayLike, frame: str | Sequence[str],
                       axes: Sequence[str] | Sequence[Sequence[str]] | None = ('x', 'y', 'z'),
                       closed: bool = False, coordinates: Sequence[str] | None = None
                       ) -> Manipulability:
        """Return the Manipulability of a frame, or of a list of frames: ellipsoids, measures, mass.

        For a robot with loops it is that of the open tree, or with `closed` that of the mechanism,
        at velocities and torques of norm 1 of its coordinates.

        :param frame: name of a link, or a list of names.
        :param axes: which rows, as for operational_space; metres and radians should not be mixed.
        :param closed, coordinates: as in operational_space.
        """
        frames, rows, _ = self._stack(frame, axes)
        if self._is_closed(closed, coordinates):
            still = np.zeros(self._model.nv)
            terms = self._robot.closed_dynamics(q, still, coordinates=coordinates)
            return manipulability(self._closed_rows(q, still, frames, rows, coordinates)[0],
                                  inverse_of_inertia(terms.mass_matrix))
        J = np.concatenate([self._robot.jacobian(q, name) for name in frames], axis=-2)
        return manipulability(J if rows is None else J[..., rows, :],
                              self._robot.mass_matrix_inverse(q))

    # Inverse kinematics ----------------------------------------------------------------------

    def inverse_kinematics(self, targets: Target | Sequence[Target],
                           start: ArrayLike | None = None,
                           tolerance: float | tuple[float, float] = TOLERANCE,
                           restarts: int = RESTARTS, seed: int = 0) -> InverseKinematics:
        """Return the InverseKinematics (q, success, error, reason, iterations, restarts, ...).

        The pose of a six-axis arm with a spherical wrist or three parallel axes is solved in closed
        form: `solutions` has all solutions within the limits, the nearest to the start first.
        Otherwise Newton's method runs from the start, which finds a solution near it; if that
        fails, from random configurations. A target out of reach is not an error: the closest
        configuration found is returned, with its errors and the reason. The limits are kept in any
        case. The loops of a robot are closed in the result, see task_space/closed_newton_step.py.

        :param targets: a Target or several: a pose, a position, an orientation or an axis each.
        :param start: (nq,), None for the neutral configuration.
        :param tolerance: tolerance of positions [m] and rotations [rad], or a pair of both.
        :param restarts: how many random configurations may be tried; 0 stays near the start, by
            Newton's method alone.
        :param seed: seed of the random configurations; equal calls return equal results.
        """
        wanted = task_arguments.check_targets(self._model, targets)
        start = (self._robot.neutral() if start is None
                 else arguments.check_single_configuration(self._model, start, 'start'))
        parts = parts_of(wanted)
        restarts = checks.whole('restarts', restarts, most=MOST_RESTARTS)
        arm = arm_of_parts(self._model, parts) if restarts and not self._loops else None
        solve = None if arm is None else self._dispatcher.positional('arm_solution', (parts,))
        if self._loops:
            self._refuse_unanchored()
            start = self._robot.project_configuration(start)
        return inverse_kinematics(self._model, self.newton_step(wanted), wanted, start,
                                  task_arguments.check_tolerance(tolerance), restarts,
                                  checks.whole('seed', seed), arm, solve)

    def newton_step(self, targets: Sequence[Target]) -> Callable:
        """Return f(q, goal, limits, caution) -> NewtonStep of checked targets."""
        if self._loops:
            return ClosedNewtonStep(self._robot, parts_of(targets))
        return self._dispatcher.positional('newton_step', (parts_of(targets),))

    def keys(self, targets: Target | Sequence[Target]) -> list[KernelKey]:
        """Return the keys of the kernels that inverse kinematics of some targets needs."""
        if isinstance(targets, (tuple, list)) and not targets:
            return []
        parts = parts_of(task_arguments.check_targets(self._model, targets))
        if not self._loops:
            return [key_of(self._model, kernel, (parts,))
                    for kernel in kernels_of(self._model, parts)]
        frames = dict.fromkeys(frame for frame, _ in parts)
        return [key_of(self._model, 'constraint_rows', constraints=self._loops),
                *(key_of(self._model, 'frame_pose', (frame,)) for frame in frames),
                *(key_of(self._model, 'jacobian', (frame, True)) for frame in frames)]

    def joint_velocities(self, q: ArrayLike, tasks: Motions, contacts: Constraints = None,
                         weights: ArrayLike | None = None, preferred: ArrayLike | None = None,
                         damping: float = 0.0) -> np.ndarray:
        """Return the velocity v (nv,) that moves frames as the tasks require, at one configuration.

        :param tasks: FrameMotion or Tracking, one or a list of equal priority; or a list of such
            lists with strict priorities, the first the highest: no task disturbs one above it.
        :param contacts: constraints that are kept above all tasks; the robot's loops always are.
        :param weights: (nv,) positive, how much each velocity is avoided; None for ones.
        :param preferred: (nv,) velocity that the remaining freedom comes near to; None for zero.
        :param damping: bounds velocities near singularities (eq. 2.195), 0.01 to 0.1 for an arm of
            a metre; tasks and preferences are then not met exactly.
        """
        nv = self._model.nv
        q = arguments.check_single_configuration(self._model, q)
        levels = [[motion_rows(self._model, q, task) for task in level]
                  for level in task_arguments.check_motions(self._model, tasks)]
        constraints = self._sets.of(None, contacts)
        if constraints:
            levels.insert(0, contact_level(self._model, q, constraints))
        penalties = checks.check_weights('weights', weights, nv)
        if penalties is not None and not penalties.all():
            raise DynamicsError('weights: every one must be above zero')
        if preferred is not None:
            preferred = checks.check_single('preferred', preferred, nv)
        damping = at_least_zero('damping', damping)
        with np.errstate(all='ignore'):  # results that are not finite are refused below
            v = joint_velocities(levels, nv, penalties, preferred, damping)
        if not np.isfinite(v).all():
            raise NotFinite('the result is not finite: the values are too large')
        return v

    # Whole-body control ----------------------------------------------------------------------

    def whole_body(self, q: ArrayLike, v: ArrayLike, tasks: Sequence[Task],
                   contacts: Constraints = None, bounds: Sequence[Bound] = DEFAULT_BOUNDS,
                   constraints: Constraints = None, passive: Sequence[str] | None = None,
                   wrenches: Wrenches = None, stabilisation: ArrayLike | None = None) -> WholeBody:
        """Return the WholeBody (status, acceleration, torque, forces, errors, active, conflict).

        The motion of one state that fulfils the tasks best, level by level, and keeps the contacts
        and all bounds; see task_space/whole_body.py. Where none exists, `conflict` names the
        contradicting bounds.

        :param tasks: a list of Task.
        :param bounds: a list of Bound, by default torque limits and friction.
        :param contacts: constraints in addition to `constraints`, which are the robot's own loops
            if None.
        :param passive: names of the joints without a motor, None for the loops' own; floating
            joints never have one.
        :param wrenches: {frame: (fx, fy, fz, tx, ty, tz)} as for inverse_dynamics.
        :param stabilisation: (alpha, beta) [1/s] as for constrained_forward_dynamics.
        """
        passive = self._model.loops[1] if passive is None else arguments.check_joint_names(
            self._model, 'passive', passive)
        setting = self._setting(self._sets.of(constraints, contacts), passive)
        rates = arguments.check_stabilisation(stabilisation)
        found = self._compiled.solved(setting, q, v, tasks, bounds, wrenches, rates)
        if found is not None:
            return found
        q = arguments.check_single_configuration(self._model, q)
        v = checks.check_single('v', v, self._model.nv)
        tasks = checks.check_sequence('tasks', tasks)
        bounds = checks.check_sequence('bounds', bounds)
        check(tasks, bounds)
        if wrenches is not None:
            self._dispatcher.wrenches(wrenches)   # those of a batch are refused
        return whole_body(self._robot, q, v, tasks, setting, bounds, wrenches, rates)

    def _setting(self, constraints: Constraints, passive: Sequence[str] | None) -> Setting:
        """Return the Setting; found by id, since a hash of constraints takes 6 us."""
        known = self._settings.get((id(constraints), passive))
        if known is None:
            if len(self._settings) >= MOST_SETTINGS:
                self._settings.clear()
            # the constraints are kept too, so that their id stays unique
            known = constraints, setting_of(self._model, constraints, passive)
            self._settings[id(constraints), passive] = known
        return known[1]

    # Helpers ---------------------------------------------------------------------------------

    @property
    def _loops(self) -> tuple[Constraint, ...]:
        return self._robot.loops.constraints

    def _refuse_unanchored(self) -> None:
        loose = [constraint.name for constraint in self._loops if constraint.is_unanchored]
        if loose:
            raise DynamicsError(f'the contacts {", ".join(loose)} of the loops have no to_pose, so '
                                'that they do not fix a position; inverse_kinematics needs it')

    def _is_closed(self, closed: bool, coordinates: Sequence[str] | None) -> bool:
        """Return whether the closed mechanism is wanted; refuse coordinates of the open tree."""
        if coordinates is not None and not closed:
            raise DynamicsError('coordinates are given, but they are read only with closed=True')
        return flag('closed', closed)

    def _closed_rows(self, q: ArrayLike, v: ArrayLike, frames: Sequence[str],
                     rows: np.ndarray | None, coordinates: Sequence[str] | None
                     ) -> tuple[np.ndarray, np.ndarray]:
        """Return the chosen rows by the coordinates (m, k), and their accelerations (m,)."""
        found = [self._robot.closed_jacobian(q, v, name, coordinates=coordinates)
                 for name in frames]
        J = np.concatenate([each.jacobian for each in found], axis=-2)
        drift = np.concatenate([each.drift for each in found], axis=-1)
        return (J, drift) if rows is None else (J[..., rows, :], drift[..., rows])

    def _stack(self, frame: str | Sequence[str],
               axes: Sequence[str] | Sequence[Sequence[str]] | None
               ) -> tuple[tuple[str, ...], np.ndarray | None, np.ndarray]:
        """Return the frames, their chosen rows (None for all) and the rows' reference inertia."""
        frames = task_arguments.check_frames(frame)
        names = None if axes is None else task_arguments.check_axes(axes, len(frames))
        known = self._stacks.get((frames, names))
        if known is None:
            reference = reference_inertia(self._model, frames)
            rows = None if names is None else np.array(
                [6 * k + AXES.index(axis) for k, chosen in enumerate(names) for axis in chosen])
            known = frames, rows, reference if rows is None else reference[rows]
            self._stacks[frames, names] = known
        return known

    def _side_by_side(self, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return q and v as floats, a single one repeated for each row of the other."""
        if (type(q) is type(v) is np.ndarray and q.ndim == v.ndim
                and q.dtype == v.dtype == float):
            return q, v
        nq, nv = self._model.nq, self._model.nv
        q_rows, v_rows = checks.check_array('q', q, nq), checks.check_array('v', v, nv)
        n = checks.batch_size({'q': q_rows, 'v': v_rows})
        if n is None:
            return q_rows, v_rows
        return np.broadcast_to(q_rows, (n, nq)), np.broadcast_to(v_rows, (n, nv))
