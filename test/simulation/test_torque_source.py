"""Test the torques of a simulation: constant, over time, by a function."""

import numpy as np
import pytest

from dynamics_node import DynamicsError
from dynamics_node.simulation.torque_source import torque_function

TIME = np.array([1.0, 2.0, 4.0])
ONE, MANY = np.zeros(2), np.zeros((3, 2))


def test_a_constant_has_the_shape_of_the_velocity():
    source = torque_function([1.0, 2.0], TIME, 2, 3)
    np.testing.assert_array_equal(source(1.5, MANY, MANY), [[1.0, 2.0]] * 3)


@pytest.mark.parametrize(('t', 'wanted'), [(1.0, 0.0), (1.5, 5.0), (2.0, 10.0), (3.5, 2.5),
                                           (4.0, 0.0)])
def test_a_table_is_linear_between_its_times(t, wanted):
    table = np.outer([0.0, 10.0, 0.0], [1.0, -1.0])
    np.testing.assert_allclose(torque_function(table, TIME, 2, None)(t, ONE, ONE),
                               [wanted, -wanted])
    each = np.stack([table, 2.0 * table, 3.0 * table], axis=1)
    np.testing.assert_allclose(torque_function(each, TIME, 2, 3)(t, MANY, MANY)[:, 0],
                               np.multiply([1.0, 2.0, 3.0], wanted))


def test_a_table_of_one_time_is_constant():
    source = torque_function([[3.0, 4.0]], TIME[:1], 2, None)
    np.testing.assert_array_equal(source(1.0, ONE, ONE), [3.0, 4.0])


def test_a_function_gets_time_and_state():
    source = torque_function(lambda t, q, v: t + q + 2.0 * v, TIME, 2, 3)
    np.testing.assert_array_equal(source(0.5, MANY + 1.0, MANY + 2.0), MANY + 5.5)


@pytest.mark.parametrize('value', [[1.0], [[1.0, 2.0]] * 2, 'x', None, [np.nan, 0.0]])
def test_bad_torques_are_refused_by_name(value):
    with pytest.raises(DynamicsError, match='^torque'):
        torque_function(value, TIME, 2, None)
    with pytest.raises(DynamicsError, match=r'^torque\(t, q, v\)'):
        torque_function(lambda t, q, v: value, TIME, 2, None)(0.0, ONE, ONE)


def test_a_batch_of_torques_needs_a_batch_of_states():
    with pytest.raises(DynamicsError, match='torque must have shape'):
        torque_function(np.zeros((3, 5, 2)), TIME, 2, None)
