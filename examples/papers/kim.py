"""Drive a five-bar by one, two and three motors, and optimise a motion by derivatives (Kim 2012).

    python examples/papers/kim.py [folder]

Kim, Lie group formulation of articulated rigid body dynamics, version 2.01. Its example of
constrained dynamics is a planar five-bar: two motors have one solution (eq. 58), three have many,
of which one is chosen (eq. 59 to 66), one motor cannot prescribe the motion (section 3.3). Then the
derivatives of tables 5 to 7, beside differences, and what they are for: SciPy finds the motion of
least torque. The loop is cut at a pin: m = 2 rows and n = 4 joints, where the paper cuts a joint
and has 3 and 5. The exit code is 0 only if every bar is met.
"""

import sys

import numpy as np
from cycloid import cycloid
from planar_arm import arm_of_rods, joints_and_tip
from scipy.interpolate import BSpline
from scipy.linalg import null_space
from scipy.optimize import least_squares
from study import Bar, difference, panels, run

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7, MECHANISMS

SHOULDERS, ELBOWS = [0, 2], [1, 3]         # joints of the five-bar
START, END = np.array([0.5, 0.4]), np.array([-0.4, -0.5])   # of its shoulders [rad]
SECONDS = 0.4
STEPS = np.logspace(-1, -10, 19)           # of differences [rad]
BELOW = np.array([-np.pi / 2, 0.0, 0.0])   # the arm of the optimisation hangs,
ABOVE = np.array([0.5, 0.3, 0.3])          # and shall be here
KNOTS, DEGREE, FIXED = 5, 5, 3             # of the spline; FIXED points at each end: at rest


def main(argv=None):
    """Run the study; return the exit code."""
    return run(__doc__, [five_bar_with_motors, derivatives, least_torque], argv)


# Constrained dynamics ----------------------------------------------------------------------------

def five_bar_with_motors():
    """Compare torques of two and three motors with the paper, and the motion with one."""
    files = MECHANISMS['five_bar']
    robot = Robot.from_urdf(files.urdf, loops=files.loops, friction=False, compile=False)
    t = np.linspace(0.0, SECONDS, 17)
    q, v, a = five_bar_motion(robot, t)
    open_chain = robot.inverse_dynamics(q, v, a)     # tau_r of eq. 56
    rows = robot.constraint_rows(q, v)
    by_motors = {
        'two motors': robot.constrained_inverse_dynamics(q, v, a).tau,
        'three, least force': robot.constrained_inverse_dynamics(
            q, v, a, passive=['right_elbow'], choice='least_force').tau,
        'three, least torque': robot.constrained_inverse_dynamics(
            q, v, a, passive=['right_elbow'], choice='least_torque').tau}
    expected = np.array([[two_motors(*each), *three_motors(*each)]
                         for each in zip(open_chain, rows.A)])
    bars = [difference(f'{name} ({number})', tau, expected[:, k])
            for k, (number, (name, tau)) in enumerate(zip(('58', '59', '62'),
                                                          by_motors.items()))]
    norms = {name: np.linalg.norm(tau, axis=1) for name, tau in by_motors.items()}
    bars.append(Bar('least torque over two motors', float(
        (norms['three, least torque'] / norms['two motors']).max()), 1.0, ''))
    free = robot.constrained_hybrid_dynamics(q, v, a, np.zeros(4), [True, False, False, False])
    bars += [difference('one motor (74 to 80)', free.a, np.array([
                 one_motor(robot, *each) for each in zip(q, v, a)])),
             Bar('one motor: the loop stays closed (71)', np.abs(
                 (rows.A @ free.a[..., None])[..., 0] + rows.gamma).max(), 1e-9, 'm/s^2')]

    figure, (left, middle, right) = panels('Kim: a five-bar with one, two and three motors', 3)
    for k in range(0, len(t), 4):
        left.plot(*outline(robot, q[k]), 'o-', color='C0', markersize=3,
                  alpha=0.25 + 0.75 * k / len(t))
    left.set(aspect='equal', xlabel='x [m]', ylabel='z [m]')
    for name, norm in norms.items():
        middle.plot(t, norm, label=name)
    middle.set(xlabel='time [s]', ylabel='norm of the torques [N m]', ylim=(0.0, None))
    middle.legend(frameon=False, fontsize=8)
    right.plot(t, a[:, 2], label='two motors: as wanted')
    right.plot(t, free.a[:, 2], label='one motor, on the left')
    right.set(xlabel='time [s]', ylabel='acceleration of the right shoulder [rad/s^2]')
    right.legend(frameon=False, fontsize=8)
    return bars, figure


