"""What do closed loops ask of the motors? Passive joints follow, and their load is carried.

With A v = 0 for every motion that keeps the loops, all these motions are v = N z, N a basis of the
null space of A. The active rows of N, N_a, say everything: what moves the active joints moves all,

    v = N z,   N_a z = v_a,

and by virtual work the torques tau that the tree would need come from the motors alone,

    N_a' tau_a = N' tau,

of which the least are taken where motors are redundant. It is the least-torque solution of Kim
2012, eq. 58 and 62-64 (`constrained/inverse.py`), with lambda gone. Float only: an SVD.
"""

import numpy as np

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.control.spline import MotionSample
from dynamics_node.errors import DynamicsError

# Rows of A at unit length depend on each other below this share of the greatest singular value.
DEPENDENT = 1e-6
# Where a free motion of length 1 moves the active joints by less than this [rad or m], they have no
# hold on it: their torques would be a thousand times what they carry.
SINGULAR = 1e-3
# Measured joints that leave a loop open by more than this [m or rad] are not measured right, or
# belong to another mechanism.
OPEN = 0.02

CONTACTS_NEEDED = ('List the contacts that carry the robot, its feet for example, as constraints '
                   '(parameter constraints of the node, argument loops of Robot.from_urdf)')


def check_support(robot):
    """Refuse a robot with a floating joint that no constraint holds.

    No motor acts on a floating joint. Without contacts the torques of the other joints balance the
    weight of the links beyond them only, as if the base hung on a crane.

    :raise DynamicsError: the joint, and how to give the contacts.
    """
    free = [joint.name for joint in robot.model.joints if joint.kind == 'floating']
    if free and not robot.loops.constraints:
        raise DynamicsError(
            f"joint '{free[0]}' is floating and nothing holds it: no torque of the motors balances "
            f'gravity. {CONTACTS_NEEDED}, or set base to fixed if the robot is mounted')


class ClosedLoops:
    """The loops of a robot, as its controller sees them. Immutable.

    :ivar active: (nv,) booleans, False at the passive joints, floating ones among them.
    """

    def __init__(self, robot):
        self._robot, self._model = robot, robot.model
        self._still = np.zeros(robot.nv)
        self.active = actuated_dofs(robot.model, robot.loops.passive)
        passive = [joint for joint in robot.model.joints if not self.active[joint.v].all()]
        self._places = np.concatenate([np.arange(robot.nq)[joint.q] for joint in passive]
                                      or [np.empty(0, dtype=int)])
        self._fixed = tuple(joint.name for joint in robot.model.joints if joint not in passive)

    def carried(self, q, tau):
        """Return the torques of the motors that do what tau would on the tree, (nv,).

        Zero at the passive joints.

        :raise DynamicsError: the loops are open at q, or the motors have no hold on some motion.
        """
        N = self._motions(self._closed(q).A)
        result = np.zeros(len(tau))
        result[self.active] = np.linalg.lstsq(N[self.active].T, N.T @ tau, rcond=None)[0]
        return result

    def accelerations(self, q, v, a):
        """Return a with what follows at the passive joints, A a + (dA/dt) v = 0, (nv,).

        The active ones are as given; where motors are redundant, as near as the loops allow.
        """
        found = self._robot.constraint_rows(q, v)
        return self._following(found.A, a, found.gamma)

    def followed(self, q, motion, whole):
        """Return the Motion of a reference with what follows at the passive joints.

        :param q: measured: near it is where the passive joints are looked for.
        :param whole: whether positions follow too; else velocities do, as they would at q, and the
            accelerations are left for `accelerations`.
        """
        if not whole:
            return motion._replace(v=self._following(self._closed(q).A, motion.v, 0.0))
        start = np.array(motion.q)
        start[self._places] = q[self._places]
        there = self._robot.project_configuration(start, fixed=self._fixed)
        v = self._following(self._closed(there).A, motion.v, 0.0)
        return MotionSample(there, v, self.accelerations(there, v, motion.a))

    def _closed(self, q):
        """Return the Rows at q, where the loops are closed."""
        found = self._robot.constraint_rows(q, self._still)
        gap = np.abs(found.residual).max(initial=0.0)
        if not gap <= OPEN:
            raise DynamicsError(f'the loops are open by {gap:.3g} m or rad where the '
                                f'joints are measured, more than {OPEN:g}: is each joint of the '
                                'loops measured, with the right sign and zero?')
        return found

    def _motions(self, A):
        """Return N, orthonormal, (nv, freedom)."""
        length = np.linalg.norm(A, axis=1, keepdims=True)
        _, s, Vt = np.linalg.svd(A / np.where(length > 0.0, length, 1.0))
        N = Vt[int(np.sum(s > DEPENDENT * s.max(initial=0.0))):].T
        hold = np.linalg.svd(N[self.active], compute_uv=False)
        if len(hold) < N.shape[1] or (hold < SINGULAR).any():
            loose = self._loose(N)
            floats = any(self._model.joint(name).kind == 'floating' for name in loose)
            raise DynamicsError(f'singular configuration: {", ".join(loose)} can move while the '
                                'motors stand still, so no torque of theirs holds the mechanism'
                                f'{". " + CONTACTS_NEEDED if floats else ""}')
        return N

    def _loose(self, N):
        """Return the joints that move in the motion on which the motors have the least hold."""
        motion = np.abs(N @ np.linalg.svd(N[self.active])[2][-1])
        return [joint.name for joint in self._model.joints
                if motion[joint.v].max() > 0.1 * motion.max() and not self.active[joint.v].all()]

    def _following(self, A, x, target):
        """Return y with A y + target = 0 and active entries nearest to those of x, (nv,)."""
        N = self._motions(A)
        particular = -np.linalg.lstsq(A, target + np.zeros(len(A)), rcond=None)[0]
        z = np.linalg.lstsq(N[self.active], (x - particular)[self.active], rcond=None)[0]
        return particular + N @ z
