"""Test that algorithms run on any kind of number, as the compiler and complex steps require."""

from functools import partial

import numpy as np
import pytest
from support import random_loops, random_trees
from support.differences import relative
from support.opaque_numbers import Opaque, hide, show
from support.tolerances import EXACT_MATHS

from dynamics_node.algorithms import energy, jacobian, kinematics
from dynamics_node.algorithms.center_of_mass_motion import center_of_mass_motion
from dynamics_node.algorithms.christoffel_symbols import christoffel_symbols
from dynamics_node.algorithms.coriolis_matrix import coriolis_matrix
from dynamics_node.algorithms.energy_regressor import energy_regressor
from dynamics_node.algorithms.forward_dynamics import forward_dynamics
from dynamics_node.algorithms.forward_dynamics_derivatives import forward_dynamics_derivatives
from dynamics_node.algorithms.forward_dynamics_directional_derivative import (
    forward_dynamics_directional_derivative,
)
from dynamics_node.algorithms.frame_acceleration import frame_acceleration
from dynamics_node.algorithms.friction import friction_slope, friction_torque
from dynamics_node.algorithms.generalised_momentum import generalised_momentum
from dynamics_node.algorithms.gravity_stiffness import gravity_stiffness
from dynamics_node.algorithms.hybrid_dynamics import hybrid_dynamics
from dynamics_node.algorithms.hybrid_dynamics_derivatives import hybrid_dynamics_derivatives
from dynamics_node.algorithms.hybrid_dynamics_directional_derivative import (
    blocks_derivative,
    hybrid_dynamics_directional_derivative,
)
from dynamics_node.algorithms.inverse_dynamics import bias_torque, gravity_torque, inverse_dynamics
from dynamics_node.algorithms.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from dynamics_node.algorithms.inverse_dynamics_directional_derivative import (
    inverse_dynamics_directional_derivative,
)
from dynamics_node.algorithms.joint_reactions import joint_reactions
from dynamics_node.algorithms.kinematics_derivatives import (
    frame_pose_derivatives,
    frame_twist_derivatives,
)
from dynamics_node.algorithms.link_energies import link_energies
from dynamics_node.algorithms.mass_matrix import mass_matrix, mass_matrix_inverse
from dynamics_node.algorithms.mass_matrix_derivatives import mass_matrix_derivatives
from dynamics_node.algorithms.parameter_direction import ParameterDirection, complete
from dynamics_node.algorithms.regressor import (
    armature_regressor,
    friction_regressor,
    regressor,
)
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.constrained.rows import rows as constraint_rows

pytestmark = pytest.mark.long


def along(algorithm):
    """Return an algorithm's derivative along a direction that comes as one array, the last."""
    def derivative(model, *arguments):
        *arguments, wrenches, rates = arguments
        return np.ravel(algorithm(model, *arguments, _direction(model, rates), wrenches))
    return derivative


def _direction(model, rates):
    shapes = [rate.shape for rate in complete(model, ParameterDirection())]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return ParameterDirection(*(part.reshape(shape)
                       for part, shape in zip(np.split(rates, ends[:-1]), shapes)))


def _some_given(hybrid):
    def result(model, q, v, a, tau, direction, wrenches):
        given = np.arange(model.nv) % 3 != 0
        return hybrid(model, q, v, a, tau, given, direction, wrenches)
    return result


def together(algorithm):
    """Return an algorithm that gives all its results in one array."""
    return lambda *args: np.concatenate([np.ravel(part) for part in algorithm(*args)])


def _chosen_by_numbers(model, q, v, a, tau, w):
    """Return the hybrid derivatives for `given` of the same kind of numbers as all else."""
    given = np.arange(model.nv) % 3 != 0
    given = hide(given) if a.dtype == object else given
    return hybrid_dynamics_derivatives(model, q, v, a, tau, given, w)


LOOPS = random_loops.every_kind(np.random.default_rng(0))

