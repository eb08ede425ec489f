"""Compute motor torques of robots with closed loops: passive joints follow, motors bear their load.

With A v = 0 for every motion that keeps the loops, all these motions are v = N z, N a basis of the
null space of A. With N_a its actuated rows, the actuated joints determine the motion of all joints,

    v = N z,   N_a z = v_a,

and by virtual work the motors alone replace the torques tau that the tree would need,

    N_a' tau_a = N' tau.

Where motors are redundant, the least torques are chosen: the least-torque solution of Kim 2012,
eq. 58 and 62-64 (`constrained/inverse.py`), with lambda eliminated. Float only: an SVD.
"""

from collections.abc import Sequence

import numpy as np

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.closed_dynamics import LARGEST_GAP
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.rows import ConstraintRows
from dynamics_node.control.spline import MotionSample
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot

# Singular values of A, its rows at unit length, below this share of the greatest count as zero.
DEPENDENT = 1e-6
# A free motion of length 1 that moves the actuated joints by less than this [rad or m] counts as
# not controlled: the motor torques would be a thousand times the load.
SINGULAR = 1e-3

CONTACTS_NEEDED = ('List the contacts that carry the robot, its feet for example, as constraints '
                   '(parameter constraints of the node, argument loops of Robot.from_urdf)')


def check_support(robot: Robot) -> None:
    """Check that constraints hold every floating joint of a robot.

    No motor acts on a floating joint. Without contacts the torques of the other joints balance only
    the weight of the links beyond them, as if the base were fixed.

    :raise DynamicsError: the joint, and how to give the contacts.
    """
    free = [joint.name for joint in robot.model.joints if joint.kind == 'floating']
    if free and not robot.loops.constraints:
        raise DynamicsError(
            f"joint '{free[0]}' is floating and nothing holds it: no motor torque balances "
            f'gravity. {CONTACTS_NEEDED}, or set base to fixed if the robot is mounted')


class ClosedLoops:
    """The closed loops of a robot, for its controller. Immutable.

    :param constraints: None for those of the robot.
    :ivar actuated: (nv,) booleans, False at the passive joints, floating ones among them.
    """

    def __init__(self, robot: Robot, constraints: Sequence[Constraint] | None = None) -> None:
        self._robot, self._model, self._constraints = robot, robot.model, constraints
        self._still = np.zeros(robot.nv)
        self.actuated = actuated_dofs(robot.model, robot.loops.passive)
        passive = [joint for joint in robot.model.joints if not self.actuated[joint.v].all()]
        self._passive_q = np.concatenate([np.arange(robot.nq)[joint.q] for joint in passive]
                                         or [np.empty(0, dtype=int)])
        self._fixed = tuple(joint.name for joint in robot.model.joints if joint not in passive)

    def motor_torques(self, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the torques of the motors that have the effect of tau on the tree, (nv,).

        Zero at the passive joints.

        :raise DynamicsError: the loops are open at q, or the motors do not control some motion.
        """
        N = self._free_motions(self._closed_rows(q).A)
        result = np.zeros(len(tau))
        result[self.actuated] = np.linalg.lstsq(N[self.actuated].T, N.T @ tau, rcond=None)[0]
        return result

    def accelerations(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return a with the passive joints' accelerations computed: A a + (dA/dt) v = 0, (nv,).

        Those of actuated joints are as given; with redundant motors, as near as the loops allow.
        """
        found = self._robot.constraint_rows(q, v, self._constraints)
        return self._completed(found.A, a, found.gamma)

    def with_passive_joints(self, q: np.ndarray, motion: MotionSample,
                            whole: bool) -> MotionSample:
        """Return a sample of a reference with the motion of the passive joints computed.

        :param q: measured: the search for the positions of the passive joints starts here.
        :param whole: True: compute positions, velocities and accelerations. False: compute only
            velocities, at q; the law itself calls `accelerations`.
        """
        if not whole:
            return motion._replace(v=self._completed(self._closed_rows(q).A, motion.v, 0.0))
        start = np.array(motion.q)
        start[self._passive_q] = q[self._passive_q]
        closed = self._robot.project_configuration(start, fixed=self._fixed)
        v = self._completed(self._closed_rows(closed).A, motion.v, 0.0)
        return MotionSample(closed, v, self.accelerations(closed, v, motion.a))

    def _closed_rows(self, q: np.ndarray) -> ConstraintRows:
        """Return the constraint rows at q, where the loops are closed."""
        found = self._robot.constraint_rows(q, self._still, self._constraints)
        gap = np.abs(found.residual).max(initial=0.0)
        if not gap <= LARGEST_GAP:
            raise DynamicsError(f'the loops are open by {gap:.3g} m or rad at the positions q; '
                                f'expected at most {LARGEST_GAP:g}. If q is measured, check that '
                                'each joint of the loops is measured, with the right sign and '
                                'zero; else project_configuration closes them')
        return found

    def _free_motions(self, A: np.ndarray) -> np.ndarray:
        """Return N, orthonormal, (nv, freedom)."""
        length = np.linalg.norm(A, axis=1, keepdims=True)
        _, s, Vt = np.linalg.svd(A / np.where(length > 0.0, length, 1.0))
        N = Vt[int(np.sum(s > DEPENDENT * s.max(initial=0.0))):].T
        gains = np.linalg.svd(N[self.actuated], compute_uv=False)
        if len(gains) < N.shape[1] or (gains < SINGULAR).any():
            names = self._uncontrolled_joints(N)
            floats = any(self._model.joint(name).kind == 'floating' for name in names)
            raise DynamicsError(f'singular configuration: {", ".join(names)} can move while the '
                                'motors are at rest, so no motor torque holds the mechanism'
                                f'{". " + CONTACTS_NEEDED if floats else ""}')
        return N

    def _uncontrolled_joints(self, N: np.ndarray) -> list[str]:
        """Return the joints that move in the motion that the motors control least."""
        motion = np.abs(N @ np.linalg.svd(N[self.actuated])[2][-1])
        return [joint.name for joint in self._model.joints
                if motion[joint.v].max() > 0.1 * motion.max() and not self.actuated[joint.v].all()]

    def _completed(self, A: np.ndarray, x: np.ndarray, target: np.ndarray | float) -> np.ndarray:
        """Return y with A y + target = 0 and actuated entries nearest to those of x, (nv,)."""
        N = self._free_motions(A)
        particular = -np.linalg.lstsq(A, target + np.zeros(len(A)), rcond=None)[0]
        z = np.linalg.lstsq(N[self.actuated], (x - particular)[self.actuated], rcond=None)[0]
        return particular + N @ z
