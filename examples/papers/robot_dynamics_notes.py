"""Run through lecture notes on robot dynamics: from parametrisations to operational space.

    python examples/papers/robot_dynamics_notes.py [folder]

Hutter et al., Robot Dynamics Lecture Notes, ETH Zurich 2017; equation numbers are theirs. A 7-axis
arm, a planar arm and a small quadruped; every topic writes the equations of the notes in NumPy and
compares them with `Robot`. The exit code is 0 only if every bar is met.
"""

import sys

import numpy as np
from four_legs import LEGS, crouched, feet, quadruped
from planar_arm import arm_of_rods, joints_and_tip
from study import Bar, difference, panels, run

from dynamics_node import Constraint, FrameMotion, Robot, Target, Tracking
from dynamics_node.example_robots import ARM7
from dynamics_node.spatial.rate_maps import inverse_rate_map, rate_map
from dynamics_node.spatial.rotations import from_matrix, to_matrix

ROTATIONS = ('euler_zyx', 'euler_zyz', 'rotation_vector', 'angle_axis', 'quaternion')
TOOL, ELBOW = 'tool0', 'link_4'
POSE = np.array([0.2, 0.7, -0.3, -1.4, 0.4, 0.9, 0.0])      # of the arm [rad]
RATE, GAIN = 30.0, 10.0                                     # [Hz], [1/s]
FALL = 1.0                                                  # [m/s] of the quadruped
STIFFNESS = 100.0                                           # of the tip [1/s^2]
PUSH = 15.0                                                 # [N] of the tip on the wall
INTEGRATED = 1e-4                                           # relative, by steps of 10 ms


def main(argv=None):
    """Run the study; return the exit code."""
    return run(__doc__, [parametrisations, prioritised_inverse_kinematics, standing_and_hanging,
                         impact, operational_space], argv)


# Kinematics --------------------------------------------------------------------------------------

def parametrisations():
    """Compare E (2.86, 2.87) and J = E J_A (2.192); draw how fast parameters change (2.82)."""
    robot = Robot.from_urdf(ARM7, compile=False)
    R, J = robot.frame_pose(POSE, TOOL)[:3, :3], robot.jacobian(POSE, TOOL)
    bars = []
    for kind in ROTATIONS:
        chi = from_matrix(kind, R)
        found = rate_map(kind, chi) @ robot.analytic_jacobian(POSE, TOOL, kind)[3:]
        bars += [difference(f'{kind}: there and back', to_matrix(kind, chi), R),
                 difference(f'{kind}: E J_A and J (2.192)', found, J[3:])]
    z, y, x = from_matrix('euler_zyx', R)
    bars.append(difference('euler_zyx: inverse of E (2.87)', euler_zyx_inverse(z, y),
                           inverse_rate_map('euler_zyx', (z, y, x)).matrix))

    figure, (left, right) = panels('Robot dynamics notes: greatest rates of parameters at 1 rad/s',
                                   2, sharey=True)
    tilts = np.deg2rad(np.linspace(-179.5, 179.5, 360))
    for axes, axis in ((left, 1), (right, 2)):
        turns = np.zeros((len(tilts), 3))
        turns[:, axis] = tilts
        rotations = to_matrix('rotation_vector', turns) @ to_matrix('euler_zyx', (0.2, 0.1, 0.3))
        for kind in ROTATIONS:
            clearance = inverse_rate_map(kind, from_matrix(kind, rotations)).clearance
            axes.plot(np.rad2deg(tilts), 1.0 / clearance, label=kind, linewidth=1.2)
        axes.set(xlabel=f'rotated about {"xyz"[axis]} [degrees]', xticks=range(-180, 181, 90))
    left.set(ylabel='rate [1/s]', ylim=(0.0, None))
    figure.legend(*left.get_legend_handles_labels(), frameon=False, loc='outside right upper')
    return bars, figure


def euler_zyx_inverse(z, y):
    """Return the inverse of E of eq. 2.86, as in eq. 2.87."""
    return np.array([[np.cos(z) * np.tan(y), np.sin(z) * np.tan(y), 1.0],
                     [-np.sin(z), np.cos(z), 0.0],
                     [np.cos(z) / np.cos(y), np.sin(z) / np.cos(y), 0.0]])