ALGORITHMS = {
    'inverse_dynamics': (inverse_dynamics, 'qvaw'),
    'forward_dynamics': (lambda *args: np.concatenate(forward_dynamics(*args)), 'qvtw'),
    'hybrid_dynamics': (None, 'qvatw'),
    'inverse_dynamics_directional_derivative': (along(inverse_dynamics_directional_derivative),
                                                'qvawd'),
    'forward_dynamics_directional_derivative': (along(forward_dynamics_directional_derivative),
                                                'qvtwd'),
    'hybrid_dynamics_directional_derivative': (
        along(_some_given(hybrid_dynamics_directional_derivative)), 'qvatwd'),
    'hybrid_dynamics_along_by_blocks': (along(_some_given(blocks_derivative)), 'qvatwd'),
    'inverse_dynamics_derivatives': (together(inverse_dynamics_derivatives), 'qvaw'),
    'forward_dynamics_derivatives': (together(forward_dynamics_derivatives), 'qvtw'),
    'hybrid_dynamics_derivatives': (together(_chosen_by_numbers), 'qvatw'),
    'christoffel_symbols': (christoffel_symbols, 'q'),
    'mass_matrix_derivatives': (mass_matrix_derivatives, 'q'),
    'gravity_stiffness': (gravity_stiffness, 'q'),
    'friction_slope': (friction_slope, 'v'),
    'frame_pose_derivatives': (partial(frame_pose_derivatives, frame='l5'), 'q'),
    'frame_twist_derivatives': (together(partial(frame_twist_derivatives, frame='l5')), 'qv'),
    'regressor': (regressor, 'qva'),
    'friction_regressor': (friction_regressor, 'v'),
    'armature_regressor': (armature_regressor, 'a'),
    'energy_regressor': (lambda *args: np.concatenate(energy_regressor(*args)), 'qv'),
    'generalised_momentum': (lambda *args: np.concatenate(generalised_momentum(*args)), 'qv'),
    'center_of_mass_motion': (together(center_of_mass_motion), 'qv'),
    'body_poses': (kinematics.body_pose_matrices, 'q'),
    'joint_reactions': (together(joint_reactions), 'qvaw'),
    'link_energies': (together(link_energies), 'qv'),
    'frame_acceleration': (partial(frame_acceleration, frame='l5'), 'qva'),
    'constraint_rows': (together(partial(constraint_rows, constraints=LOOPS)), 'qv'),
    'mass_matrix': (mass_matrix, 'q'),
    'mass_matrix_inverse': (lambda *args: mass_matrix_inverse(*args).matrix, 'q'),
    'coriolis_matrix': (coriolis_matrix, 'qv'),
    'gravity_torque': (gravity_torque, 'q'),
    'bias_torque': (bias_torque, 'qv'),
    'friction_torque': (friction_torque, 'v'),
    'kinetic_energy': (energy.kinetic_energy, 'qv'),
    'potential_energy': (energy.potential_energy, 'q'),
    'center_of_mass': (energy.center_of_mass, 'q'),
    'momentum': (energy.momentum, 'qv'),
    'frame_pose': (partial(kinematics.frame_pose, frame='l5'), 'q'),
    'frame_twist': (partial(kinematics.frame_twist, frame='l5'), 'qv'),
    'jacobian': (partial(jacobian.jacobian, frame='l5'), 'q'),
    'jacobian_rate': (partial(jacobian.jacobian_rate, frame='l5'), 'qv'),
}


# Every algorithm on both bases, and with mimic joints and without: either of two pairs in turn.
PAIRS = [[tree for tree in random_trees.one_of_each_sort()
          if ((tree.base == 'fixed') == tree.mimic) == chosen] for chosen in (True, False)]
CASES = [(name, tree) for k, name in enumerate(ALGORITHMS) for tree in PAIRS[k % len(PAIRS)]]


@pytest.fixture(params=ALGORITHMS)
def algorithm_call(request, tree):
    """An algorithm with arguments on a random tree."""
    robot, rng, q, v, a, tau, wrenches = tree
    algorithm, letters = ALGORITHMS[request.param]
    if algorithm is None:
        given = rng.random(robot.nv) < 0.5

        def algorithm(model, q, v, a, tau, w):
            return np.concatenate(hybrid_dynamics(model, q, v, a, tau, given, w))
    rates = rng.normal(size=sum(rate.size for rate in complete(robot.model, ParameterDirection())))
    everything = {'q': q, 'v': v, 'a': a, 't': tau, 'w': body_wrenches(robot.model, wrenches),
                  'd': rates}
    return algorithm, robot.model, [everything[letter] for letter in letters]


@pytest.mark.parametrize(('algorithm_call', 'tree'), CASES, ids=str, indirect=True)
def test_no_algorithm_depends_on_the_value_of_a_number(algorithm_call):
    """The same numbers come out of object arrays, so tracing sees the whole computation.

    The trees have every joint type, special axes and arbitrary ones.
    """
    algorithm, model, arguments = algorithm_call
    expected = algorithm(model, *arguments)
    got = algorithm(model, *(hide(argument) for argument in arguments))
    assert relative(show(got), np.ravel(expected)) < EXACT_MATHS


@pytest.mark.parametrize('tree', random_trees.one_of_each_sort()[-1:], ids=str, indirect=True)
def test_run_time_constants_may_be_symbols_too(algorithm_call):
    """Gravity, damping, friction, armature are data: a kernel takes them as inputs.

    One tree, with a floating base and mimic joints: the constants are those of every joint type.
    """
    algorithm, model, arguments = algorithm_call
    expected = algorithm(model, *arguments)
    symbolic = model.with_(**{key: hide(getattr(model, key))
                              for key in ('gravity', 'damping', 'friction', 'armature')})
    got = algorithm(symbolic, *(hide(argument) for argument in arguments))
    assert relative(show(got), np.ravel(expected)) < EXACT_MATHS


def test_complex_numbers_carry_derivatives(tree):
    """Im ID(q, v, a + ih e)/h is a column of M: no abs, no conjugate, no cast to float."""
    robot, _, q, v, a, *_ = tree
    h = 1e-30
    M = robot.mass_matrix(q)
    for k in (0, robot.nv - 1):
        step = a.astype(complex)
        step[k] += 1j * h
        assert relative(inverse_dynamics(robot.model, q, v, step).imag / h, M[:, k]) < EXACT_MATHS


def test_opaque_numbers_refuse_comparison_and_conversion():
    """The tool of the tests above works."""
    with pytest.raises(TypeError, match='looked at a value'):
        bool(random_trees and Opaque(1.0) > 0)
    with pytest.raises(TypeError, match='looked at a value'):
        np.zeros(1)[0] = Opaque(1.0)