def five_bar_motion(robot, t):
    """Return (q, v, a) that keep the loop closed, from a cycloid of the shoulders."""
    q, found = robot.neutral(), []
    for place, u, du in zip(*cycloid(t, START, END)):
        q = q.copy()
        q[SHOULDERS] = place
        q = robot.project_configuration(q, fixed=['left_shoulder', 'right_shoulder'])
        given = np.zeros(4)
        given[SHOULDERS] = u
        closed = robot.closed_dynamics(q, given)
        found.append((q, closed.transmission @ u,
                      closed.transmission @ du + closed.transmission_rate @ u))
    return (np.array(part) for part in zip(*found))


def two_motors(tau_r, A):
    """Return tau of eq. 58, without torques in the passive joints."""
    tau = np.zeros(4)
    force = np.linalg.solve(A[:, ELBOWS].T, tau_r[ELBOWS])
    tau[SHOULDERS] = tau_r[SHOULDERS] - A[:, SHOULDERS].T @ force
    return tau


def three_motors(tau_r, A):
    """Return tau of least constraint force (59) and of least torque (62) to (64)."""
    active, passive = [0, 1, 2], [3]
    force = np.linalg.pinv(A[:, passive].T) @ tau_r[passive]
    tau = tau_r[active] - A[:, active].T @ force
    away = A[:, active].T @ null_space(A[:, passive].T)
    least = tau - away @ np.linalg.pinv(away) @ tau
    return np.array([*tau, 0.0]), np.array([*least, 0.0])


def one_motor(robot, q, v, a):
    """Return the acceleration of eq. 76 to 80; that of the left shoulder is given."""
    M, b = robot.mass_matrix(q), robot.bias_torque(q, v)
    rows = robot.constraint_rows(q, v)
    A_v, inverse = rows.A[:, 1:], np.linalg.inv(M[1:, 1:])
    open_chain = np.array([a[0], *(inverse @ (-b[1:] - M[1:, 0] * a[0]))])            # (77)
    force = -np.linalg.solve(A_v @ inverse @ A_v.T, rows.A @ open_chain + rows.gamma)  # (76)
    return open_chain + np.array([0.0, *(inverse @ A_v.T @ force)])                   # (80)


def outline(robot, q):
    """Return the points of the five-bar from shoulder to shoulder, seen from the front (2, 5)."""
    places = [robot.frame_pose(q, frame)[[0, 2], 3]
              for frame in ('left_upper', 'left_fore', 'tool', 'right_fore', 'right_upper')]
    return np.transpose(places)


# Derivatives -------------------------------------------------------------------------------------

def derivatives():
    """Compare tables 5 to 7 with central differences of all step lengths."""
    robot = Robot.from_urdf(ARM7, friction=False, compile=False)
    rng = np.random.default_rng(1)
    q, v, a, tau = robot.random_configuration(rng), *rng.normal(size=(3, 7))
    given = np.array([True, False] * 3 + [True])
    dq, dv, da, dtau = rng.normal(size=(4, 7))
    tables = {
        'inverse (table 5)': (
            lambda h: robot.inverse_dynamics(q + h * dq, v + h * dv, a + h * da),
            robot.inverse_dynamics_directional_derivative(q, v, a, dq, dv, da)),
        'forward (table 6)': (
            lambda h: robot.forward_dynamics(q + h * dq, v + h * dv, tau + h * dtau),
            robot.forward_dynamics_directional_derivative(q, v, tau, dq, dv, dtau)),
        'hybrid (table 7)': (
            lambda h: np.concatenate(robot.hybrid_dynamics(
                q + h * dq, v + h * dv, a + h * da, tau + h * dtau, given)),
            np.concatenate(robot.hybrid_dynamics_directional_derivative(
                q, v, a, tau, given, dq, dv, da, dtau)))}
    figure, (axes,) = panels('Kim: tables 5 to 7 beside central differences', 1, size=(7.0, 4.2))
    bars = []
    for name, (dynamics, exact) in tables.items():
        errors = [np.abs((dynamics(h) - dynamics(-h)) / (2.0 * h) - exact).max()
                  / np.abs(exact).max() for h in STEPS]
        bars.append(Bar(f'{name} and the best difference', min(errors), 1e-8, ''))
        axes.loglog(STEPS, errors, 'o-', markersize=3, label=name)
    matrices = robot.inverse_dynamics_derivatives(q, v, a)
    bars.append(difference('table 5 and the matrices of all joints',
                           matrices.dq @ dq + matrices.dv @ dv + matrices.da @ da,
                           tables['inverse (table 5)'][1]))
    axes.set(xlabel='step of the difference', ylabel='relative difference')
    axes.legend(frameon=False)
    return bars, figure


