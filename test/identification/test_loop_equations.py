"""Test the equation of identification with loops: N' Y pi = N_a' tau_a."""

import functools

import numpy as np
import pytest
from support.moving_mechanisms import loop_motion, mechanism, other_mechanism
from support.tolerances import SOLVED

from dynamics_node.example_robots import MECHANISMS
from dynamics_node.identification.identifiable_parameters import base_parameters, random_regressors
from dynamics_node.identification.loop_equations import loop_torques, project, row_regressor
from dynamics_node.identification.parameters import (
    parameter_layout,
    parameter_values,
    robot_with_parameters,
)

pytestmark = [pytest.mark.long, pytest.mark.usefixtures('kernels')]

COUNT = 5
PASSIVE = [*((name, None) for name in MECHANISMS),      # as bundled
           ('five_bar', ('left_elbow',)), ('five_bar', ()),      # more motors than freedoms
           ('gripper', ('left_finger_joint', 'left_bar_joint', 'right_finger_joint',
                        'right_bar_joint'))]


# The 262 parameters of the Stewart platform are all found in test_robot_fit_loops.py.
SMALL = [case for case in PASSIVE if case[0] != 'stewart']


def named(case):
    return f'{case[0]}-{case[1]}'


@functools.cache
def states_of(case):
    """Return (robot, LoopMotion, Motion of random states)."""
    robot = mechanism(*case)
    loops = loop_motion(robot)
    return robot, loops, loops.random_states(np.random.default_rng(3), COUNT)


@functools.cache
def base_of(case):
    """Return (ParameterLayout, BaseParameters)."""
    robot, loops, _ = states_of(case)
    layout = parameter_layout(robot)
    return layout, base_parameters(robot, layout, loops=loops)


@pytest.fixture(params=PASSIVE, ids=named)
def looped(request):
    return states_of(request.param)


@pytest.fixture(params=SMALL, ids=named)
def small(request):
    return *states_of(request.param), *base_of(request.param)


def close(x, y):
    return np.abs(x - y).max() < SOLVED * (1.0 + np.abs(y).max())


def test_projected_regressors_times_parameters_are_projected_motor_torques(looped):
    """The torques are those of the constrained inverse dynamics, by its own multipliers."""
    robot, loops, (q, v, a, N, _) = looped
    layout, values = other_mechanism(robot)
    values[layout.each('offset')] = 0.0
    true = robot_with_parameters(robot, layout, values)
    for choice in ('least_torque', 'least_force'):
        tau = true.constrained_inverse_dynamics(q, v, a, choice=choice).tau
        assert not tau[:, ~loops.active].any()
        left = row_regressor(robot, layout, loops, q, v, a) @ values
        assert close(left, np.einsum('nik,ni->nk', N[:, loops.active], tau[:, loops.active]))


def test_loop_forces_cancel(looped):
    """N' A' = 0, for any multipliers."""
    robot, loops, (q, v, *_) = looped
    A = robot.constraint_rows(q, v).A
    lambdas = np.random.default_rng(4).normal(size=(COUNT, A.shape[1]))
    assert np.abs(project(loops, q, np.einsum('nmi,nm->ni', A, lambdas))).max() < SOLVED


def test_power_of_the_rows_is_the_power_of_all_joints(looped):
    """tau_I' v_I = tau' v on every motion that keeps the loops."""
    robot, loops, (q, v, a, *_) = looped
    tau = robot.inverse_dynamics(q, v, a)
    power = np.einsum('nk,nk->n', project(loops, q, tau), v[:, loops.independent])
    assert close(power, np.einsum('ni,ni->n', tau, v))


def test_every_motion_is_explained_by_the_columns_that_are_kept(small):
    """Y = Y_b G at states that were not sampled; passive joints have no armature and offset."""
    robot, loops, motion, layout, base = small
    Y = row_regressor(robot, layout, loops, *motion[:3])
    Y[..., layout.known] = 0.0
    assert close(Y[..., base.kept] @ base.grouping, Y)
    names = np.array(layout.names)[base.kept]
    assert not {f'{joint}.{kind}' for joint in robot.loops.passive
                for kind in ('armature', 'offset')} & {*names}


def test_the_number_of_base_parameters_is_the_rank_at_other_states(small):
    """By singular values, with a gap of six orders."""
    robot, loops, _, layout, base = small
    Y = random_regressors(robot, layout, np.random.default_rng(9), loops)
    Y = Y[..., ~layout.known].reshape(-1, np.count_nonzero(~layout.known))
    size = np.linalg.norm(Y, axis=0)
    values = np.linalg.svd(Y[:, size > 1e-10 * size.max()] / size[size > 1e-10 * size.max()],
                           compute_uv=False)
    assert values[base.size - 1] > 1e-4 > 1e-10 > values[base.size:].max(initial=0.0)


def test_a_prediction_is_the_torque_of_the_motors(looped):
    """Of one state and of many; positions of dependent joints are ignored."""
    robot, loops, (q, v, a, N, _) = looped
    want = np.zeros_like(v)
    want[:, loops.independent] = np.einsum('nik,ni->nk', N, robot.inverse_dynamics(q, v, a))
    got = loop_torques(loops, robot.inverse_dynamics, q, v, a)
    assert close(got, want)
    v, a = v.copy(), a.copy()
    v[:, loops.dependent], a[:, loops.dependent] = 7.0, 9.0
    assert close(loop_torques(loops, robot.inverse_dynamics, q[0], v[0], a[0]), want[0])


def test_values_of_a_mechanism_are_read_back():
    """Also of one whose platform has no parameters of its own."""
    robot = mechanism('stewart')
    layout, values = other_mechanism(robot)
    assert not any(name.startswith('platform_joint') for name in layout.names)
    assert len(layout.joints) == 18
    values[layout.each('offset')] = 0.0
    np.testing.assert_allclose(
        parameter_values(robot_with_parameters(robot, layout, values), layout), values,
                               rtol=1e-12, atol=1e-15)