def prioritised_inverse_kinematics():
    """Move the tool on a circle, not turned; the elbow should rest, with and without priority."""
    robot = Robot.from_urdf(ARM7, compile=False)
    tool, elbow = (robot.jacobian(POSE, frame)[:3] for frame in (TOOL, ELBOW))
    w_tool, w_elbow = np.array([0.1, -0.2, 0.3]), np.array([-0.1, 0.1, 0.0])
    tasks = FrameMotion(TOOL, w_tool), FrameMotion(ELBOW, w_elbow)
    damping = 0.05
    bars = [difference('strict priority and (2.206)', robot.joint_velocities(
                POSE, [[tasks[0]], [tasks[1]]]), two_priorities(tool, w_tool, elbow, w_elbow)),
            difference('equal priority and (2.201)', robot.joint_velocities(POSE, [*tasks]),
                       np.linalg.pinv(np.vstack([tool, elbow])) @ [*w_tool, *w_elbow]),
            difference('damped and (2.195)', robot.joint_velocities(
                POSE, tasks[0], damping=damping), tool.T @ np.linalg.solve(
                tool @ tool.T + damping ** 2 * np.eye(3), w_tool))]
    t = np.arange(0.0, 2.0, 1.0 / RATE)
    strict, equal = (circle(robot, t, levels) for levels in (True, False))
    bars += [Bar('tool error, strict priority', 1e3 * strict[0].max(), 0.5, 'mm'),
             Bar('tool error, strict over equal', strict[0].max() / equal[0].max(), 0.05, '')]

    figure, (left, right) = panels('Robot dynamics notes: two tasks of an arm of seven axes', 2,
                                   sharey=True)
    for axes, errors, title in ((left, strict, 'tool before elbow'),
                                (right, equal, 'equal priority')):
        axes.plot(t, 1e3 * errors[0], label='tool')
        axes.plot(t, 1e3 * errors[1], '--', label='elbow')
        axes.set(xlabel='time [s]', title=title)
        axes.legend(frameon=False)
    left.set_ylabel('position error [mm]')
    return bars, figure


def two_priorities(J1, w1, J2, w2):
    """Return the joint velocity of eq. 2.206."""
    inverse = np.linalg.pinv(J1)
    N1 = np.eye(J1.shape[1]) - inverse @ J1
    return inverse @ w1 + N1 @ np.linalg.pinv(J2 @ N1) @ (w2 - J2 @ inverse @ w1)


def circle(robot, t, strict):
    """Return the position errors of tool and elbow over time, (2, T) [m]."""
    q = POSE
    center, rest = (robot.frame_pose(q, frame)[:3, 3] for frame in (TOOL, ELBOW))
    radius, speed, errors = 0.08, 2.0 * np.pi / t[-1], []
    orientation = from_matrix('quaternion', robot.frame_pose(q, TOOL)[:3, :3])
    for k, now in enumerate(t):
        angle = speed * now
        wanted = center + radius * np.array([0.0, np.sin(angle), np.cos(angle) - 1.0])
        errors.append([np.linalg.norm(robot.frame_pose(q, frame)[:3, 3] - place)
                       for frame, place in ((TOOL, wanted), (ELBOW, rest))])
        if k + 1 < len(t):
            # the mean velocity until the next step, so that the steps add up to the circle
            ahead = angle + speed / RATE / 2
            velocity = radius * speed * np.array([0.0, np.cos(ahead), -np.sin(ahead)])
            tool = Tracking(Target(TOOL, wanted, orientation), velocity, position_gain=GAIN,
                            rotation_gain=GAIN)
            elbow = Tracking(Target(ELBOW, rest), position_gain=GAIN)
            levels = [[tool], [elbow]] if strict else [tool, elbow]
            q = robot.integrate(q, robot.joint_velocities(q, levels), 1.0 / RATE)
    return np.array(errors).T


# Floating base -----------------------------------------------------------------------------------

