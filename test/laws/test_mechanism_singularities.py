"""Test mechanisms that are singular, redundant, contradictory or underactuated.

The report names the cause, and all numbers stay finite.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.bundled_mechanisms import load
from support.linkage_closed_forms import FourBar
from support.rigid_robots import body, point, still
from support.tolerances import SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.constraint_report import report
from dynamics_node.constrained.forward import constrained_forward_dynamics
from dynamics_node.constrained.inverse import constrained_inverse_dynamics
from dynamics_node.constrained.proximal import proximal_forward_dynamics
from dynamics_node.constrained.rank_deficient import rank_deficient_forward
from dynamics_node.example_robots import MECHANISMS


def finite(result):
    """Return whether every array of a result is finite."""
    return all(np.isfinite(part).all() for part in result)


# Singular: a rhombus folded flat, the point where it could become a parallelogram or a kite -------

SIDE = 0.3


def rod(name):
    return (f'<link name="{name}"><inertial><origin xyz="{SIDE / 2} 0 0"/><mass value="0.4"/>'
            '<inertia ixx="1e-5" ixy="0" ixz="0" iyy="0.003" iyz="0" izz="0.003"/></inertial>'
            '</link>')


def hinge(name, parent, child, x):
    return (f'<joint name="{name}" type="continuous"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{x} 0 0"/><axis xyz="0 -1 0"/></joint>')


RHOMBUS = '\n'.join(['<robot name="rhombus"><link name="base"/>', *map(rod, ('a', 'b', 'c')),
                     hinge('crank', 'base', 'a', 0), hinge('coupler', 'a', 'b', SIDE),
                     hinge('rocker', 'base', 'c', SIDE), '</robot>'])
TIP = {'frame': 'b', 'to': 'c', 'pose': (SIDE, 0.0, 0.0), 'to_pose': (SIDE, 0.0, 0.0)}
RHOMBUS_LOOP = (Constraint('tip_x', 'point_on_plane', axis=(1.0, 0.0, 0.0), **TIP),
                Constraint('tip_z', 'point_on_plane', axis=(0.0, 0.0, 1.0), **TIP))


@pytest.fixture(scope='module')
def rhombus():
    return Robot.from_urdf(RHOMBUS, compile=False).model


def test_a_flat_four_bar_is_reported_singular(rhombus):
    """Along the common line no hinge acts: that row is redundant, and named."""
    found = report(rhombus, np.zeros(3), np.zeros(3), RHOMBUS_LOOP, [True, False, False])
    assert found.singular and 'SINGULAR' in str(found)
    assert found.rank == 1 and found.freedom == 2 and found.redundant == ('tip_x.n',)
    assert found.failure == 0


def test_an_open_four_bar_is_not_reported_singular(rhombus):
    """A parallelogram, away from the fold by an angle that is not small."""
    angle = 0.05
    q = np.array([angle, -angle, angle])
    found = report(rhombus, q, np.zeros(3), RHOMBUS_LOOP, [True, False, False])
    assert not found.singular and found.freedom == 1


def test_the_clearance_goes_to_zero_towards_the_fold(rhombus):
    """As the sine of the angle does."""
    clearances = [report(rhombus, np.array([angle, -angle, angle]), np.zeros(3), RHOMBUS_LOOP,
                         [True, False, False]).clearance for angle in (0.2, 0.02, 0.002)]
    assert_allclose(np.array(clearances[:-1]) / clearances[1:], 10.0, rtol=0.1)


def test_a_flat_four_bar_has_finite_numbers(rhombus):
    """The rank-revealing and the proximal solver agree; the fast one reports a zero margin."""
    q, tau = np.zeros(3), np.array([0.5, 0.0, 0.0])
    for v in (np.zeros(3), np.array([0.7, -0.7, 0.7])):  # at rest, and turning as a parallelogram
        exact = rank_deficient_forward(rhombus, q, v, tau, RHOMBUS_LOOP)
        near = proximal_forward_dynamics(rhombus, q, v, tau, RHOMBUS_LOOP)
        assert finite(exact) and finite(near)
        assert_allclose(near.a, exact.a, atol=1e-6 * np.abs(exact.a).max())
        assert_allclose(exact.violation, 0.0, atol=SOLVED)
        with np.errstate(all='ignore'):  # it divides by the pivot first and says so afterwards
            fast = constrained_forward_dynamics(rhombus, q, v, tau, RHOMBUS_LOOP)
        assert not np.all(fast.margin > 0.0)


def test_a_flat_four_bar_that_opens_both_ways_is_failure_condition_1(rhombus):
    """The velocity keeps the rows but follows no branch."""
    q, v = np.zeros(3), np.array([0.7, -1.4, 0.0])  # a up, b down, c at rest
    found = report(rhombus, q, v, RHOMBUS_LOOP, [True, False, False])
    assert np.abs(found.velocity).max() < SOLVED
    assert found.failure == 1 and 'tip_x.n' in str(found)
    result = rank_deficient_forward(rhombus, q, v, np.zeros(3), RHOMBUS_LOOP)
    assert finite(result) and np.abs(result.violation).max() > 0.1


# Redundant rows: planar loops closed as if they were spatial --------------------------------------

TURN, SPEED, TORQUE = 2.2, 3.0, 1.5


@pytest.fixture(scope='module')
def moving_four_bar():
    """The bundled four-bar in motion, and its accelerations with rows that all count."""
    mechanism = load('four_bar', friction=False)
    q = FourBar().coordinates(TURN)
    v = np.array([slope.first for slope in FourBar().at(TURN).slopes]) * SPEED
    tau = np.array([TORQUE, 0.0, 0.0])
    return mechanism, q, v, tau, constrained_forward_dynamics(mechanism.model, q, v, tau,
                                                              mechanism.constraints).a


def test_a_hinge_that_closes_a_planar_loop_has_three_redundant_rows(moving_four_bar):
    """The report names y and the two rotations; the motion is that of the pin."""
    mechanism, q, v, tau, expected = moving_four_bar
    pin = mechanism.constraints[0]
    closed = (Constraint('tip', 'revolute', 'coupler', 'rocker', pin.pose, pin.to_pose,
                         axis=(0.0, 1.0, 0.0)),)
    found = report(mechanism.model, q, v, closed, mechanism.active)
    assert found.redundant == ('tip.y', 'tip.r1', 'tip.r2')
    assert found.rank == 2 and found.freedom == 1 and found.failure == 0 and not found.singular
    result = rank_deficient_forward(mechanism.model, q, v, tau, closed)
    assert finite(result)
    assert_allclose(result.a, expected, atol=SOLVED * np.abs(expected).max())
    near = proximal_forward_dynamics(mechanism.model, q, v, tau, closed)
    assert_allclose(near.a, expected, atol=1e-8 * np.abs(expected).max())


# The four-bar once more, as a chain of four hinges whose last link, the foot, is to be welded.
CHAIN = (MECHANISMS['four_bar'].urdf.read_text()
         .replace('<parent link="base_link"/>\n    <child link="rocker"/>\n    '
                  '<origin xyz="0.3 0 0"/>',
                  '<parent link="coupler"/>\n    <child link="rocker"/>\n    '
                  '<origin xyz="0.3 0 0.16"/>')
         .replace('<origin xyz="0 0 0.14" rpy="0 0 0"/>', '<origin xyz="0 0 -0.14" rpy="0 0 0"/>')
         .replace('</robot>', """
  <joint name="foot_joint" type="continuous"><parent link="rocker"/><child link="foot"/>
    <origin xyz="0 0 -0.28"/><axis xyz="0 -1 0"/></joint>
  <link name="foot"><inertial><mass value="0.1"/>
    <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
