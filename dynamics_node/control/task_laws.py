r"""Mode task_space: which torques let a frame move and push as asked?

With Lambda, J, dJ/dt v, J-bar of the frame (Robot.operational_space), its error e = (p* - p,
rotation vector of R* R'), the twists w* and w, and the selection of axes S_M and S_F,

    tau = J' F + C v + g + N' tau_0 + friction(J-bar w*),

    F = Lambda (S_M c - dJ/dt v) + S_F (F_c - D w),

| law       | commanded acceleration                            | K, D                            |
|-----------|---------------------------------------------------|---------------------------------|
| impedance | c = a* + (S_M Lambda S_M)^+ (K e + D (w* - w))    | [N/m, N m/rad], [N s/m, ...]    |
| motion    | c = a* + K e + D (w* - w)                         | [1/s^2], [1/s]; Lambda D below  |

so that on an exact model, pushed by F_ext,

    impedance:  Lambda e'' + D e' + K e = -F_ext        a body on springs, with the robot's inertia
    motion:     e'' + D e' + K e = -Lambda^-1 F_ext     unit masses on springs, each axis by itself

along the axes of motion, whatever is pushed along the others: there a rigid contact answers with
F_c, whatever moves along the axes of motion. D w is zero in contact, and slows the frame if it is
lost. Where all axes are of motion, impedance needs no inverse: F = Lambda (a* - dJ/dt v) + K e +
D (w* - w).

tau_0 = M (kp (posture - q) - kd v)  holds the posture, each joint as a unit mass on a spring,
however light it is; N' = 1 - J' J-bar' lets nothing of it through to the frame. It is C v + g of
all joints, not J' (mu + p): the two differ by the null space alone, where the arm would fall
otherwise. Losses are made up for at the reference's velocity, as in every mode (laws.py).

Near singular configurations Lambda is damped (algorithms/operational_space.py): the frame obeys
less along the axis that is lost, and N hands the motion of the joints to the posture, whose damper
slows them. What is pulled with, K e + D w*, is taken through P = J J-bar there (P' where it is a
force), and hence no faster than the joints go. How near is near depends on how fast: a frame that
moves with w towards the edge of its reach needs joint speeds w / s, which grow without bound, so
that damping begins where the reference would ask a joint for more than 0.6 of its speed
limit (within_speed), and at DAMPED_BELOW at the latest. A slow motion is exact nearly to the edge;
a fast one is late there. All of it is continuous in the state. (Where the orientation is half a
turn off it is not: the shortest way back changes sides.)

Hutter 2017, eq. 3.89, 3.90, 3.94 and 3.96 to 3.98, where Lambda_M of 3.96 is Lambda S_M; Khatib
1987; the damping is the double diagonalisation of Albu-Schaeffer et al. 2003.
"""

import numpy as np
from scipy.linalg.lapack import dsygvd

from dynamics_node.algorithms.operational_space import DAMPED_BELOW, consistent
from dynamics_node.control.task_chart import pose_error
from dynamics_node.errors import DynamicsError

ASKED = 0.6     # of a joint's speed limit: what the law asks for. From 0.8 on the gate fades pushes
STEEPEST = 1.14   # of s / (s^2 + lambda^2), times e


def task_space(terms, q, v, motion, gains):
    """Return the torque for a TaskMotion and TaskGains, (nv,)."""
    robot, frame = terms.robot, motion.reference.frame
    exact = robot.operational_space(q, v, frame)
    e = pose_error(robot.frame_pose(q, frame), motion.moving.pose)
    space = within_speed(exact, robot.mass_matrix_inverse(q), terms.reference_inertia(frame),
                         motion.moving.twist, ASKED * terms.max_velocity)
    F = task_wrench(space, e, space.jacobian @ v, motion, gains)
    # N' M a_0 = M N a_0; the damper takes over what the frame loses, the spring shall not
    spring = exact.null_space @ (gains.posture.kp * terms.error(q, motion.posture))
    damper = space.null_space @ (gains.posture.kd * v)
    tau = space.jacobian.T @ F + robot.mass_matrix(q) @ (spring - damper) + terms.bias(q, v)
    return tau + terms.friction(space.consistent_inverse @ motion.moving.twist)


