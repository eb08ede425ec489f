"""Test that compiled derivatives agree with NumPy on every kind of robot."""

import numpy as np
import pytest
from support import random_trees, small_robots
from support.agreement_of_paths import both_paths_agree, installed, outcome, ready, without_numpy
from support.kernel_calls import kernel_calls
from support.massless_links import MASSLESS_TIP
from support.real_robots import ROBOTS

from dynamics_node import Robot
from dynamics_node.kernels import derivative_specs
from dynamics_node.kernels.derivative_specs import MOST_NUMBERS
from dynamics_node.kernels.keys import all_keys, has_kernel
from dynamics_node.kernels.spec import always

pytestmark = pytest.mark.long

DERIVATIVES = {spec.name: spec for spec in derivative_specs.DERIVATIVES}

UR5 = next(example for example in ROBOTS if str(example) == 'ur5')
DAMPING, FRICTION = (5.0, 5.0, 3.0, 1.0, 1.0, 0.5), (3.0, 3.0, 2.0, 0.5, 0.5, 0.2)
N = 11   # states of a batch: a whole register and a rest, at any width
SMALL = 6  # degrees of freedom: of larger robots the kernels with nv^3 results take long to compile


def everything(robot, links, **options):
    """Return calls of all kernels of derivatives, of a single state and of a batch."""
    rng = np.random.default_rng(1)
    return [call for n in (None, N)
            for call in kernel_calls(robot, small_robots.specimen(robot, rng, links, n),
                                         links[-1],
                                  derivatives=True, **options)
            if robot.nv <= SMALL or call.key.spec.fits is always]


@pytest.fixture
def arm():
    return small_robots.arm()


@pytest.mark.parametrize(('base', 'mimic'), [('fixed', True), ('floating', False)])
def test_a_tree_agrees_with_numpy(base, mimic):
    """Joints of several kinds, armature, friction, a load; a mimic, or a free base, wrenches."""
    robot = small_robots.tree(1, base, mimic).robot
    robot = robot.with_payload('box', 'l1', 2.0, (0.1, 0.0, 0.2))
    both_paths_agree(robot, everything(robot, ('l0', 'l2'), with_wrenches=(base == 'floating',)))


def test_a_real_robot_agrees_with_numpy():
    """With truncated right angles, friction, a payload, a gravity of its own, wrenches."""
    robot = Robot.from_urdf(UR5.urdf).with_gravity((1.0, 2.0, 3.0))
    robot = robot.with_friction(*(dict(zip(robot.joint_names, values)) for values in (DAMPING,
                                                                                      FRICTION)))
    links = UR5.link_names()
    robot = robot.with_payload('box', links[-1], 2.0, (0.1, 0.0, 0.2), np.diag([0.1, 0.2, 0.15]))
    both_paths_agree(robot, everything(robot, (links[2], links[-1]), with_wrenches=(True,)))


def test_several_results_are_returned_with_field_names(arm):
    """From a kernel and from NumPy, single and in a batch, also an empty one."""
    calls = [call for call in everything(arm, ('upper', 'lower'))
                 if call.key.spec.result is not tuple]
    assert {call.key.kernel for call in calls} >= {
        'inverse_dynamics_derivatives', 'forward_dynamics_derivatives', 'energy_regressor',
        'hybrid_dynamics_derivatives', 'hybrid_dynamics_directional_derivative',
        'frame_twist_derivatives'}
    in_numpy = Robot(arm.model, compile=False)
    ready(arm, calls)
    for call in calls:
        kind = call.key.spec.result
        for robot in (arm, arm, in_numpy):  # the first call binds the kernel
            result = call.method(robot)(**call.arguments)
            assert type(result) is kind
    none = np.zeros((0, 2))
    assert arm.inverse_dynamics_derivatives(none, none, none).da.shape == (0, 2, 2)


