"""Test springs and dampers: laws on random trees, closed forms, and MuJoCo's tendons."""

import mujoco
import numpy as np
import pytest
from support.agreement_of_paths import without_numpy
from support.differences import along, gradient, relative
from support.tolerances import EXACT_MATHS, MUJOCO, RATE_BY_DIFFERENCES, SOLVED

from dynamics_node import Robot, RobotLink, Spring
from dynamics_node.kernels.keys import key_of
from dynamics_node.robot.self_test import self_test

LINES = (Spring('line', 80.0, 3.0, 0.2, frame='l10', to='l5', point=(0.3, 0.1, 0.2)),
         Spring('ground', 40.0, 2.0, 0.1, frame='l10', point=(0.1, -0.2, 0.1),
                to_point=(1.0, -2.0, 1.5)))
SPRINGS = (*LINES, Spring('joint', 15.0, 0.7, 0.4, joint='j0'))


@pytest.fixture
def sprung(tree):
    """The robot of the tree with springs."""
    return tree.robot.with_springs(SPRINGS)


def test_torques_at_rest_are_the_gradient_of_the_energy(tree, sprung):
    """Of gravity and springs together."""
    slope = gradient(sprung, sprung.potential_energy, tree.q)
    static = sprung.gravity_torque(tree.q) + sprung.spring_torque(tree.q, np.zeros(tree.robot.nv))
    assert relative(static, slope) < RATE_BY_DIFFERENCES
    assert relative(sprung.potential_energy(tree.q), tree.robot.potential_energy(tree.q)) > 1e-3


def test_dampers_take_the_power_of_their_rates(tree, sprung):
    """The sum of c d'^2, with the rates of the lengths by differences."""
    q, v = tree.q, tree.v
    power = (sprung.spring_torque(q, v) - sprung.spring_torque(q, 0.0 * v)) @ v
    expected = 0.0
    for spring in SPRINGS:
        alone = tree.robot.with_springs([Spring('it', 2.0, **{
            field: getattr(spring, field)
            for field in ('joint', 'frame', 'to', 'point', 'to_point')})])
        def coordinate(q, alone=alone):  # U = d^2, without gravity
            return np.sqrt(alone.potential_energy(q) - tree.robot.potential_energy(q))
        expected += spring.damping * along(sprung, coordinate, q, v) ** 2
    assert relative(power, expected) < RATE_BY_DIFFERENCES


def test_springs_between_links_act_as_wrenches_at_their_ends(tree):
    """The same torques, computed from poses, velocities and external wrenches."""
    robot, q, v, a = tree.robot, tree.q, tree.v, tree.a
    wrenches = {name: np.zeros(6) for name in ('l10', 'l5')}
    for spring in LINES:
        ends = [(spring.to, spring.to_point), (spring.frame, spring.point)]
        (one, slow), (two, fast) = (moving_point(robot, q, v, *end) for end in ends)
        length = np.linalg.norm(two - one)
        n = (two - one) / length
        tension = spring.stiffness * (length - spring.rest) + spring.damping * n @ (fast - slow)
        for (name, point), sign in zip(ends, (1.0, -1.0)):
            if name != 'world':
                force = robot.frame_pose(q, name)[:3, :3].T @ (sign * tension * n)
                wrenches[name] += [*force, *np.cross(point, force)]
    sprung = robot.with_springs(LINES)
    expected = robot.inverse_dynamics(q, v, a, wrenches)
    assert relative(sprung.inverse_dynamics(q, v, a), expected) < EXACT_MATHS
    found = sprung.joint_reactions(q, v, a)
    assert relative(found.wrenches, robot.joint_reactions(q, v, a, wrenches).wrenches) < EXACT_MATHS


def moving_point(robot, q, v, link, point):
    """Return (position, velocity) of a point of a link, or of the world."""
    if link == 'world':
        return np.array(point), np.zeros(3)
    T, twist = robot.frame_pose(q, link), robot.frame_twist(q, v, link)
    arm = T[:3, :3] @ np.array(point)
    return T[:3, 3] + arm, twist[:3] + np.cross(twist[3:], arm)


def test_forward_and_hybrid_dynamics_invert_inverse_dynamics(tree, sprung):
    """With springs, by articulated bodies and by blocks."""
    q, v, a = tree.q, tree.v, tree.a
    tau = sprung.inverse_dynamics(q, v, a)
    assert relative(tau, tree.robot.inverse_dynamics(q, v, a)) > 1e-3
    assert relative(sprung.forward_dynamics(q, v, tau), a) < SOLVED
    given = np.arange(len(v)) % 2 == 0
    found = sprung.hybrid_dynamics(q, v, np.where(given, a, 0.0), np.where(given, 0.0, tau), given)
    assert relative(found[0], a) < SOLVED
    assert relative(found[1], tau) < SOLVED


