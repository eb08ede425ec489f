"""Test programs: text, checks, interpretation, and agreement with the traced algorithm."""

import gc

import numpy as np
import pytest
from support import random_trees
from support.differences import relative
from support.kernel_calls import kernel_calls
from support.tolerances import EXACT_MATHS

from dynamics_node.compiler.graph import Graph, Op, Symbol, TooManySymbols, TracingError
from dynamics_node.compiler.lower import LOWER
from dynamics_node.compiler.operation_counts import count, instructions
from dynamics_node.compiler.trace import EVALUATE, check, evaluate, trace
from dynamics_node.kernels.build import program_of
from dynamics_node.kernels.shapes import uniform_values


def pendulum(q, v, tau, length):
    """Return the acceleration of a pendulum, and its energy."""
    g = 9.81
    height = -length[0] * np.cos(q)
    return ((tau - g * length[0] * np.sin(q)) / length[0] ** 2,
            g * height[0] + 0.5 * length[0] ** 2 * v[0] ** 2)


SHAPES = {'q': (1,), 'v': (1,), 'tau': (1,), 'length': (1,)}
PRINTED = """
%0 = input(0)
%1 = input(1)
%2 = input(2)
%3 = input(3)
%5 = cos(%0)
%6 = mul(%3, %5)
%8 = const(9.81)
%9 = mul(%8, %3)
%10 = sin(%0)
%11 = mul(%9, %10)
%12 = sub(%2, %11)
%13 = mul(%3, %3)
%14 = recip(%13)
%15 = mul(%12, %14)
%16 = mul(%8, %6)
%18 = const(0.5)
%19 = mul(%18, %13)
%20 = mul(%1, %1)
%21 = mul(%19, %20)
%22 = sub(%21, %16)
return %15, %22
"""


def test_a_program_prints_its_symbols():
    """One per line, without those that no output needs."""
    assert f'\n{trace(pendulum, SHAPES)}\n' == PRINTED


def test_a_program_lists_its_blocks_and_counts_its_operations():
    """Names and sizes in, shapes out; fused products are counted with their sum."""
    program = trace(pendulum, SHAPES)
    assert program.inputs == (('q', 1), ('v', 1), ('tau', 1), ('length', 1))
    assert program.shapes == ((1,), ())
    assert count(program) == {'mul': 9, 'add': 2, 'div': 1, 'sin': 1, 'cos': 1}
    assert instructions(program) == 9 + 2 + 1 - 2


def test_the_interpreter_gives_the_numbers_of_the_function():
    """For each output."""
    values = 0.3, -0.4, 0.5, 1.7
    got = evaluate(trace(pendulum, SHAPES), values)
    for part, want in zip(got, pendulum(*np.array(values).reshape(4, 1))):
        np.testing.assert_allclose(part, want, rtol=1e-14)


def test_a_function_may_return_constants_inputs_and_repetitions():
    """No operation at all is a program too."""
    program = trace(lambda x: np.array([x[1], 2.0, x[1], 0.0]), {'x': (2,)})
    check(program)
    assert instructions(program) == 0
    assert evaluate(program, [5.0, 7.0])[0].tolist() == [7.0, 2.0, 7.0, 0.0]


@pytest.mark.parametrize('table', [EVALUATE, {**LOWER, Op.SIN: None, Op.COS: None}],
                         ids=['EVALUATE', 'LOWER'])
def test_every_operation_has_a_lowering(table):
    """Sine and cosine are lowered in pairs, apart from LOWER."""
    assert set(table) == set(Op) - {Op.CONST, Op.INPUT}


def test_every_operation_has_an_arity():
    """The table is complete."""
    everything = trace(lambda x: np.array([x[0] + x[1], x[0] - x[1], x[0] * x[1], -x[0], 1 / x[0],
                                           x[0].sqrt(), x[0].sin(), x[0].cos(), x[0].step()]),
                       {'x': (2,)})
    check(everything)
    assert {symbol.op for symbol in everything.symbols} == set(Op) - {Op.CONST}


def broken(change):
    """Return the program of x0 x1 - x0, with its list of symbols or outputs changed."""
    program = trace(lambda x: x[:1] * x[1] - x[0], {'x': (2,)})
    return change(program, program.symbols)


BROKEN = {
    'undefined': lambda program, s: program._replace(symbols=(s[0], s[1], s[3], s[2])),
    'an output is missing': lambda program, s: program._replace(symbols=s[:-1]),
    'wrong arity': lambda program, s: program._replace(
        symbols=(*s[:-1], Symbol(s[3].graph, 3, Op.MUL, s[3].args[:1]))),
    'no such input': lambda program, s: program._replace(inputs=(('x', 1),)),
}


@pytest.mark.parametrize('message', BROKEN)
def test_a_broken_program_is_refused(message):
    """The line at fault is in the message."""
    check(broken(lambda program, _: program))
    with pytest.raises(AssertionError, match=message):
        check(broken(BROKEN[message]))


def test_a_branch_in_the_function_is_refused():
    """The message says what to use instead."""
    with pytest.raises(TracingError, match='branch on the model only'):
        trace(lambda x: x if x[0] > 0 else -x, {'x': (1,)})


def test_a_trace_of_too_many_symbols_is_given_up():
    """At the symbol that is one too many, not at the end."""
    def powers(x):
        for _ in range(20):
            x = x * x
        return x
    assert len(trace(powers, {'x': (1,)}, most=21).symbols) == 21
    with pytest.raises(TooManySymbols, match='more than 20'):
        trace(powers, {'x': (1,)}, most=20)


def test_a_program_is_freed_without_the_garbage_collector():
    """It collects nothing while a kernel is compiled, and a graph has hundreds of megabytes."""
    program = trace(lambda x: x * x, {'x': (3,)})
    before = sum(isinstance(each, Symbol) for each in gc.get_objects())
    gc.disable()
    try:
        del program
        assert sum(isinstance(each, Symbol) for each in gc.get_objects()) <= before - 6
    finally:
        gc.enable()


def test_graphs_do_not_share_symbols():
    """Two traces, also at the same time, are independent."""
    one, other = Graph(), Graph()
    one.input(0)
    assert other.input(0).number == 0
    assert one.input(0) is not other.input(0)


@pytest.mark.parametrize('tree', [random_trees.TREES[1], random_trees.TREES[6]], ids=str)
def test_every_program_gives_the_numbers_of_its_algorithm(tree):
    """Every kernel, with payloads, wrenches and frames, on trees with every kind of joint."""
    specimen = random_trees.make(tree, compile=False)
    robot = specimen.robot.with_payload('box', 'l4', 2.0, (0.1, 0.2, -0.1), np.eye(3) * 0.1)
    for call in kernel_calls(robot, specimen, frame='l5', with_wrenches=(True,)):
        program = program_of(robot.model, call.key)
        check(program)
        uniforms = map(np.ravel, uniform_values(robot.model, call.key))
        inputs = np.concatenate([call.flat(robot.model), *uniforms])
        assert sum(size for _, size in program.inputs) == inputs.size
        *results, margin = evaluate(program, inputs)
        assert (margin > 0.0).all()
        for got, want in zip(results, call.results(robot), strict=True):
            assert relative(got, want) < EXACT_MATHS, call