def standing_and_hanging():
    """Compare contact forces and torques at rest with (3.61), (3.64) and the ranks of 2.10.5."""
    robot = quadruped()
    q, rest = crouched(robot), np.zeros(robot.nv)
    crane = [Constraint('crane', 'flat_contact', 'trunk')]
    weight = robot.total_mass * 9.81
    M, h = robot.mass_matrix(q), robot.bias_torque(q, rest)
    bars, found = [], {}
    for name, contacts, vertical in (('standing', feet(*LEGS), slice(2, None, 3)),
                                     ('hanging', crane, slice(2, 3))):
        held = robot.floating_base_torques(q, rest, rest, contacts)
        found[name] = held
        A = robot.constraint_rows(q, rest, contacts).A
        N = support_null_space(M, A)
        forces = robot.contact_forces(q, rest, held.tau, contacts).force
        bars += [difference(f"{name}: N' tau and N' h (3.64)", N.T @ held.tau, N.T @ h),
                 difference(f'{name}: forces and (3.61)', forces,
                            -contact_force(M, A, held.tau - h)),
                 difference(f'{name}: sum of forces and weight', held.force[vertical].sum(),
                            weight)]
    for legs, ranks in ((('FL', 'HR'), (6, 5)), (('FL', 'FR', 'HL'), (9, 6))):
        A = robot.constraint_rows(q, rest, feet(*legs)).A
        off = np.subtract([np.linalg.matrix_rank(A), np.linalg.matrix_rank(A[:, :6])], ranks)
        bars.append(Bar(f'ranks of {len(legs)} feet, not {ranks[0]} and {ranks[1]}',
                        int(np.abs(off).sum()), 0, '', 'section 2.10.5'))

    figure, (left, middle, right) = panels('Robot dynamics notes: a quadruped stands, and hangs',
                                           3)
    for axes, name in ((left, 'standing'), (middle, 'hanging')):
        draw(axes, robot, q)
        axes.set(title=name, xlim=(-0.45, 0.45), ylim=(-0.1, 0.75))
    for leg, force in zip(LEGS, found['standing'].force.reshape(4, 3)):
        arrow(left, robot.frame_pose(q, f'{leg}_foot')[:3, 3], force, weight)
    arrow(middle, q[:3], found['hanging'].force[:3], weight)
    names = ('hip roll', 'hip pitch', 'knee')
    for shift, name in ((-0.2, 'standing'), (0.2, 'hanging')):
        right.bar(np.arange(3) + shift, found[name].tau[6:9], 0.4, label=name)
    right.set(ylabel='torque of leg FL [N m]')
    right.set_xticks(range(3), names)
    right.axhline(0.0, color='k', linewidth=0.6)
    right.legend(frameon=False)
    return bars, figure


def impact():
    """Compare the velocity after a fall on some feet with (3.69), its loss with (3.71)."""
    robot = quadruped()
    q = crouched(robot)
    before = np.zeros(robot.nv)
    before[2] = -FALL
    M, energy = robot.mass_matrix(q), robot.kinetic_energy(q, before)
    bars, lost, after = [], [], {}
    for number in (1, 2, 3, 4):
        contacts = feet(*('FL', 'HR', 'FR', 'HL')[:number])
        A = robot.constraint_rows(q, before, contacts).A
        hit = robot.impact(q, before, contacts)
        speed = A @ before
        bars += [difference(f'feet: {number}; N u and Robot.impact (3.69)', hit.v,
                            support_null_space(M, A) @ before),
                 difference(f'feet: {number}; energy loss (3.71)', hit.energy_loss,
                            speed @ np.linalg.solve(A @ np.linalg.solve(M, A.T), speed) / 2)]
        lost.append(100.0 * hit.energy_loss / energy)
        after[number] = hit.v
    figure, (left, right) = panels('Robot dynamics notes: a quadruped falls on its feet', 2)
    left.bar(range(1, 5), lost, 0.6)
    left.set(xlabel='feet that hit the ground', ylabel='kinetic energy lost [%]',
             xticks=range(1, 5))
    for shift, number, name in ((-0.2, 1, 'foot FL alone'), (0.2, 4, 'all feet')):
        right.bar(np.arange(12) + shift, after[number][6:], 0.4, label=name)
    right.set_xticks(range(12), [f'{leg} {joint}' for leg in LEGS for joint in 'rpk'],
                     rotation=90, fontsize=7)
    right.set(ylabel='joint velocity after it [rad/s]', ylim=(None, 6.0))
    right.legend(frameon=False)
    return bars, figure


def support_null_space(M, A):
    """Return N_c of eq. 3.62, (nv, nv)."""
    inverse = np.linalg.inv(M)
    return np.eye(len(M)) - inverse @ A.T @ np.linalg.solve(A @ inverse @ A.T, A)


def contact_force(M, A, drive):
    """Return F_c of eq. 3.61 at rest: the force of the robot on its environment."""
    inverse = np.linalg.inv(M)
    return np.linalg.solve(A @ inverse @ A.T, A @ inverse @ drive)


def draw(axes, robot, q):
    """Draw the quadruped from the side."""
    trunk = q[[0, 2]]
    axes.plot(*(trunk[:, None] + [[-0.25, 0.25], [0.0, 0.0]]), color='C0', linewidth=8,
              solid_capstyle='round')
    for leg in LEGS:
        points = [robot.frame_pose(q, f'{leg}_{part}')[[0, 2], 3]
                  for part in ('thigh', 'shank', 'foot')]
        axes.plot(*np.transpose(points), 'o-', color='C0', linewidth=3, markersize=4)
    axes.set(aspect='equal', xlabel='x [m]', ylabel='z [m]')


