"""Solve problems 7 to 9 of Pan's lecture on the equations of dynamics: the constraint matrix.

    python examples/papers/constraint_matrix_problems.py [folder]

Every body is free, joints and motors are constraints C' a = c_a with forces C eta (Pan, Shanghai
Jiao Tong University):

    [ -I  C ] [ a   ]   [ f_p ]
    [ C'  0 ] [ eta ] = [ c_a ]

The lecture's arm (ground, two links, two hinges, two motors) is solved here by this system of 36
equations, and compared with `Robot`, which has no such system: inverse dynamics (problem 7),
forward dynamics (problem 8), M and h (problem 9). Then problem 9 for a four-bar, which has one
coordinate. Twists are (v, w) and wrenches (f, m), at the world's origin. The exit code is 0 only
if every bar is met.
"""

import sys

import numpy as np
from cycloid import cycloid
from planar_arm import G, arm_of_rods
from study import Bar, difference, panels, run

from dynamics_node import Constraint, Robot
from dynamics_node.example_robots import MECHANISMS

LENGTHS, MASSES = (0.6, 0.4), (2.0, 1.0)   # [m], [kg]
SECONDS = 1.0
AXIS = np.array([0.0, 0.0, 1.0])
CRANK_SPEED = 8.0                          # [rad/s]
GRAVITY = np.array([0.0, -G, 0.0, 0.0, 0.0, 0.0])


def main(argv=None):
    """Run the study; return the exit code."""
    return run(__doc__, [arm_by_constraint_matrix, four_bar_in_one_coordinate], argv)


# The topics --------------------------------------------------------------------------------------

def arm_by_constraint_matrix():
    """Compare the three problems of the arm with Robot."""
    arm = arm_of_rods(LENGTHS, MASSES)
    t = np.linspace(0.0, SECONDS, 21)
    q, v, a = cycloid(t, np.array([-0.5, 0.4]), np.array([1.5, -1.0]))
    systems = [System(arm, *state) for state in zip(q, v)]
    inverse = [system.inverse(each) for system, each in zip(systems, a)]
    tau = np.array([eta[-2:] for _, eta in inverse])
    forward = np.array([system.forward(each) for system, each in zip(systems, tau)])
    general = [system.general_form() for system in systems]

    known = arm.universal_form(q, v, a, np.zeros(2), [True, True])
    wrenches = np.array([system.joint_wrenches(eta)
                         for system, (_, eta) in zip(systems, inverse)])
    bars = [difference('7: torque', tau, arm.inverse_dynamics(q, v, a)),
            difference('7: wrenches of the joints', wrenches, known.joint_wrenches),
            difference('8: acceleration', forward, arm.forward_dynamics(q, v, tau)),
            difference('9: M', np.array([M for M, _ in general]), arm.mass_matrix(q)),
            difference('9: h', np.array([h for _, h in general]), arm.bias_torque(q, v)),
            Bar('rank of C that is missing', 18 - np.linalg.matrix_rank(systems[0].C), 0, '',
                'exactly constrained')]

    figure, (left, right) = panels('Pan: an arm by its constraint matrix', 2)
    left.imshow(np.sign(np.round(systems[8].matrix, 12)), cmap='RdBu', vmin=-1.0, vmax=1.0)
    for edge in (5.5, 11.5, 17.5):
        left.axvline(edge, color='0.7', linewidth=0.6)
        left.axhline(edge, color='0.7', linewidth=0.6)
    left.set_xticks((2.5, 8.5, 14.5, 20.5, 26, 31, 34.5), ('ground', 'link 1', 'link 2', 'fixed',
                                                          'R1', 'R2', 'M'), fontsize=7)
    left.set_yticks(())
    left.set_title("[-I C; C' 0]: signs of its entries", fontsize=9)
    for k in (0, 1):
        right.plot(t, np.linalg.norm(wrenches[:, k, :3], axis=1), label=f'hinge {k + 1}')
        right.plot(t, np.linalg.norm(known.joint_wrenches[:, k, :3], axis=1), 'k:')
    right.set(xlabel='time [s]', ylabel='force in the bearing [N]', ylim=(0.0, None))
    right.legend(frameon=False)
    return bars, figure


