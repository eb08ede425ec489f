"""Test the instruction counts of kernels against pinned numbers.

Floating-point instructions after fusing multiply-adds; sines and cosines apart. Gravity and the
rotors' inertias are inputs of every kernel. Kernels keep the order of the algorithm, so that also
decides how many values wait for their last reader: those beyond the registers are spilled.
"""

from dataclasses import replace

import pytest
from support.real_robots import ROBOTS

from dynamics_node import Robot
from dynamics_node.compiler.graph import Op
from dynamics_node.compiler.operation_counts import instructions
from dynamics_node.compiler.trace import trace
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels import build
from dynamics_node.kernels.build import program_of
from dynamics_node.kernels.keys import key_of
from dynamics_node.kernels.table import ALL_KERNELS
from dynamics_node.kernels.traced_functions import functions

FILES = {str(example): example for example in ROBOTS}
KERNELS = ('inverse_dynamics', 'mass_matrix', 'forward_dynamics', 'gravity_torque',
             'mass_matrix_inverse', 'coriolis_matrix', 'inverse_dynamics_derivatives',
             'forward_dynamics_derivatives', 'regressor', 'joint_reactions', 'link_energies')
PINNED = {
    'panda': (479, 289, 885, 82, 497, 1049, 2060, 3142, 1193, 605, 410),
    'ur5': (265, 134, 459, 33, 258, 485, 999, 1622, 940, 320, 201),
    'arm7': (328, 173, 605, 44, 354, 644, 1386, 2375, 1147, 390, 256),
}
WAITING = {'panda': 57, 'talos_fixed': 174}   # values at once, at most, of inverse dynamics
# The best that is known (hash-consed, regrouped, the robot's numbers all constants).
BEST = {
    'panda': {'inverse_dynamics': 453, 'mass_matrix': 311, 'forward_dynamics': 892,
              'gravity_torque': 75, 'mass_matrix_inverse': 521,
              'inverse_dynamics_derivatives': 3111, 'forward_dynamics_derivatives': 4762},
    'ur5': {'inverse_dynamics': 283, 'mass_matrix': 243, 'forward_dynamics': 614,
            'inverse_dynamics_derivatives': 1965, 'forward_dynamics_derivatives': 3437},
}


@pytest.fixture(scope='module')
def count():
    """Return the instructions of a robot's kernel, each traced once."""
    robots = {
        'panda': Robot.from_urdf(FILES['panda'].urdf, friction=False, compile=False,
                                 locked={'panda_finger_joint1': 0.0}),
        'ur5': Robot.from_urdf(FILES['ur5'].urdf, friction=False, compile=False),
        'arm7': Robot.from_urdf(ARM7, compile=False),
    }
    known = {}

    def count(name, kernel):
        if (name, kernel) not in known:
            model = robots[name].model
            known[name, kernel] = instructions(program_of(model, key_of(model, kernel)))
        return known[name, kernel]
    return count


@pytest.mark.parametrize('robot', PINNED)
def test_no_kernel_needs_more_instructions_than_pinned(count, robot):
    """Where one needs fewer, lower the pin."""
    for kernel, pinned in zip(KERNELS, PINNED[robot], strict=True):
        assert count(robot, kernel) <= pinned, kernel


@pytest.mark.parametrize('robot', BEST)
def test_kernels_need_at_most_a_tenth_more_than_the_best_known(count, robot):
    """Although those have gravity as a constant, no rotors, and no dtau/da."""
    for kernel, best in BEST[robot].items():
        assert count(robot, kernel) <= 1.1 * best, kernel


def test_the_order_of_the_algorithms_does_not_matter(monkeypatch):
    """The shortest program is found from either end, though a longer one is given up early."""
    model = Robot.from_urdf(ARM7, compile=False).model
    double = Robot.from_urdf(FILES['double_pendulum'].urdf, compile=False).model
    for each in (model, double):   # of which the first and the last are shorter
        for kernel in ('forward_dynamics', 'inverse_dynamics_derivatives'):
            key = key_of(each, kernel)
            monkeypatch.setattr(build, 'LONG_CHAIN', 50)
            usual = instructions(program_of(each, key))
            monkeypatch.setattr(build, 'LONG_CHAIN', 0)
            assert instructions(program_of(each, key)) == usual


@pytest.mark.parametrize('robot', ['ur5', 'solo12', 'talos_fixed'])   # without mimic joints
@pytest.mark.parametrize('base', ['fixed', 'floating'])
def test_forward_dynamics_by_the_mass_matrix_need_at_least_its_factors(robot, base):
    """So they are not traced for long chains, where the factors alone need more than the best."""
    model = Robot.from_urdf(FILES[robot].urdf, base=base, compile=False).model
    key = key_of(model, 'forward_dynamics')
    program = trace(functions(model, key)[0], build._shapes(model, key))
    assert 0 < key.spec.least(model) < instructions(program)


@pytest.mark.parametrize('least, traced', [(0, 2), (10 ** 6, 1)])
def test_an_algorithm_that_cannot_be_shorter_is_not_traced(monkeypatch, least, traced):
    """Where the robot is a long chain."""
    model = Robot.from_urdf(ARM7, compile=False).model
    key = key_of(model, 'forward_dynamics')
    monkeypatch.setattr(build, 'LONG_CHAIN', 0)   # with one form of the inertias
    monkeypatch.setitem(ALL_KERNELS, key.kernel, replace(key.spec, least=lambda model: least))
    build._forms(model, key)
    traces = []
    monkeypatch.setattr(build, 'trace', lambda *given: traces.append(given) or trace(*given))
    program_of(model, key)
    assert len(traces) == traced


def test_derivatives_of_large_robots_have_the_form_of_the_shorter_inverse_dynamics(monkeypatch):
    """Traced once, and as short as the better of both forms."""
    model = Robot.from_urdf(ARM7, compile=False).model
    key = key_of(model, 'inverse_dynamics_directional_derivative')
    assert len(build._forms(model, key)) == 2
    usual = instructions(program_of(model, key))
    monkeypatch.setattr(build, 'ONE_FORM', model.nv - 1)
    assert len(build._forms(model, key)) == 1
    assert instructions(program_of(model, key)) == usual
    assert len(build._forms(model, key_of(model, 'inverse_dynamics'))) == 2
    assert len(build._forms(model, key_of(model, 'regressor'))) == 1    # depends on no inertia


@pytest.mark.parametrize('robot', WAITING)
def test_no_kernel_spills_more_values_than_pinned(robot):
    """Where there are fewer, lower the pin; TALOS took half as long again with 347."""
    model = Robot.from_urdf(FILES[robot].urdf, friction=False, compile=False).model
    program = program_of(model, key_of(model, 'inverse_dynamics'))
    calculated = [symbol for symbol in program.symbols
                  if symbol.op in (Op.ADD, Op.SUB, Op.MUL, Op.NEG, Op.RECIP, Op.SQRT)]
    last_reader = {arg.number: symbol.number for symbol in calculated for arg in symbol.args}
    waiting, most = set(), 0
    for symbol in calculated:
        waiting = {number for number in waiting if last_reader[number] > symbol.number}
        if symbol.number in last_reader:
            waiting.add(symbol.number)
        most = max(most, len(waiting))
    assert most <= WAITING[robot]