def task_wrench(space, e, w, motion, gains):
    """Return F, what acts on the frame beside C v + g, (6,) [N, N m].

    :param space: OperationalSpace of the frame.
    :param e, w: its error and its twist, (6,).
    """
    reference, moving = motion.reference, motion.moving
    chosen, inertia = reference.selection, space.inertia
    S_M, S_F = chosen.motion, chosen.force
    apart = _apart(inertia, chosen)
    K, D = stiffness_and_damping(apart, reference, gains)
    pull = K @ e + D @ moving.twist
    if space.damping.any():  # else P = 1
        P = space.jacobian @ space.consistent_inverse
        pull = (P if gains.law == 'motion' else P.T) @ pull
    push = pull - D @ w
    if gains.law == 'motion':
        F = inertia @ (S_M @ (moving.acceleration + push) - space.bias_acceleration)
        slowing = apart @ (D @ w) if chosen.any_force else 0.0
    else:
        F = inertia @ (S_M @ moving.acceleration - space.bias_acceleration)
        F = F + (inertia @ (S_M @ np.linalg.solve(apart, S_M @ push)) if chosen.any_force
                 else push)
        slowing = D @ w
    return F + S_F @ (reference.wrench - slowing) if chosen.any_force else F


def within_speed(space, inverse, reference, w, fastest):
    r"""Return the OperationalSpace, damped so early that J-bar w is within joint speeds.

    J-bar moves joints with at most  |w| STEEPEST / e  in the norms of kinetic energy; how much of a
    joint's speed that is, v = J-bar w tells. So  e = STEEPEST |w| / |v| max(|v_k| / fastest_k),  or
    DAMPED_BELOW if that is more. `bias` and `gravity` stay as they were: nobody asks for them.

    :param inverse: M^-1; reference: inertia of the six rows; w: twist; fastest: (nv,).
    """
    v = space.consistent_inverse @ w
    hurry, energy = np.max(np.abs(v) / fastest), v @ space.jacobian.T @ space.inertia @ w
    if hurry == 0.0 or energy <= 0.0:
        return space
    below = STEEPEST * np.sqrt(reference @ (w * w) / energy) * hurry
    if below <= DAMPED_BELOW:
        return space
    found = consistent(space.jacobian, inverse, reference, below)
    return space._replace(**found._asdict())


def _apart(inertia, chosen):
    """Return the inertia with nothing coupled between axes of motion and of force.

    (S_M Lambda S_M)^+ = S_M apart^-1 S_M.
    """
    if not chosen.any_force:
        return inertia
    return chosen.motion @ inertia @ chosen.motion + chosen.force @ inertia @ chosen.force


def stiffness_and_damping(inertia, reference, gains):
    """Return K and D in world axes, (6, 6) each."""
    X = reference.selection.rotation
    along = gains.stiffness if reference.stiffness is None else reference.stiffness
    K = (X * along) @ X.T
    if reference.damping is not None:
        return K, (X * reference.damping) @ X.T
    if gains.law == 'motion':
        return K, (X * (2.0 * gains.damping_ratio * np.sqrt(along))) @ X.T
    return K, gains.damping_ratio * critical_damping(inertia, K)


def critical_damping(inertia, stiffness):
    r"""Return D for which no mode of  Lambda e'' + D e' + K e = 0  swings, each as fast as it can.

    The modes  K u = k Lambda u,  u' Lambda u = 1,  are unit masses on springs k, so with all of
    them in U,  D = 2 Lambda U diag(sqrt k) U' Lambda.
    """
    # LAPACK itself: NumPy has no generalised eigenproblem, and SciPy's door takes 40 us of checks
    k, U, failed = dsygvd(stiffness, inertia)
    if failed:
        raise DynamicsError('the frame has no inertia in some direction, hence no damping')
    modes = inertia @ U
    return (modes * (2.0 * np.sqrt(np.maximum(k, 0.0)))) @ modes.T