def arrow(axes, point, force, unit):
    """Draw a force from the side, in units of a third of a metre."""
    axes.annotate('', point[[0, 2]] + force[[0, 2]] / unit / 3, point[[0, 2]],
                  arrowprops={'arrowstyle': '->', 'color': 'C3', 'linewidth': 2})


# Operational space -------------------------------------------------------------------------------

def operational_space():
    """Control the tip of a planar arm by (3.89), and press on a wall by (3.96)."""
    arm = arm_of_rods((0.5, 0.4, 0.3), (3.0, 2.0, 1.0))
    start, goal = np.array([0.4, 0.9, -0.6]), np.array([0.35, 0.7])
    t = np.linspace(0.0, 0.5, 26)

    def torque(_, q, v):
        """Return J' F of eq. 3.89 and 3.90, critically damped; the posture is damped beside it."""
        tip = arm.operational_space(q, v, 'tip', axes=('x', 'y'))
        error, rate = goal - arm.frame_pose(q, 'tip')[:2, 3], tip.jacobian @ v
        wanted = STIFFNESS * error - 2.0 * np.sqrt(STIFFNESS) * rate
        force = tip.inertia @ wanted + tip.bias + tip.gravity
        return tip.jacobian.T @ force + tip.null_space.T @ (arm.gravity_torque(q) - v)
    motion = arm.simulate(start, np.zeros(3), torque, t, step=0.01)
    path = arm.frame_pose(motion.q, 'tip')[:, :2, 3]
    w = np.sqrt(STIFFNESS)
    expected = goal + np.outer((1.0 + w * t) * np.exp(-w * t), path[0] - goal)
    pushed = pushing(arm, motion.q[20], motion.v[20])
    bars = [difference('path and a critically damped spring', path, expected, INTEGRATED),
            Bar('force on a wall and the wanted one (3.96)', abs(pushed / PUSH - 1.0), 1e-10, ''),
            *terms_of_the_tip(arm, motion.q[5], motion.v[5])]

    figure, (left, right) = panels('Robot dynamics notes: the tip of an arm on a straight line', 2)
    for k in range(0, len(t), 4):
        left.plot(*joints_and_tip(arm, motion.q[k]).T, color='C0', alpha=0.2 + 0.8 * k / len(t))
    left.plot(*path.T, color='C1')
    left.plot(*goal, 'k+')
    left.set(aspect='equal', xlabel='x [m]', ylabel='y [m]')
    right.plot(t, 1e3 * (path - goal), label=['x', 'y'])
    right.plot(t, 1e3 * (expected - goal), 'k:', label=['(1 + w t) exp(-w t)', None])
    right.set(xlabel='time [s]', ylabel='error [mm]')
    right.legend(frameon=False)
    return bars, figure


def terms_of_the_tip(arm, q, v):
    """Return Bars of Lambda, mu and p, eq. 3.86 to 3.88."""
    tip = arm.operational_space(q, v, 'tip', axes=('x', 'y'))
    J, rate = arm.jacobian(q, 'tip')[:2], arm.jacobian_rate(q, v, 'tip')[:2]
    inverse, g = np.linalg.inv(arm.mass_matrix(q)), arm.gravity_torque(q)
    inertia = np.linalg.inv(J @ inverse @ J.T)
    b = arm.bias_torque(q, v) - g
    return [difference('Lambda (3.86)', tip.inertia, inertia),
            difference('mu (3.87)', tip.bias, inertia @ (J @ inverse @ b - rate @ v)),
            difference('p (3.88)', tip.gravity, inertia @ J @ inverse @ g)]


def pushing(arm, q, v):
    """Return the force on a wall across x [N], under the torques of eq. 3.96: move along y."""
    wall = [Constraint('wall', 'point_on_plane', 'tip', axis=(1.0, 0.0, 0.0),
                       distance=arm.frame_pose(q, 'tip')[0, 3])]
    v = arm.project_velocity(q, v, wall)
    tip = arm.operational_space(q, v, 'tip', axes=('x', 'y'))
    force = tip.inertia @ [0.0, 2.0] + [PUSH, 0.0] + tip.bias + tip.gravity
    motion = arm.constrained_forward_dynamics(q, v, tip.jacobian.T @ force, wall)
    return -motion.multipliers[0]


if __name__ == '__main__':
    sys.exit(main())
