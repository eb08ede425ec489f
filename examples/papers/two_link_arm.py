"""Compute the arm of two links of Modern Robotics, chapter 8, in every way the chapter shows.

    python examples/papers/two_link_arm.py [folder]

Lynch and Park's 2R arm: massless links of one metre with point masses of one kilogram at their
ends, gravity along -y. Written out by Lagrange's equation it is the closed form that everything
else is compared with: the recursive Newton-Euler algorithm on screw axes and home poses, the
Christoffel symbols, and the mass that a force at the tip meets. The exit code is 0 only if every
bar is met.
"""

import sys

import numpy as np
from cycloid import cycloid
from planar_arm import G, joints_and_tip, planar_arm
from study import Bar, difference, panels, run

from dynamics_node import Robot, RobotLink, links_from_screws

L1, L2, M1, M2 = 1.0, 1.0, 1.0, 1.0    # [m], [kg]
SECONDS = 1.5
POSES = np.deg2rad([[0.0, 90.0], [0.0, 150.0]])   # of the chapter's figures 2 and 3


def main(argv=None):
    """Run the study; return the exit code."""
    return run(__doc__, [two_links_move, two_links_mass], argv)


# The topics --------------------------------------------------------------------------------------

def two_links_move():
    """Compare the torques along a motion, and show what each term contributes."""
    arm = planar_arm([L1, L2], [M1, M2], [L1, L2], [0.0, 0.0])
    t = np.linspace(0.0, SECONDS, 61)
    q, v, a = cycloid(t, np.array([-np.pi / 2, 0.3]), np.array([np.pi / 3, 2.0]))
    M, c, g = closed_form(q, v)
    tau = (M @ a[..., None])[..., 0] + c + g
    quadratic = np.einsum('tijk,tj,tk->ti', arm.christoffel_symbols(q), v, v)
    bars = [difference('Lagrange and Newton-Euler', arm.inverse_dynamics(q, v, a), tau),
            difference('Lagrange and screw axes', arm_of_screws().inverse_dynamics(q, v, a), tau),
            difference('M and Robot.mass_matrix', arm.mass_matrix(q), M),
            difference("v' Gamma v and its closed form", quadratic, c),
            difference('g and Robot.gravity_torque', arm.gravity_torque(q), g),
            difference("kinetic energy and v' M v / 2", arm.kinetic_energy(q, v),
                       np.einsum('ti,tij,tj->t', v, M, v) / 2),
            skew_bar(arm, q[25], v[25]),
            *single_body_bars(arm, q[25], v[25], a[25])]

    figure, axes = panels('Modern Robotics, chapter 8: the terms of the torque', 3)
    left, *terms = axes
    for k in range(0, len(t), 6):
        left.plot(*joints_and_tip(arm, q[k]).T, 'o-', color='C0', markersize=3,
                  alpha=0.25 + 0.75 * k / len(t))
    left.set(aspect='equal', xlabel='x [m]', ylabel='y [m]')
    for k, panel in enumerate(terms):
        panel.plot(t, (M @ a[..., None])[:, k, 0], label='M a')
        panel.plot(t, c[:, k], label='Coriolis and centripetal')
        panel.plot(t, g[:, k], label='gravity')
        panel.plot(t, tau[:, k], 'k', linewidth=2.0, label='sum')
        panel.set(title=f'joint {k + 1}', xlabel='time [s]', ylabel='torque [N m]')
    terms[1].legend(frameon=False, loc='upper right', fontsize=8)
    return bars, figure