# Least torque ------------------------------------------------------------------------------------

def least_torque():
    """Lift a payload of 2 kg in one second with the least sum of squared torques."""
    arm = arm_of_rods((0.5, 0.4, 0.3), (3.0, 2.0, 1.0), payload=2.0)
    t = np.linspace(0.0, 1.0, 17)
    basis = spline_basis(t)
    least_jerk = 10.0 * t ** 3 - 15.0 * t ** 4 + 6.0 * t ** 5   # a quintic is such a spline
    shares = np.linalg.lstsq(basis[0], least_jerk, rcond=None)[0]
    points = BELOW + np.outer(shares, ABOVE - BELOW)

    def motion(free):
        c = points.copy()
        c[FIXED:-FIXED] = free.reshape(-1, 3)
        return [B @ c for B in basis]

    def torques(free):
        return arm.inverse_dynamics(*motion(free)).ravel()

    def slopes(free):
        """Return the derivatives of all torques by the free points, (T n, free points n)."""
        parts = arm.inverse_dynamics_derivatives(*motion(free))
        # the chain rule: tau depends on q = B c, v = B' c and a = B'' c
        whole = sum(np.einsum('tp,tij->tipj', B[:, FIXED:-FIXED], part)
                    for B, part in zip(basis, parts))
        return whole.reshape(3 * len(t), -1)
    start = points[FIXED:-FIXED].ravel()
    found = least_squares(torques, start, slopes, method='lm')
    direction, h = np.random.default_rng(0).normal(size=len(start)), 1e-5
    difference_of = (torques(start + h * direction) - torques(start - h * direction)) / (2.0 * h)
    before = torques(start)
    gradients = [np.linalg.norm(slopes(x).T @ torques(x)) for x in (found.x, start)]
    bars = [difference('derivatives and differences', slopes(start) @ direction, difference_of,
                       1e-8),
            Bar('squared torques over those of least jerk', 2.0 * found.cost / (before @ before),
                0.75, ''),
            Bar('gradient at the end, over the start', gradients[0] / gradients[1], 1e-4, '')]

    figure, (left, middle, right) = panels('Kim: a payload lifted with the least torque', 3)
    for axes, free, title in ((left, start, 'least jerk of the joints'),
                              (middle, found.x, 'least torque')):
        q = motion(free)[0]
        for k in range(0, len(t), 2):
            axes.plot(*joints_and_tip(arm, q[k]).T, color='C0', alpha=0.25 + 0.75 * k / len(t))
        axes.set(aspect='equal', xlabel='x [m]', ylabel='y [m]')
        axes.set_title(title, fontsize=9)
        right.plot(t, np.linalg.norm(torques(free).reshape(-1, 3), axis=1), label=title)
    right.set(xlabel='time [s]', ylabel='norm of the torques [N m]', ylim=(0.0, None))
    right.legend(frameon=False, fontsize=8)
    return bars, figure


def spline_basis(t):
    """Return the values, first and second derivatives (T, points) of a clamped B-spline's basis."""
    inside = np.linspace(t[0], t[-1], KNOTS)[1:-1]
    knots = np.concatenate([np.full(DEGREE + 1, t[0]), inside, np.full(DEGREE + 1, t[-1])])
    spline = BSpline(knots, np.eye(len(knots) - DEGREE - 1), DEGREE)
    return [spline(t, derivative) for derivative in (0, 1, 2)]


if __name__ == '__main__':
    sys.exit(main())