def four_bar_in_one_coordinate():
    """Compare M and h of a closed mechanism with its energies, over one turn of the crank."""
    files = MECHANISMS['four_bar']
    robot = Robot.from_urdf(files.urdf, loops=files.loops, friction=False, compile=False)
    angles = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
    q = turned(robot, angles)
    # of v the entry of the crank is read
    found = [robot.closed_dynamics(each, [CRANK_SPEED, 0.0, 0.0]) for each in q]
    M = np.array([each.mass_matrix[0, 0] for each in found])
    h = np.array([(each.coriolis + each.gravity)[0] for each in found])
    rates = np.array([each.transmission[:, 0] for each in found]) * CRANK_SPEED
    bends = np.array([each.transmission_rate[:, 0] for each in found]) * CRANK_SPEED
    links = robot.link_energies(q, rates)
    kinetic, potential = links.kinetic.sum(axis=1), links.potential.sum(axis=1)
    some = slice(None, None, 9)
    universal = robot.universal_form(q[some], rates[some], bends[some], np.zeros(3),
                                     [True, False, False])
    report = robot.constraint_report(q[0], rates[0], [hinge(robot)])
    bars = [difference('M w^2 / 2 and the energies of the links', M * CRANK_SPEED ** 2 / 2,
                       kinetic),
            # at constant speed h is the work of the motor per angle
            difference('h and the slope of the energy', h, slope(kinetic + potential), 1e-8,
                       'by a Fourier series'),
            difference('h and the universal form', universal.tau[:, 0], h[some]),
            Bar('redundant rows of a hinge in space, not 3', abs(report.driven.redundant - 3), 0,
                '', report.driven.kind)]

    figure, (left, right) = panels('Pan: a four-bar in the coordinate of its crank', 2)
    left.plot(np.rad2deg(angles), M * 1e3)
    left.set(ylabel='M [g m^2]', ylim=(0.0, None))
    right.plot(np.rad2deg(angles), h, label=f'h at {CRANK_SPEED:g} rad/s')
    right.plot(np.rad2deg(angles), [each.gravity[0] for each in found], label='gravity alone')
    right.plot(np.rad2deg(angles), slope(kinetic + potential), 'k:', label='slope of the energy')
    right.set(ylabel='torque of the crank [N m]')
    right.legend(frameon=False)
    for axes in (left, right):
        axes.set(xlabel='crank [degrees]', xticks=range(0, 361, 90))
    return bars, figure


# Pan's system of the arm -------------------------------------------------------------------------

class System:
    """The matrix and the right sides of the arm in one state: ground, link 1, link 2."""

    def __init__(self, arm, q, v):
        poses = [np.eye(4), *arm.body_poses(q)]
        self.poses = poses
        self.twists = [np.zeros(6), *(twist_at_origin(arm.frame_twist(q, v, body.name), pose)
                                      for body, pose in zip(arm.model.bodies, poses[1:]))]
        inertias = [np.eye(6), *(inertia_at_origin(body.inertia, pose)
                                 for body, pose in zip(arm.model.bodies, poses[1:]))]
        self.inertias = inertias
        self.C = np.zeros((18, 18))
        rate = np.zeros((18, 18))
        self.C[:6, :6] = np.eye(6)                          # the ground is fixed
        self.hinges, self.motors = [], []
        for k in (1, 2):
            columns = slice(6 + 5 * (k - 1), 6 + 5 * k)
            self.hinges.append(columns)
            self.motors.append(15 + k)
            for where, block in ((columns, hinge_forces(poses[k])), (15 + k, motor_torque())):
                for body, sign in ((k - 1, -1.0), (k, 1.0)):
                    rows = slice(6 * body, 6 * body + 6)
                    self.C[rows, where] = sign * block
                    # the axes of a joint move with its link: dC/dt = v x* C
                    rate[rows, where] = sign * dual_cross(self.twists[k]) @ block
        self.drift = rate.T @ np.concatenate(self.twists)
        self.f_p = np.concatenate([dual_cross(V) @ I @ V - I @ GRAVITY
                                   for I, V in zip(inertias, self.twists)])
        self.f_p[:6] = 0.0                                  # the ground needs no weight
        self.matrix = self._matrix(self.C)

    def _matrix(self, C):
        I = np.zeros((18, 18))
        for k, block in enumerate(self.inertias):
            I[6 * k:6 * k + 6, 6 * k:6 * k + 6] = block
        return np.block([[-I, C], [C.T, np.zeros((C.shape[1], C.shape[1]))]])

    def inverse(self, accelerations):
        """Return (a, eta) of given joint accelerations: problem 7."""
        c_a = np.concatenate([np.zeros(16), accelerations]) - self.drift
        return np.split(np.linalg.solve(self.matrix, np.concatenate([self.f_p, c_a])), 2)

    def forward(self, torques):
        """Return the joint accelerations under given torques: problem 8.

        The motors are no constraints: their columns move to the right side. A joint accelerates
        by the part of its links' relative acceleration along its axis, of either sign.
        """
        joints = self.C[:, :16]
        right = np.concatenate([self.f_p - self.C[:, 16:] @ torques, -self.drift[:16]])
        a = np.linalg.solve(self._matrix(joints), right)[:18].reshape(3, 6)
        return np.array([(a[k] - a[k - 1] - cross(self.twists[k - 1]) @ self.twists[k])[3:] @ AXIS
                         for k in (1, 2)])

    def general_form(self):
        """Return M and h of tau = M a + h: problem 9, one solution per joint and one without."""
        h = self.inverse(np.zeros(2))[1][-2:]
        M = [self.inverse(unit)[1][-2:] - h for unit in np.eye(2)]
        return np.array(M).T, h

    def joint_wrenches(self, eta):
        """Return the wrench (f, m) on each link from its joint, at its origin in its axes."""
        found = []
        for k, (columns, motor) in enumerate(zip(self.hinges, self.motors), start=1):
            rows = slice(6 * k, 6 * k + 6)
            f, m = np.split(self.C[rows, columns] @ eta[columns]
                            + self.C[rows, motor] * eta[motor], 2)
            R, p = self.poses[k][:3, :3], self.poses[k][:3, 3]
            found.append(np.concatenate([R.T @ f, R.T @ (m - np.cross(p, f))]))
        return np.array(found)


