"""Compute two arms by decoupled natural orthogonal complements (Saha 1999).

    python examples/papers/three_link_and_stanford_by_denoc.py [folder]

The arms are the two of the paper: a planar arm of three links, and the Stanford arm. Dimensions
and masses are ours, of the usual size. `Robot.denoc` returns I, C and tau of

    I a + C v = tau                                                                  (eq. 20)

where tau is the generalised force of gravity and, added by the caller, of the motors. Beside it
the matrices of the paper are built from its equations: B_ij and p_j, N_l and N_d, the composite
inertias. The exit code is 0 only if every bar is met.
"""

import sys

import numpy as np
from cycloid import cycloid
from planar_arm import G, arm_of_rods, joints_and_tip
from scipy.integrate import solve_ivp
from study import Bar, difference, panels, run

from dynamics_node import Robot, RobotLink, links_from_dh

LENGTHS, MASSES = np.array([0.5, 0.4, 0.3]), np.array([3.0, 2.0, 1.0])     # [m], [kg]
SECONDS = 2.0
TOLERANCE = 1e-6     # of adaptive steps [rad, rad/s]
INTEGRATED = 1e-5    # relative: two integrators of that tolerance
# The Stanford arm: type of joint; a, alpha, d, theta; mass; centre of mass; box around it [m].
STANFORD = [
    ('revolute', (0.0, -np.pi / 2, 0.412, 0.0), 9.0, (0.0, 0.1, 0.0), (0.15, 0.35, 0.15)),
    ('revolute', (0.0, np.pi / 2, 0.154, 0.0), 6.0, (0.0, -0.05, 0.02), (0.15, 0.2, 0.15)),
    ('prismatic', (0.0, 0.0, 0.4, -np.pi / 2), 4.0, (0.0, 0.0, -0.3), (0.06, 0.06, 0.8)),
    ('revolute', (0.0, -np.pi / 2, 0.0, 0.0), 1.0, (0.0, 0.0, 0.01), (0.08, 0.08, 0.1)),
    ('revolute', (0.0, np.pi / 2, 0.0, 0.0), 0.6, (0.0, 0.02, 0.0), (0.08, 0.08, 0.08)),
    ('revolute', (0.0, 0.0, 0.263, 0.0), 0.5, (0.0, 0.0, -0.1), (0.08, 0.08, 0.2))]
START, END = np.zeros(6), np.array([1.2, 0.8, 0.25, -1.0, 0.9, 1.5])


def main(argv=None):
    """Run the study; return the exit code."""
    return run(__doc__, [three_links_move, three_links_fall, stanford_arm_moves], argv)


# The three topics --------------------------------------------------------------------------------

def three_links_move():
    """Compare the torques of a cycloidal motion with Lagrange and Newton-Euler."""
    arm = arm_of_rods(LENGTHS, MASSES)
    t = np.linspace(0.0, SECONDS, 41)
    q, v, a = cycloid(t, np.array([-np.pi / 2, 0.0, 0.0]), np.array([np.pi / 4, 1.0, -0.8]))
    inertia, coriolis, gravity = arm.denoc(q, v)
    tau = torque(inertia, coriolis, gravity, v, a)
    bars = [difference('torque: DeNOC and Lagrange', tau, by_lagrange(q, v, a)),
            difference('torque: DeNOC and Newton-Euler', tau, arm.inverse_dynamics(q, v, a)),
            *matrices_of_the_paper(arm, q[20], inertia[20]),
            skew_bar(arm, q[20], v[20], coriolis[20])]

    figure, (left, right) = panels('Saha: a planar arm of three links is moved', 2)
    for k in range(0, len(t), 4):
        left.plot(*joints_and_tip(arm, q[k]).T, color='C0', alpha=0.25 + 0.75 * k / len(t))
    left.plot(*np.array([joints_and_tip(arm, each)[-1] for each in q]).T, color='C1',
              linewidth=0.8)
    left.set(aspect='equal', xlabel='x [m]', ylabel='y [m]')
    for k in range(3):
        right.plot(t, tau[:, k], label=f'joint {k + 1}, DeNOC')
    right.plot(t, by_lagrange(q, v, a), 'k:', linewidth=1.0, label=['Lagrange', None, None])
    right.set(xlabel='time [s]', ylabel='torque [N m]')
    right.legend(frameon=False)
    return bars, figure