def test_derivatives_contain_stiffness_and_damping(tree, sprung):
    """Of inverse and forward dynamics, by differences; and along a direction."""
    q, v, a = tree.q, tree.v, tree.a
    found = sprung.inverse_dynamics_derivatives(q, v, a)
    by_q = gradient(sprung, lambda x: sprung.inverse_dynamics(x, v, a), q)
    assert relative(found.dq, by_q) < RATE_BY_DIFFERENCES
    slope = sprung.inverse_dynamics_derivatives(q, v, a).dv - (
        tree.robot.inverse_dynamics_derivatives(q, v, a).dv)
    assert relative(slope @ v, sprung.spring_torque(q, v) - sprung.spring_torque(
        q, 0.0 * v)) < EXACT_MATHS  # dampers are linear in v
    assert relative(sprung.inverse_dynamics_directional_derivative(q, v, a, dq=a, dv=v),
                    found.dq @ a + found.dv @ v) < EXACT_MATHS
    tau = sprung.inverse_dynamics(q, v, a)
    forward = sprung.forward_dynamics_derivatives(q, v, tau)
    assert relative(sprung.mass_matrix(q) @ forward.dq, -found.dq) < SOLVED
    assert relative(sprung.forward_dynamics_directional_derivative(q, v, tau, dq=a, dv=v),
                    forward.dq @ a + forward.dv @ v) < SOLVED
    assert relative(sprung.gravity_stiffness(q), tree.robot.gravity_stiffness(q)) == 0.0


def test_a_mass_on_a_spring_oscillates_as_textbooks_say():
    """The eigenvalues of its linearisation: -c / 2m +- i sqrt(k/m - (c / 2m)^2)."""
    mass, k, c = 2.0, 50.0, 3.0
    links = [RobotLink('base'), RobotLink('mass', 'base', 'prismatic', mass=mass)]
    robot = Robot.from_links(links, compile=False)
    at_joint = Spring('s', k, c, -0.2, joint='mass_joint')
    along_line = Spring('s', k, c, 0.8, frame='mass', to_point=(0.0, 0.0, -1.0))
    decay = c / (2 * mass)
    expected = -decay + 1j * np.sqrt(k / mass - decay ** 2)
    for spring in (at_joint, along_line):
        sprung = robot.with_springs([spring])
        rest = -0.2 - mass * 9.81 / k
        assert abs(sprung.forward_dynamics([rest], [0.0], [0.0])[0]) < 1e-12
        values = np.linalg.eigvals(sprung.linearize([rest], [0.0], [0.0]).A)
        assert np.sort_complex(values)[-1] == pytest.approx(expected, rel=SOLVED)


TENDON = """<mujoco><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody>
<site name="w" pos="0.5 0.1 0.4"/>
<body name="upper" pos="0.1 0 0.2"><joint name="j1" axis="0 1 0" stiffness="6" springref="0.3"/>
<inertial pos="0.2 0 0.03" mass="2" diaginertia="0.02 0.03 0.04"/><site name="u" pos="0.1 0.05 0"/>
<body name="lower" pos="0.4 0 0"><joint name="j2" axis="0 0.6 0.8"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/><site name="l" pos="0.2 -0.05 0.1"/>
</body></body></worldbody><tendon>
<spatial stiffness="90" damping="4" springlength="0.3"><site site="u"/><site site="l"/></spatial>
<spatial stiffness="70" damping="2" springlength="0.1"><site site="w"/><site site="l"/></spatial>
</tendon></mujoco>"""


def test_springs_equal_the_tendons_of_mujoco():
    """A joint's spring, one between two links, and one to the world."""
    def place(*p):
        T = np.eye(4)
        T[:3, 3] = p
        return T
    robot = Robot.from_links([
        RobotLink('base'),
        RobotLink('upper', 'base', 'revolute', place(0.1, 0, 0.2), (0, 1, 0), mass=2.0,
                  com=(0.2, 0, 0.03), inertia=np.diag([0.02, 0.03, 0.04])),
        RobotLink('lower', 'upper', 'revolute', place(0.4, 0, 0), (0, 0.6, 0.8), mass=1.0,
                  com=(0.1, 0, 0), inertia=np.diag([0.01, 0.02, 0.02]))], compile=False)
    sprung = robot.with_springs([
        Spring('j', 6.0, rest=0.3, joint='upper_joint'),
        Spring('t', 90.0, 4.0, 0.3, frame='lower', to='upper', point=(0.2, -0.05, 0.1),
               to_point=(0.1, 0.05, 0.0)),
        Spring('w', 70.0, 2.0, 0.1, frame='lower', point=(0.2, -0.05, 0.1),
               to_point=(0.5, 0.1, 0.4))])
    model = mujoco.MjModel.from_xml_string(TENDON)
    data = mujoco.MjData(model)
    for q, v, tau in np.random.default_rng(4).normal(size=(5, 3, 2)):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(model, data)
        assert relative(sprung.forward_dynamics(q, v, tau), data.qacc) < MUJOCO


def test_compiled_springs_equal_those_in_numpy(monkeypatch, tree):
    """Dynamics, energy and the springs alone; kernels of the robot without springs are not used."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    robot = Robot(tree.robot.model).with_springs(SPRINGS)
    plain = Robot(robot.model, compile=False)
    names = ('inverse_dynamics', 'potential_energy', 'spring_torque')
    robot._dispatcher.compile([key_of(robot.model, name) for name in names], wait=True)
    q, v, a = tree.q, tree.v, tree.a
    with without_numpy(robot):
        found = (robot.inverse_dynamics(q, v, a), robot.potential_energy(q),
                 robot.spring_torque(q, v))
    for got, want in zip(found, (plain.inverse_dynamics(q, v, a), plain.potential_energy(q),
                                 plain.spring_torque(q, v)), strict=True):
        assert relative(got, want) < EXACT_MATHS


def test_the_laws_of_the_self_test_hold(arm):
    """Also the power balance, to which dampers contribute."""
    sprung = arm.with_springs([Spring('a', 50.0, 5.0, 0.1, joint='joint_2'),
                               Spring('b', 300.0, 9.0, 0.3, frame='tool0')])
    assert self_test(sprung).passed