def skew(a):
    """Return the matrix of the cross product."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def cross(twist):
    """Return the matrix of v x, for twists."""
    return np.block([[skew(twist[3:]), skew(twist[:3])], [np.zeros((3, 3)), skew(twist[3:])]])


def dual_cross(twist):
    """Return the matrix of v x*, for wrenches."""
    return -cross(twist).T


def twist_at_origin(twist, pose):
    """Return the twist at the world's origin of a body whose frame moves by (v, w)."""
    return np.concatenate([twist[:3] + np.cross(pose[:3, 3], twist[3:]), twist[3:]])


def inertia_at_origin(inertia, pose):
    """Return I = T* I_o T*', (6, 6)."""
    R = pose[:3, :3]
    center = pose[:3, 3] + R @ inertia.com
    first = inertia.mass * skew(center)
    return np.block([[inertia.mass * np.eye(3), -first],
                     [first, R @ inertia.tensor_about_com() @ R.T - first @ skew(center)]])


def hinge_forces(pose):
    """Return the five wrenches that do no work in a hinge at the origin of a frame, (6, 5)."""
    p = pose[:3, 3]
    along = [np.concatenate([force, np.cross(p, force)]) for force in np.eye(3)]
    about = [np.concatenate([np.zeros(3), moment]) for moment in np.eye(3)[:2]]
    return np.array([*along, *about]).T


def motor_torque():
    """Return the wrench of a unit torque about the axis."""
    return np.concatenate([np.zeros(3), AXIS])


# The four-bar ------------------------------------------------------------------------------------

def turned(robot, angles):
    """Return the closed configurations at the angles of the crank, each from the one before."""
    found = [robot.neutral()]
    for angle in angles:
        near = [angle, *found[-1][1:]]
        found.append(robot.project_configuration(near, fixed=['crank_joint']))
    return np.array(found[1:])


def hinge(robot):
    """Return the loop closed by a hinge in space, which repeats three rows in a plane."""
    pin = robot.loops.constraints[0]
    return Constraint('tip', 'revolute', pin.frame, pin.to, pin.pose, pin.to_pose,
                      axis=(0.0, 1.0, 0.0))


def slope(values):
    """Return the derivative of a periodic function by its angle, from samples of one period."""
    numbers = np.fft.fftfreq(len(values), 1.0 / len(values))
    return np.fft.ifft(1j * numbers * np.fft.fft(values)).real


if __name__ == '__main__':
    sys.exit(main())