def three_links_fall():
    """Compare the motion without motors, integrated from I and C, with `Robot.simulate`."""
    arm = arm_of_rods(LENGTHS, MASSES)
    t, start = np.linspace(0.0, 0.5, 26), np.array([0.3, -0.5, 0.8])

    def rates(_, state):
        q, v = np.split(state, 2)
        inertia, coriolis, gravity = arm.denoc(q, v)
        return np.concatenate([v, np.linalg.solve(inertia, gravity - coriolis @ v)])
    found = solve_ivp(rates, (0.0, t[-1]), np.concatenate([start, np.zeros(3)]), 'DOP853',
                      t_eval=t, rtol=TOLERANCE, atol=TOLERANCE)
    q, v = np.split(found.y.T, 2, axis=1)
    simulated = arm.simulate(start, np.zeros(3), np.zeros(3), t, method='dop853',
                             tolerance=TOLERANCE)
    kinetic, potential = arm.kinetic_energy(q, v), arm.potential_energy(q)
    drift = np.abs(kinetic + potential - potential[0]).max()
    bars = [difference('angles: DeNOC and Robot.simulate', q, simulated.q, INTEGRATED),
            Bar('change of the energy', drift / kinetic.max(), INTEGRATED, '', 'of the kinetic')]

    figure, (left, right) = panels('Saha: the same arm falls', 2)
    left.plot(t, q, label=[f'joint {k + 1}' for k in range(3)])
    left.set(xlabel='time [s]', ylabel='angle [rad]')
    right.plot(t, kinetic, label='kinetic')
    right.plot(t, potential, label='potential')
    right.plot(t, kinetic + potential, 'k:', label='sum')
    right.set(xlabel='time [s]', ylabel='energy [J]')
    for axes in (left, right):
        axes.legend(frameon=False)
    return bars, figure


def stanford_arm_moves():
    """Compare the torques with Newton-Euler, and C with that of the Christoffel symbols."""
    arm = stanford_arm()
    t = np.linspace(0.0, SECONDS, 41)
    q, v, a = cycloid(t, START, END)
    inertia, coriolis, gravity = arm.denoc(q, v)
    tau = torque(inertia, coriolis, gravity, v, a)
    christoffel = arm.coriolis_matrix(q, v)
    between = coriolis[20] - christoffel[20]
    bars = [difference('torque: DeNOC and Newton-Euler', tau, arm.inverse_dynamics(q, v, a)),
            difference('C v: DeNOC and Christoffel', (coriolis @ v[..., None])[..., 0],
                       (christoffel @ v[..., None])[..., 0]),
            *matrices_of_the_paper(arm, q[20], inertia[20]),
            skew_bar(arm, q[20], v[20], coriolis[20])]

    figure, (left, middle, right) = panels('Saha: the Stanford arm', 3)
    left.plot(t, tau[:, :3], label=['joint 1 [N m]', 'joint 2 [N m]', 'joint 3 [N]'])
    middle.plot(t, tau[:, 3:], label=[f'joint {k} [N m]' for k in (4, 5, 6)])
    for axes in (left, middle):
        axes.set(xlabel='time [s]', ylabel='torque or force')
        axes.legend(frameon=False)
    limit = np.abs(between).max()
    image = right.imshow(between, cmap='RdBu', vmin=-limit, vmax=limit)
    right.set(xticks=range(6), yticks=range(6), xticklabels=range(1, 7), yticklabels=range(1, 7))
    right.set_title('C of DeNOC - C of Christoffel, t = 1 s', fontsize=9)
    figure.colorbar(image, ax=right, shrink=0.8)
    return bars, figure


# The equations of the paper ----------------------------------------------------------------------

def torque(inertia, coriolis, gravity, v, a):
    """Return the torques of the motors, (T, n): eq. 20, with gravity moved to the left side."""
    return (inertia @ a[..., None] + coriolis @ v[..., None])[..., 0] - gravity


