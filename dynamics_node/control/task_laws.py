r"""Compute the torques of mode task_space: a frame follows a reference of motion and force.

The controlled axes are those of the contact frame that are not free. Each is a row: rows M are
controlled by motion, rows F by force. With J, dJ/dt v, w, w*, a* and the error e (p* - p,
rotation vector of R* R') in these rows, and Lambda, J-bar and N of the rows (operational_space.py),

    tau = J' F + C v + g + N' tau_0 + friction(J-bar w*),   F = Lambda (c - dJ/dt v) + f,

| law       | c_M                      | f_M                 | f_F                             |
|-----------|--------------------------|---------------------|---------------------------------|
| impedance | a*                       | K e + D (w* - w)    | F_c - D w - J_F-bar' J_M' f_M   |
| motion    | a* + K e + D (w* - w)    | 0                   | F_c - Lambda_F D w              |

with c_F = 0, K and D [N/m, N m/rad], [N s/m, ...] for impedance, [1/s^2], [1/s] for motion, so that
on an exact model under an external wrench F_ext,

    impedance:  Lambda e'' + D e' + K e = -F_ext        a body on springs, with the robot's inertia
    motion:     e'' + D e' + K e = -Lambda^-1 F_ext     unit masses on springs, each axis by itself

along M, independent of the forces along F; there a rigid contact reacts with F_c, independent of
the motion along M.
D w is zero in contact, and slows the frame if the contact is lost. J_F-bar' J_M' f_M keeps the
springs along M from accelerating any row of F: J' f then is the null space of F times J_M' f_M.
Free axes have no row: posture and contacts determine the motion of the frame along them.

tau_0 = M (kp (posture - q) - kd v)  holds the posture, each joint as a unit mass on a spring; N' =
1 - J' J-bar' keeps it from accelerating any row. C v + g of all joints is applied, not J' (mu + p):
the two differ only in the null space, where the arm would fall otherwise. Friction is compensated
at the velocity of the reference, as in every mode (laws.py).

An arm that cannot move along all rows, since it has fewer axes or is singular, follows the part
of c that it can: Lambda and J-bar are zero in lost directions. Near a singular configuration Lambda
is damped: the frame follows less along the lost axis, and in N the posture controls the joints,
with its damper. The spring term K e + D w* is multiplied by P = J J-bar there (P' where it is a
force), so that it decreases as the motion along the lost axis does. Damping begins at
DAMPED_BELOW, or earlier: a frame that moves with w towards the edge of its reach needs joint speeds
w / s, which grow without bound. So damping begins where the reference would need more than 0.6 of
the speed limit of a joint (within_speed). A slow motion is exact nearly up to the edge; a fast one
is late there. The torque is continuous in the state, except where the orientation error is half a
turn: there its shortest rotation changes direction.

Hutter 2017, eq. 3.89, 3.90, 3.94 and 3.96 to 3.98, where Lambda_M of 3.96 is Lambda S_M; Khatib
1987; the damping is the double diagonalisation of Albu-Schaeffer et al. 2003.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node import linalg
from dynamics_node.algorithms.operational_space import DAMPED_BELOW, Consistent, consistent
from dynamics_node.control.blended_pose_spline import TaskMotionSample
from dynamics_node.control.gains import TaskGains
from dynamics_node.control.pose_coordinates import pose_error
from dynamics_node.control.task_reference import TaskReference
from dynamics_node.control.torque_terms import TorqueTerms
from dynamics_node.errors import DynamicsError

SPEED_SHARE = 0.6   # of a joint's speed limit that the law uses; the gate fades pushes from 0.8 on
STEEPEST = 1.14     # maximum of s^3 / (s^4 + lambda^4), times e
# Share of the reference inertia that is added to Lambda to find its modes, since a lost direction
# has no inertia: its damping becomes 2 sqrt(K 1e-9 m), which is negligible.
LEAST_INERTIA = 1e-9


class TaskRows(NamedTuple):
    """The controlled axes of a frame, k rows, in units of m and rad."""

    jacobian: np.ndarray             # J (k, nv)
    bias_acceleration: np.ndarray    # dJ/dt v (k,)
    error: np.ndarray                # e (k,)
    velocity: np.ndarray             # w (k,)
    wanted_velocity: np.ndarray      # w* (k,)
    wanted_acceleration: np.ndarray  # a* (k,)
    wrench: np.ndarray               # F_c (k,) [N, N m]
    force: np.ndarray                # (k,) bool: row of F, else of M
    inverse: np.ndarray              # M^-1 (nv, nv)
    reference: np.ndarray            # reference inertia (k,) [kg, kg m^2]


def task_space(terms: TorqueTerms, q: np.ndarray, v: np.ndarray, motion: TaskMotionSample,
               gains: TaskGains) -> np.ndarray:
    """Return the torque for a TaskMotionSample and TaskGains, (nv,)."""
    robot = terms.robot
    rows = task_rows(terms, q, v, motion)
    exact = consistent(rows.jacobian, rows.inverse, rows.reference)
    space = within_speed(exact, rows, SPEED_SHARE * terms.max_velocity)
    F = task_wrench(space, rows, motion.reference, gains)
    # N' M a_0 = M N a_0; in lost directions the damper acts, the spring does not
    spring = exact.null_space @ (gains.posture.kp * terms.error(q, motion.posture))
    damper = space.null_space @ (gains.posture.kd * v)
    tau = rows.jacobian.T @ F + robot.mass_matrix(q) @ (spring - damper) + terms.bias(q, v)
    return tau + terms.friction(space.consistent_inverse @ rows.wanted_velocity)


def task_rows(terms: TorqueTerms, q: np.ndarray, v: np.ndarray,
              motion: TaskMotionSample) -> TaskRows:
    """Return the TaskRows of a TaskMotionSample."""
    robot, reference, target = terms.robot, motion.reference, motion.pose_motion
    B, frame = reference.selection.rows, reference.frame
    J = B @ robot.jacobian(q, frame)
    return TaskRows(J, B @ (robot.jacobian_rate(q, v, frame) @ v),
                    B @ pose_error(robot.frame_pose(q, frame), target.pose), J @ v,
                    B @ target.twist, B @ target.acceleration, B @ reference.wrench,
                    reference.selection.force, robot.mass_matrix_inverse(q),
                    terms.reference_inertia(frame)[reference.selection.controlled])


def task_wrench(space: Consistent, rows: TaskRows, reference: TaskReference,
                gains: TaskGains) -> np.ndarray:
    """Return F along the rows, which acts on the frame in addition to C v + g, (k,) [N, N m].

    :param space: Consistent inverse of the rows.
    """
    force, w = rows.force, rows.velocity
    any_force = force.any()
    decoupled = _decoupled(space.inertia, force) if any_force else space.inertia
    K, D = stiffness_and_damping(decoupled, rows.reference, reference, gains)
    pull = np.where(force, 0.0, K * rows.error + D @ rows.wanted_velocity)
    if space.damping.any():  # else P = 1
        P = rows.jacobian @ space.consistent_inverse
        pull = (P if gains.law == 'motion' else P.T) @ pull
    spring = np.where(force, 0.0, pull - D @ w)
    c = np.where(force, 0.0, rows.wanted_acceleration)
    if gains.law == 'motion':
        c = c + spring
    F = space.inertia @ (c - rows.bias_acceleration)
    if gains.law == 'impedance':
        F = F + spring
    if any_force:
        slowing = D @ w if gains.law == 'impedance' else decoupled @ (D @ w)
        F[force] += (rows.wrench - slowing)[force]
        if gains.law == 'impedance' and not force.all():
            contact = consistent(rows.jacobian[force], rows.inverse, rows.reference[force])
            F[force] -= contact.consistent_inverse.T @ (rows.jacobian.T @ spring)
    return F


def within_speed(space: Consistent, rows: TaskRows, fastest: np.ndarray) -> Consistent:
    r"""Return the Consistent inverse, damped early enough to keep J-bar w* within joint speeds.

    In the norms of kinetic energy |J-bar w*| is at most  |w*| STEEPEST / e,  where damping begins
    at e. The direction v = J-bar w* gives its share of each joint's speed limit. So
    e = STEEPEST |w*| / |v| max(|v_k| / fastest_k),  or DAMPED_BELOW if that is more.

    :param space: Consistent inverse of the TaskRows, damped below DAMPED_BELOW.
    :param fastest: (nv,) joint speeds.
    """
    w = rows.wanted_velocity
    v = space.consistent_inverse @ w
    ratio, energy = np.max(np.abs(v) / fastest), v @ rows.jacobian.T @ space.inertia @ w
    if ratio == 0.0 or energy <= 0.0:
        return space
    below = STEEPEST * np.sqrt(rows.reference @ (w * w) / energy) * ratio
    if below <= DAMPED_BELOW:
        return space
    return consistent(rows.jacobian, rows.inverse, rows.reference, below)


def _decoupled(inertia: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Return the inertia with no coupling between rows of motion and of force."""
    return np.where(force[:, None] == force, inertia, 0.0)


