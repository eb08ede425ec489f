"""What a Robot says in task space: where its frames shall be, and how they shall move."""

from functools import partial

import numpy as np

from dynamics_node.algorithms.analytic_jacobian import analytic_jacobian
from dynamics_node.algorithms.operational_space import operational_space, reference_inertia
from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.keys import key_of
from dynamics_node.model.checks import at_least_zero
from dynamics_node.robot import arguments
from dynamics_node.task_space.bounds import DEFAULT_BOUNDS
from dynamics_node.task_space.inverse_kinematics import inverse_kinematics
from dynamics_node.task_space.newton_step import newton_step
from dynamics_node.task_space.setting import setting_of
from dynamics_node.task_space.target import parts_of
from dynamics_node.task_space.tasks import AXES

TOLERANCE = 1e-6  # of inverse kinematics [m and rad]
RESTARTS = 64     # of inverse kinematics
MOST_RESTARTS = 1_000_000  # an hour and more


class TaskSpace:
    """The methods of a Robot that shall do something with its frames."""

    # Seen from frames ------------------------------------------------------------------------

    def analytic_jacobian(self, q, frame, rotation='euler_zyx', position='cartesian'):
        """Return J_A, rates of the parameters of the frame's pose = J_A v, (3 + n, nv).

        The position comes first, then the n parameters of the rotation.

        :param rotation: 'euler_zyx', 'euler_xyz', 'euler_zyz', 'euler_zxz', 'rotation_vector',
            'quaternion' (x y z w), 'angle_axis' (angle, axis) or 'matrix' (row by row).
        :param position: 'cartesian', 'cylindrical' or 'spherical'; see spatial/positions.py.
        :raise SingularParametrisation: these parameters cannot follow every motion from there.
        """
        return analytic_jacobian(self.frame_pose(q, frame), self.jacobian(q, frame), rotation,
                                 position)

    def operational_space(self, q, v, frame, axes=None):
        """Return the OperationalSpace of a frame, or of a list of frames.

        inertia w' + bias + gravity = F is the force that accelerates the chosen axes by w', if the
        joints apply J' F, and friction_torque(v) against friction; N' tau_0 may be added and
        accelerates none of them. Exact in all directions in which the frames can move, damped near
        singularities as algorithms/operational_space.py says; `lost` and `directions` tell where
        they cannot move. Of a robot with loops it is that of the open tree, as mass_matrix is.

        :param frame: name of a link, or a list of names.
        :param axes: which rows: some of x, y, z (along) and rx, ry, rz (about the root's axes), for
            each frame the same; or one such list per frame. None for all six.
        """
        frames, rows, reference = self._stack(frame, axes)
        q, v = self._side_by_side(q, v)
        J = [self.jacobian(q, name) for name in frames]
        rate = [self.jacobian_rate(q, v, name) for name in frames]
        J, rate = ((part[0] if len(part) == 1 else np.concatenate(part, axis=-2))
                   for part in (J, rate))
        if rows is not None:
            J, rate = J[..., rows, :], rate[..., rows, :]
        gravity = self.gravity_torque(q)
        coriolis = self.bias_torque(q, v) - gravity
        return operational_space(J, (rate @ v[..., None])[..., 0], self.mass_matrix_inverse(q),
                                 coriolis, gravity, reference)

    # Inverse kinematics ----------------------------------------------------------------------

    def inverse_kinematics(self, targets, start=None, tolerance=TOLERANCE, restarts=RESTARTS,
                           seed=0):
        """Return the InverseKinematics (q, success, error, reason, iterations, restarts).

        Newton's method from the start, which finds a solution near it; where that fails, from
        random configurations. Nothing in reach is no error: the closest configuration found is
        returned, with its errors and the reason. The limits are kept in any case.

        :param targets: a Target or several: a pose, a position, an orientation or an axis each.
        :param start: (nq,), None for the neutral configuration.
        :param tolerance: of positions [m] and rotations [rad], or a pair of both.
        :param restarts: how many random configurations may be tried; 0 stays near the start.
        :param seed: of those; the same question has the same answer.
        """
        if self.loops.constraints:
            raise DynamicsError('inverse_kinematics does not close loops, and this robot has some; '
                                'ask it without, with_loops(None), or use project_configuration')
        targets = arguments.check_targets(self.model, targets)
        start = self.neutral() if start is None else self._single_configuration(start, 'start')
        return inverse_kinematics(self.model, self._newton_of((parts_of(targets),)), targets, start,
                                  arguments.check_tolerance(tolerance),
                                  arguments.check_count('restarts', restarts, MOST_RESTARTS),
                                  arguments.check_count('seed', seed))

    def joint_velocities(self, q, tasks, contacts=None, weights=None, preferred=None, damping=0.0):
        """Return the velocity v (nv,) that moves frames as they shall, at one configuration.

        :param tasks: FrameMotion or Tracking, one or a list of equal priority; or a list of such
            lists with strict priorities, the first the highest: no task disturbs one above it.
        :param contacts: constraints that are kept above all tasks; the robot's loops always are.
        :param weights: (nv,) positive, how much each velocity is avoided; None for ones.
        :param preferred: (nv,) velocity that what is left free comes near to; None for zero.
        :param damping: bounds velocities near singularities (eq. 2.195), 0.01 to 0.1 for an arm of
            a metre; tasks and preferences are then not met exactly.
        """
        from dynamics_node.task_space.differential_kinematics import contact_level, joint_velocities

        q = self._single_configuration(q)
        levels = [[task.rows(self.model, q) for task in level]
                  for level in arguments.check_motions(self.model, tasks)]
        held = self._sets.of(None, contacts)
        if held:
            levels.insert(0, contact_level(self.model, q, held))
        if weights is not None:
            weights = arguments.check_weights('weights', weights, self.nv)
            if not weights.all():
                raise DynamicsError('weights: every one must be above zero')
        if preferred is not None:
            preferred = arguments.check_single('preferred', preferred, self.nv)
        damping = at_least_zero('damping', damping)
        with np.errstate(all='ignore'):  # what is not finite is refused below
            v = joint_velocities(levels, self.nv, weights, preferred, damping)
        if not np.isfinite(v).all():
            raise DynamicsError('the result is not finite: the values are too large')
        return v

    # Many tasks at once ----------------------------------------------------------------------

    def whole_body(self, q, v, tasks, contacts=None, bounds=DEFAULT_BOUNDS, constraints=None,
                   passive=None, wrenches=None, stabilisation=None):
        """Return the WholeBody (status, acceleration, torque, forces, errors, active, conflict).

        The motion of one state that does the tasks best, level by level, keeps the contacts and
        all bounds; see task_space/whole_body.py. What cannot be solved says what contradicts what.

        :param tasks: of Task; bounds: of Bound, torque limits and friction unless said otherwise.
        :param contacts: held besides `constraints`, which are the robot's own loops if None.
        :param passive: names of the joints without a motor, None for the loops' own; floating
            joints never have one.
        :param wrenches: {frame: (fx, fy, fz, tx, ty, tz)} as for inverse_dynamics.
        :param stabilisation: (alpha, beta) [1/s] as for constrained_forward_dynamics.
        """
        # SciPy takes 0.1 s to import: not before somebody asks
        from dynamics_node.task_space.whole_body import whole_body

        passive = self.model.loops[1] if passive is None else arguments.check_joint_names(
            self.model, 'passive', passive)
        setting = setting_of(self.model, self._sets.of(constraints, contacts), passive)
        q, v = self._single_configuration(q), arguments.check_single('v', v, self.nv)
        return whole_body(self, q, v, arguments.check_sequence('tasks', tasks), setting,
                          arguments.check_sequence('bounds', bounds), wrenches,
                          arguments.check_stabilisation(stabilisation))

    # How they are answered -------------------------------------------------------------------

    def _task_keys(self, targets):
        """Return the keys of the kernels that some targets need."""
        if isinstance(targets, (tuple, list)) and not targets:
            return []
        targets = arguments.check_targets(self.model, targets)
        return [key_of(self.model, 'newton_step', (parts_of(targets),))]

    def _swap_in_task(self, key, bind):
        """Let a kernel answer from now on, see Robot._swap_in."""
        self._fast[key.question, key.frame] = bind(partial(self._ask_newton, key.frame))

    def _newton_of(self, frame):
        """Return newton_step for ((frame, kind), ...): the kernel if it is there."""
        return self._fast.get(('newton_step', frame)) or partial(self._ask_newton, frame)

    def _ask_newton(self, frame, q, goal, limits, caution):
        return self._answerer.ask('newton_step', newton_step, frame=frame,
                                  q=q, goal=goal, limits=limits, caution=caution)

    def _stack(self, frame, axes):
        """Return the frames, their chosen rows (None for all) and the rows' reference inertia."""
        frames = arguments.check_frames(frame)
        axes = None if axes is None else arguments.check_axes(axes, len(frames))
        known = self._fast.get(('stack', frames, axes))
        if known is None:
            reference = reference_inertia(self.model, frames)
            rows = None if axes is None else np.array(
                [6 * k + AXES.index(axis) for k, chosen in enumerate(axes) for axis in chosen])
            known = frames, rows, reference if rows is None else reference[rows]
            self._fast['stack', frames, axes] = known
        return known

    def _side_by_side(self, q, v):
        """Return q and v as floats, a single one repeated for each row of the other."""
        if not (type(q) is type(v) is np.ndarray and q.ndim == v.ndim
                and q.dtype == v.dtype == float):
            q, v = arguments.check_array('q', q, self.nq), arguments.check_array('v', v, self.nv)
            n = arguments.batch_size({'q': q, 'v': v})
            if n is not None:
                q, v = np.broadcast_to(q, (n, self.nq)), np.broadcast_to(v, (n, self.nv))
        return q, v
