"""Test derivatives in the graph: forward and reverse mode against complex steps."""

import numpy as np
import pytest
from support import complex_steps, random_trees, small_robots
from support.differences import STEP, relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from dynamics_node.compiler.differentiate import PARTIALS, gradient, tangents
from dynamics_node.compiler.graph import Graph, Op
from dynamics_node.compiler.trace import evaluate, trace
from dynamics_node.kernels import autodiff

SIZE = 5


def test_every_operation_has_a_derivative():
    """New ones too."""
    assert set(PARTIALS) == set(Op) - {Op.CONST, Op.INPUT}


OPERATIONS = [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: -a,
    lambda a, b: a / (b * b + 1.5), lambda a, b: np.sqrt(a * a + 0.5), lambda a, b: np.sin(a),
    lambda a, b: np.cos(b), lambda a, b: 0.3 * a * a, lambda a, b: b - 1.0]


def random_function(seed):
    """Return a random program of all operations, as a function of SIZE numbers of any kind."""
    def function(x):
        rng = np.random.default_rng(seed)
        values = list(x)
        for _ in range(40):
            a, b = (values[k] for k in rng.integers(0, len(values), 2))
            values.append(OPERATIONS[rng.integers(0, len(OPERATIONS))](a, b))
        return np.array([*values[-4:], values[-1] * values[-2], x[0]])
    return function


@pytest.fixture(params=range(12))
def function(request):
    return random_function(request.param)


def test_forward_mode_gives_the_directional_derivative(function):
    """Along a direction that is zero for some variables."""
    rng = np.random.default_rng(0)
    x, direction = rng.normal(size=SIZE), rng.normal(size=SIZE) * (np.arange(SIZE) != 2)
    program = trace(lambda x, d: np.array(tangents(list(function(x)), [dict(zip(x, d))])[0]),
                    {'x': (SIZE,), 'd': (SIZE,)})
    got, = evaluate(program, np.concatenate([x, direction]))
    want = function(x + 1e-30j * direction).imag / 1e-30
    assert relative(got, want) < EXACT_MATHS


def test_reverse_mode_gives_the_gradient(function):
    """Of one number by all variables."""
    x = np.random.default_rng(1).normal(size=SIZE)
    program = trace(lambda x: np.array(gradient(function(x).sum(), list(x))), {'x': (SIZE,)})
    got, = evaluate(program, x)
    assert relative(got, complex_steps.by(lambda x: function(x).sum(), x)) < EXACT_MATHS


def test_a_zero_direction_makes_no_symbols():
    """Not even a product with zero."""
    graph = Graph()
    x, y, z = (graph.input(k) for k in range(3))
    result = x.sin() * y + z * z
    before = len(graph.symbols)
    (by_x, constant, by_other), = tangents([result, 2.0, y], [{x: 0.0}])
    assert (by_x, constant, by_other) == (0.0, 0.0, 0.0)
    assert len(graph.symbols) == before
    (by_y,), (by_z,) = tangents([result], [{y: 1.0}, {z: 1.0}])
    assert by_y is x.sin()
    assert by_z is 2.0 * z


def test_an_intermediate_result_may_be_a_variable():
    """Its operands are not visited, neither in forward nor in reverse mode."""
    graph = Graph()
    x = graph.input(0)
    y = x.sin()
    result = x * y
    assert tangents([result], [{y: 1.0}])[0][0] is x
    assert tangents([result], [{x: 1.0, y: 0.0}])[0][0] is y
    by_x, by_y = gradient(result, [x, y])
    assert by_x is y
    assert by_y is x


@pytest.mark.parametrize('tree', [*random_trees.TREES[:4]], ids=str)
def test_differentiated_inverse_dynamics_is_the_analytic_one(tree):
    """Every joint type, mimics, floating bases, friction, wrenches."""
    robot, rng, q, v, a, *_ = random_trees.make(tree, compile=False)
    model, wrenches = robot.model, rng.normal(size=(len(robot.model.bodies), 6))
    program = trace(lambda *x: autodiff.inverse_dynamics_derivatives(model, *x),
                    {'q': q.shape, 'v': v.shape, 'a': a.shape, 'wrenches': wrenches.shape})
    got = evaluate(program, np.concatenate([q, v, a, wrenches.ravel()]))
    want = inverse_dynamics_derivatives(model, q, v, a, wrenches)
    for part, whole in zip(got, want, strict=True):
        assert relative(part, whole) < EXACT_MATHS
    by_q = complex_steps.by_q(model, lambda q: inverse_dynamics(model, q, v, a, wrenches), q)
    assert relative(got[0], by_q) < EXACT_MATHS


@pytest.mark.parametrize('base', ['fixed', 'floating'])
@pytest.mark.parametrize('mimic', [False, True], ids=['', 'mimic'])
def test_the_hessian_product_is_the_change_of_the_gradient(base, mimic):
    """Of weights . tau along a motion of q, v and a at once, by the interpreter."""
    robot, rng, q, v, a, *_ = small_robots.tree(3, base, mimic, compile=False, friction_speed=0.5)
    weights, dq, dv, da = rng.normal(size=(4, robot.nv))

    def slopes(step):
        return [weights @ part for part in robot.inverse_dynamics_derivatives(
            robot.integrate(q, dq, step), v + step * dv, a + step * da)]
    want = [(ahead - behind) / (2.0 * STEP) for ahead, behind in zip(slopes(STEP), slopes(-STEP))]
    got = robot.inverse_dynamics_hessian_product(q, v, a, weights, dq, dv, da)
    for part, whole in zip(got, want, strict=True):
        assert relative(part, whole) < RATE_BY_DIFFERENCES
