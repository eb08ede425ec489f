"""Test identifiability: which parameters torques depend on."""

import numpy as np
import pytest
from scipy.linalg import qr
from support import random_trees
from support.differences import relative
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.identifiable_parameters import (
    ALONE,
    COMBINED,
    NEVER,
    base_parameters,
    random_regressors,
)
from dynamics_node.identification.parameters import (
    offset_torque,
    parameter_layout,
    parameter_regressor,
    parameter_values,
    robot_with_parameters,
)

LENGTH = 0.7
PLANAR = f"""<robot name="planar"><link name="base"/>
<link name="upper"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"
izz="1"/></inertial></link><link name="lower"><inertial><mass value="2"/><inertia ixx="1" ixy="0"
ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j1" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
</joint><joint name="j2" type="continuous"><parent link="upper"/><child link="lower"/>
<origin xyz="{LENGTH} 0 0"/><axis xyz="0 0 1"/></joint></robot>"""


@pytest.fixture
def tree(request, monkeypatch):
    """A random tree for the tests of identifiability.

    An axis 1e-8 off another makes columns that are dependent but for 1e-8, the border between the
    two (base_parameters.DEPENDENT).
    """
    monkeypatch.setattr(random_trees, 'HAIRS', (0.0, 1e-16))
    return random_trees.make(request.param)


@pytest.fixture
def planar():
    """Two links in a vertical plane."""
    return Robot.from_urdf(PLANAR, gravity=(0.0, -9.81, 0.0))


def test_every_motion_is_explained_by_the_columns_that_are_kept(tree):
    """Y = Y_b G at states that were not sampled, and tau = Y_b (G values)."""
    robot, layout = tree.robot, parameter_layout(tree.robot)
    base = base_parameters(robot, layout)
    Y = parameter_regressor(robot, layout, tree.q[None], tree.v[None], tree.a[None])
    assert relative(Y[..., base.kept] @ base.grouping, Y) < SOLVED
    values = parameter_values(robot, layout)
    assert relative(Y[..., base.kept] @ base.values(values), Y @ values) < SOLVED


def test_directions_that_cannot_be_identified_leave_torques_unchanged(tree):
    """A step of the parameters' own size along each, as a robot."""
    robot, layout = tree.robot, parameter_layout(tree.robot)
    base = base_parameters(robot, layout)
    values = parameter_values(tree.robot, parameter_layout(tree.robot))
    assert base.null.shape == (layout.size, layout.size - base.size)
    moved = values + 5.0 * base.null @ tree.rng.normal(size=base.null.shape[1])
    tau = (robot_with_parameters(robot, layout, moved).inverse_dynamics(tree.q, tree.v, tree.a)
           + offset_torque(layout, moved, tree.v))
    assert np.abs(moved - values).max() > 1.0
    assert relative(tau, robot.inverse_dynamics(tree.q, tree.v, tree.a)) < SOLVED


def test_the_number_of_base_parameters_is_the_rank_of_the_regressor(tree):
    """By LAPACK's column pivoting, at other states."""
    robot, layout = tree.robot, parameter_layout(tree.robot)
    base = base_parameters(robot, layout)
    Y = random_regressors(robot, layout, np.random.default_rng(9)).reshape(-1, layout.size)
    size = np.linalg.norm(Y, axis=0)
    Y = Y[:, size > 1e-9 * size.max()]
    R, _ = qr(Y / np.linalg.norm(Y, axis=0), mode='r', pivoting=True)
    diagonal = np.abs(np.diag(R))
    assert diagonal[base.size - 1] > 1e-6 > 1e-11 > diagonal[base.size:].max(initial=0.0)


def test_two_links_in_a_plane_have_the_base_parameters_of_the_textbook(planar):
    """Izz1 + l^2 m2 + rotor, m1 x1 + l m2, m1 y1, m2 x2, m2 y2, Izz2, and what joints have."""
    base = base_parameters(planar, parameter_layout(planar))
    meanings = base.meanings()
    assert meanings[:6] == (
        'first moment x of upper + 0.7 x mass of lower',
        'first moment y of upper, alone',
        'Izz of upper + 0.49 x mass of lower + armature of j1',
        'first moment x of lower, alone',
        'first moment y of lower, alone',
        'Izz of lower, alone')
    assert meanings[6:] == tuple(
        f'{what} of {joint}, alone' for joint, kinds in (
            ('j1', ('viscous friction', 'coulomb friction', 'offset')),
            ('j2', ('armature', 'viscous friction', 'coulomb friction', 'offset')))
        for what in kinds)
    row = base.grouping[2]
    assert row[base.layout.names.index('lower.m')] == pytest.approx(LENGTH ** 2, rel=EXACT_MATHS)


def test_every_parameter_is_identifiable_alone_in_combination_or_never(planar):
    base = base_parameters(planar, parameter_layout(planar))
    kinds = dict(zip(base.layout.names, base.kinds))
    assert kinds['upper.mcy'] == kinds['lower.Izz'] == kinds['j2.armature'] == ALONE
    assert kinds['lower.m'] == kinds['upper.Izz'] == kinds['j1.armature'] == COMBINED
    assert kinds['upper.m'] == kinds['upper.Ixx'] == kinds['lower.Iyz'] == NEVER
    assert 'identifiable not at all: upper.m, upper.mcz' in str(base)


def test_an_arm_of_seven_axes_has_43_inertial_base_parameters():
    """Seven revolute axes, the first one upright; the rank is LAPACK's on other trees."""
    robot = Robot.from_urdf(ARM7)
    base = base_parameters(robot, parameter_layout(robot))
    assert np.count_nonzero(base.kept < base.layout.inertial) == 43


def test_without_gravity_there_are_fewer_base_parameters(planar):
    """First moments of the first link act by gravity alone."""
    floating = planar.with_gravity((0.0, 0.0, 0.0))
    kinds = dict(zip(parameter_layout(planar).names,
                     base_parameters(floating, parameter_layout(planar)).kinds))
    assert kinds['upper.mcx'] == kinds['upper.mcy'] == NEVER


def test_rows_of_a_joint_depend_on_its_subtree_alone():
    """Columns of bodies below a joint do not enter its factor."""
    robot = Robot.from_urdf(ARM7)
    base = base_parameters(robot, parameter_layout(robot))
    names = np.array(base.layout.names)[base.kept]
    last = names[base.depends[6]]
    assert {name.rpartition('.')[0] for name in last} == {'link_7', 'joint_7'}