def stiffness_and_damping(inertia: np.ndarray, least: np.ndarray, reference: TaskReference,
                          gains: TaskGains) -> tuple[np.ndarray, np.ndarray]:
    """Return K, the diagonal (k,), and D, (k, k), along the controlled axes.

    :param inertia: inertia matrix of the rows, (k, k); least: their reference inertia, (k,).
    """
    controlled = reference.selection.controlled
    K = (gains.stiffness if reference.stiffness is None else reference.stiffness)[controlled]
    if reference.damping is not None:
        return K, np.diag(reference.damping[controlled])
    if gains.law == 'motion':
        return K, np.diag(2.0 * gains.damping_ratio * np.sqrt(K))
    inertia = inertia + np.diag(LEAST_INERTIA * least)
    return K, gains.damping_ratio * critical_damping(inertia, np.diag(K))


def critical_damping(inertia: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    r"""Return D with which every mode of  Lambda e'' + D e' + K e = 0  is critically damped.

    The modes  K u = k Lambda u,  u' Lambda u = 1,  are unit masses on springs k, so with all of
    them in U,  D = 2 Lambda U diag(sqrt k) U' Lambda.
    """
    # LAPACK itself: NumPy has no generalised eigenproblem, and SciPy's checks take 40 us
    k, U, failed = linalg.lapack.dsygvd(stiffness, inertia)
    if failed:
        raise DynamicsError('the frame has no inertia in some direction, hence no damping')
    modes = inertia @ U
    return (modes * (2.0 * np.sqrt(np.maximum(k, 0.0)))) @ modes.T