def matrices_of_the_paper(arm, q, inertia):
    """Return Bars of I built from B_ij, p_j and the composite inertias, in one configuration."""
    com, M, twists = links_at_their_centers(arm, q)
    n = len(M)
    p = [twists[6 * i:6 * i + 6, i] for i in range(n)]                               # (13), (15)
    B = [[propagation(com[i], com[j]) for j in range(n)] for i in range(n)]          # (13)
    N_l = np.block([[B[i][j] if j <= i else np.zeros((6, 6)) for j in range(n)]
                    for i in range(n)])                                              # (17)
    N_d = np.zeros((6 * n, n))
    for i in range(n):
        N_d[6 * i:6 * i + 6, i] = p[i]                                               # (17)
    composite = [None] * n
    for i in reversed(range(n)):                                                     # (23b)
        composite[i] = M[i] if i == n - 1 else (
            M[i] + B[i + 1][i].T @ composite[i + 1] @ B[i + 1][i])
    I = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            I[i, j] = I[j, i] = p[i] @ composite[i] @ B[i][j] @ p[j]                 # (24)
    whole = sum(twists[6 * i:6 * i + 6].T @ M[i] @ twists[6 * i:6 * i + 6] for i in range(n))
    return [difference('N_l N_d and the Jacobians (16)', N_l @ N_d, twists),
            difference("N' M N and Robot.denoc (20)", whole, inertia),
            difference('composite inertias and Robot.denoc (24)', I, inertia)]


def links_at_their_centers(arm, q):
    """Return centres of mass (n, 3), M_i of eq. 2 and N by Jacobians (6 n, n); world axes."""
    com, M, twists = [], [], []
    for body, pose in zip(arm.model.bodies, arm.body_poses(q)):
        R, inertia = pose[:3, :3], body.inertia
        com.append(pose[:3, 3] + R @ inertia.com)
        block = np.zeros((6, 6))
        block[:3, :3] = R @ inertia.tensor_about_com() @ R.T
        block[3:, 3:] = inertia.mass * np.eye(3)
        M.append(block)
        linear, angular = np.split(arm.point_jacobian(q, body.name, inertia.com), 2)
        twists += [angular, linear]
    return np.array(com), M, np.concatenate(twists)


def propagation(to, of):
    """Return B of eq. 13, (6, 6): it takes the twist of a body at `of` to its point `to`."""
    x, y, z = of - to
    B = np.eye(6)
    B[3:, :3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    return B


def skew_bar(arm, q, v, coriolis):
    """Return the Bar of dI/dt - 2 C, which is skew."""
    rate = np.tensordot(v, arm.mass_matrix_derivatives(q), 1)
    twice = rate - 2.0 * coriolis
    return difference('dI/dt - 2 C and minus its transpose', twice, -twice.T)


def by_lagrange(q, v, a):
    """Return the torques (T, 3) of the planar arm, in absolute angles t = q_1 + .. + q_i:

    sum_j A_ij (cos(t_i - t_j) t_j'' + sin(t_i - t_j) t_j'^2) + I_i t_i'' + g b_i cos t_i.
    """
    lever = np.tril(np.tile(LENGTHS, (3, 1)), -1) + np.diag(LENGTHS / 2)  # of mass k by angle i
    A = lever.T @ np.diag(MASSES) @ lever
    angle, rate, acceleration = (np.cumsum(x, axis=1) for x in (q, v, a))
    between = angle[:, :, None] - angle[:, None, :]
    force = (np.einsum('ij,tij,tj->ti', A, np.cos(between), acceleration)
             + np.einsum('ij,tij,tj->ti', A, np.sin(between), rate ** 2)
             + MASSES * LENGTHS ** 2 / 12 * acceleration + G * MASSES @ lever * np.cos(angle))
    return np.cumsum(force[:, ::-1], axis=1)[:, ::-1]   # a joint turns all links after it


def stanford_arm():
    """Return the Robot; every link is a box around its centre of mass."""
    links, parent = [], 'base'
    for k, (joint, _, mass, com, box) in enumerate(STANFORD, start=1):
        x, y, z = np.square(box)
        links.append(RobotLink(f's{k}', parent, joint, mass=mass, com=com,
                               inertia=mass / 12 * np.diag([y + z, x + z, x + y])))
        parent = f's{k}'
    rows = np.array([row for _, row, *_ in STANFORD]).T
    return Robot.from_links([RobotLink('base'), *links_from_dh(links, *rows)], 'stanford_arm',
                            compile=False)


if __name__ == '__main__':
    sys.exit(main())