def test_a_plain_kernel_replaces_its_method(arm):
    """On the object; not where the method takes other arguments than its kernel."""
    calls = everything(arm, ('upper', 'lower'), with_wrenches=(False,))
    ready(arm, calls)
    for call in calls:
        call.results(arm)
    assert installed(arm) & set(DERIVATIVES) == {
        name for name in DERIVATIVES
        if not name.endswith(('_directional_derivative', '_geometry_derivative'))
        and name != 'hybrid_dynamics_derivatives'}
    q = np.zeros(2)
    with without_numpy(arm):
        assert arm.regressor(q, q, q, friction=True).shape == (2, 24)
        assert arm.inverse_dynamics_directional_derivative(q, q, q, q, q).tolist() == [0.0, 0.0]


def test_derivatives_are_compiled_on_request_only(arm):
    """The start of the node, which compiles the rest, does not wait for them."""
    arm.compile(wait=True)
    assert arm.compiled
    names = {key.kernel for key in all_keys(arm.model)}
    assert not names & set(DERIVATIVES)
    arm.compile(wait=True, derivatives=True, frames=['lower'])
    for call in everything(arm, ('upper', 'lower'), with_wrenches=(False,)):
        with without_numpy(arm):
            call.results(arm)


def test_results_too_large_for_straight_line_code_stay_in_numpy():
    """dM/dq of a large robot; everything else of it has a kernel."""
    robot = random_trees.make(random_trees.TREES[2]).robot
    assert robot.nv ** 3 > MOST_NUMBERS
    without = {name for name in DERIVATIVES if not has_kernel(robot.model, name)}
    assert without == {'mass_matrix_derivatives', 'christoffel_symbols'}
    assert not without & {key.kernel for key in all_keys(robot.model, derivatives=True)}
    q, n = robot.neutral(), robot.nv
    assert robot.christoffel_symbols(q).shape == (n, n, n)
    assert robot._dispatcher.kernels._events == {}  # no kernel was requested


def test_a_motion_without_inertia_is_named():
    """By all kernels that solve for accelerations, with the message of NumPy."""
    robot = Robot.from_urdf(MASSLESS_TIP.format(mimic='')).compile(wait=True, derivatives=True)
    in_numpy = Robot(robot.model, compile=False)
    q, v, a = np.array([[0.1, 0.2], [0.3, 0.4], [1.0, 0.0]])
    none = np.zeros(2, dtype=bool)
    for call in (lambda r: r.forward_dynamics_derivatives(q, v, a),
                 lambda r: r.forward_dynamics_derivatives(*([x] * 9 for x in (q, v, a))),
                 lambda r: r.hybrid_dynamics_derivatives(q, v, a, a, none),
                 lambda r: r.forward_dynamics_directional_derivative(q, v, a, dq=v),
                 lambda r: r.hybrid_dynamics_directional_derivative(q, v, a, a, none, dq=v),
                 lambda r: r.linearize(q, v, a)):
        got = outcome(call, robot)
        assert got == outcome(call, in_numpy)
        assert got[0] == 'SingularModel'
        assert "joint 'jt' moves links that have no inertia" in got[1]
    with without_numpy(robot):
        robot.inverse_dynamics_derivatives(q, v, a)
        robot.hybrid_dynamics_derivatives(q, v, a, a, ~none)


def test_numbers_that_are_not_finite_are_named(arm):
    """In any argument of any kernel, with the message of NumPy."""
    calls = everything(arm, ('upper', 'lower'))
    in_numpy = Robot(arm.model, compile=False)
    ready(arm, calls)
    for call in calls:
        call.results(arm)
        for name, part in call.arguments.items():
            if isinstance(part, np.ndarray) and part.dtype == float:
                spoilt = part.copy()
                spoilt[..., -1] = np.nan
                given = {**call.arguments, name: spoilt}
                got = outcome(call.method(arm), **given)
                assert got[0] == 'DynamicsError'
                assert f'{name}[' in got[1]
                assert got == outcome(call.method(in_numpy), **given)