def two_links_mass():
    """Draw the torques of unit accelerations, and the forces of unit accelerations of the tip."""
    arm = planar_arm([L1, L2], [M1, M2], [L1, L2], [0.0, 0.0])
    circle = np.array([np.cos(np.linspace(0, 2 * np.pi, 181)),
                       np.sin(np.linspace(0, 2 * np.pi, 181))])
    figure, (torques, *tips) = panels('Modern Robotics, chapter 8: the mass matrix as an ellipse',
                                      3)
    torques.plot(*circle, 'k:', label='accelerations of length 1')
    bars = []
    for q, panel, colour in zip(POSES, tips, ('C0', 'C1')):
        M = arm.mass_matrix(q)
        degrees = int(np.rad2deg(q[1]).round())
        torques.plot(*(M @ circle), color=colour, label=f'their torques at {degrees} degrees')
        found = arm.operational_space(q, np.zeros(2), 'tip', axes=('x', 'y'))
        inverse = np.linalg.inv(found.jacobian)
        bars.append(difference(f"tip's mass at {degrees} degrees", found.inertia,
                               inverse.T @ M @ inverse))
        panel.plot(*joints_and_tip(arm, q).T, 'o-', color='0.6', markersize=4)
        tip = arm.frame_pose(q, 'tip')[:2, 3]
        for points, style in ((circle, {'color': 'k', 'linestyle': ':'}),
                              (found.inertia @ circle, {'color': colour})):
            panel.plot(*(tip[:, None] + 0.25 * points), **style)
        panel.set(aspect='equal', xlabel='x [m]', ylabel='y [m]')
        panel.set_title(f'forces of tip accelerations, {degrees} degrees', fontsize=9)
    at_right_angle = arm.operational_space(POSES[0], np.zeros(2), 'tip', axes=('x', 'y')).inertia
    bars.append(difference('at 90 degrees and diag(1, 2) kg', at_right_angle, np.diag([1.0, 2.0])))
    torques.set(aspect='equal', xlabel='torque of joint 1 [N m]', ylabel='of joint 2 [N m]')
    torques.legend(frameon=False, loc='upper left', fontsize=8)
    torques.set_ylim(-2.5, 4.5)
    return bars, figure


# The closed form ---------------------------------------------------------------------------------

def closed_form(q, v):
    """Return M (T, 2, 2), Coriolis and centripetal torques, gravity torques (T, 2)."""
    q1, q2, (v1, v2) = q[:, 0], q[:, 1], v.T
    cos2, sin2 = np.cos(q2), np.sin(q2)
    m11 = M1 * L1 ** 2 + M2 * (L1 ** 2 + 2 * L1 * L2 * cos2 + L2 ** 2)
    m12 = M2 * (L1 * L2 * cos2 + L2 ** 2)
    M = np.array([[m11, m12], [m12, np.full_like(m12, M2 * L2 ** 2)]]).transpose(2, 0, 1)
    c = M2 * L1 * L2 * sin2 * np.array([-(2 * v1 * v2 + v2 ** 2), v1 ** 2])
    outer = M2 * G * L2 * np.cos(q1 + q2)
    g = np.array([(M1 + M2) * L1 * G * np.cos(q1) + outer, outer])
    return M, c.T, g.T


def arm_of_screws():
    """Return the arm by screw axes S_i and home poses M_i of frames in the centres of mass."""
    links = [RobotLink('l1', 'base', 'continuous', mass=M1),
             RobotLink('l2', 'l1', 'continuous', mass=M2)]
    home = np.tile(np.eye(4), (2, 1, 1))
    home[:, 0, 3] = L1, L1 + L2
    angular = [(0.0, 0.0, 1.0), (0.0, 0.0, 1.0)]
    linear = [(0.0, 0.0, 0.0), (0.0, -L1, 0.0)]     # -w x r, r a point on the axis
    return Robot.from_links([RobotLink('base'), *links_from_screws(links, home, angular, linear)],
                            'screws', gravity=(0.0, -G, 0.0), compile=False)


def skew_bar(arm, q, v):
    """Return the Bar of proposition 8.1: dM/dt - 2 C is skew; dM/dt by central differences."""
    step = 1e-5
    rate = (arm.mass_matrix(q + step * v) - arm.mass_matrix(q - step * v)) / (2.0 * step)
    twice = rate - 2.0 * arm.coriolis_matrix(q, v)
    return Bar('dM/dt - 2 C plus its transpose', float(np.abs(twice + twice.T).max()), 1e-8,
               'kg m', 'by differences')


def single_body_bars(arm, q, v, a):
    """Return Bars of the last link alone: its joint's wrench is what moves its mass."""
    wrench = arm.joint_reactions(q, v, a, local=False).wrenches[1]
    acceleration = arm.frame_acceleration(q, v, a, 'tip')[:3]
    force = M2 * (acceleration + np.array([0.0, G, 0.0]))
    arm_of_force = arm.frame_pose(q, 'tip')[:3, 3] - arm.frame_pose(q, 'l2')[:3, 3]
    return [difference('wrench on link 2 and Newton-Euler', wrench,
                       np.concatenate([force, np.cross(arm_of_force, force)]))]


if __name__ == '__main__':
    sys.exit(main())