</robot>"""))


def test_a_weld_that_closes_a_planar_loop_has_three_redundant_rows(moving_four_bar):
    """Six rows; crank and coupler move as in the tree of the other cut."""
    _, (crank, coupler, rocker), v, _, expected = moving_four_bar
    model = Robot.from_urdf(CHAIN, friction=False, compile=False).model
    q = np.array([crank, coupler, rocker - crank - coupler, -rocker])
    v = np.array([v[0], v[1], v[2] - v[0] - v[1], -v[2]])
    weld = (Constraint('foot', 'weld', 'foot', 'base_link', to_pose=(0.3, 0.0, 0.0)),)
    found = report(model, q, v, weld, [True, False, False, False])
    assert_allclose(found.residual, 0.0, atol=SOLVED)
    assert found.redundant == ('foot.y', 'foot.rx', 'foot.rz')
    assert found.rank == 3 and found.freedom == 1 and found.failure == 0 and not found.singular
    result = rank_deficient_forward(model, q, v, np.array([TORQUE, 0.0, 0.0, 0.0]), weld)
    assert finite(result)
    assert_allclose(result.a[:2], expected[:2], atol=SOLVED * np.abs(expected).max())


# Contradictory ------------------------------------------------------------------------------------

def test_two_contacts_on_a_spinning_rod_contradict_each_other():
    """Both ends at rest while it turns: w^2 L is missing."""
    model = body().model
    half, w = 0.4, 2.0
    ends = (point('left', (-half, 0.0, 0.0)), point('right', (half, 0.0, 0.0)))
    v = np.array([0.0, 0.0, 0.0, 0.0, 0.0, w])
    found = report(model, still(), v, ends)
    assert found.failure == 1
    assert 'failure condition 1' in str(found) and '.x' in str(found).splitlines()[-1]
    assert found.redundant == ('right.x',)  # along the rod, one end says it all
    # each end is asked to accelerate by w^2 half towards the middle, relative to which they differ
    assert_allclose(found.contradiction[[0, 3]], [w * w * half, -w * w * half], rtol=SOLVED)
    result = rank_deficient_forward(model, still(), v, np.zeros(6), ends)
    assert finite(result)
    assert_allclose(result.violation[[0, 3]], found.contradiction[[0, 3]], rtol=SOLVED)
    assert finite(proximal_forward_dynamics(model, still(), v, np.zeros(6), ends))


# No motor reaches ---------------------------------------------------------------------------------

def test_a_rocker_cannot_drive_the_crank_through_its_dead_centre():
    """Crank and coupler in line: the rocker is at rest for any motion of the crank."""
    mechanism, textbook = load('four_bar', friction=False), FourBar()
    a, b, c, d = textbook.a, textbook.b, textbook.c, textbook.d
    dead = np.arccos(((a + b) ** 2 + d ** 2 - c ** 2) / (2.0 * (a + b) * d))
    q, rest = textbook.coordinates(dead), np.zeros(3)
    at_rocker = np.array([False, False, True])
    found = report(mechanism.model, q, rest, mechanism.constraints, at_rocker)
    assert found.freedom == 1 and found.actuated == 0
    assert found.loose == ('crank_joint', 'coupler_joint')
    assert not found.singular  # of the loop itself: its rows are independent
    with pytest.raises(DynamicsError, match='under-actuated.*crank_joint, coupler_joint'):
        constrained_inverse_dynamics(mechanism.model, q, rest, rest, mechanism.constraints,
                                     at_rocker)
    # the crank's own motor has no trouble there
    found = report(mechanism.model, q, rest, mechanism.constraints, mechanism.active)
    assert found.actuated == 1 and found.loose == ()
