"""Test the checks of arrays that are given for results."""

import numpy as np
import pytest

from dynamics_node import DynamicsError
from dynamics_node.robot.out_arrays import check_out, written

SHAPES = [(3,), (3, 3)]


def test_one_result_takes_an_array_and_several_a_tuple():
    one, two = np.empty((5, 3)), np.empty((5, 3, 3))
    assert check_out(one, SHAPES[:1], 5, {}) is one
    assert check_out((one, two), SHAPES, 5, {}) == (one, two)
    assert check_out(np.empty(3), SHAPES[:1], None, {}).shape == (3,)
    assert check_out(np.empty((0, 3)), SHAPES[:1], 0, {}).shape == (0, 3)


@pytest.mark.parametrize(('out', 'words'), [
    ([0.0], 'out is of type list of 1; expected a float64 array of shape (5, 3)'),
    (np.empty((5, 3), np.float32), 'out has shape (5, 3) and type float32'),
    (np.empty((5, 3), '>f8'), 'type >f8'),
    (np.empty((4, 3)), 'out has shape (4, 3)'),
    (np.empty((3, 5)).T, 'out is not C-contiguous'),
    (np.broadcast_to(0.0, (5, 3)), 'out is read-only')],
    ids=['list', 'float32', 'big-endian', 'fewer', 'transposed', 'read-only'])
def test_an_array_that_does_not_fit_is_refused_with_what_would(out, words):
    with pytest.raises(DynamicsError) as error:
        check_out(out, SHAPES[:1], 5, {})
    assert words in str(error.value)


@pytest.mark.parametrize('out', [np.empty((5, 3)), [np.empty((5, 3)), np.empty((5, 3, 3))],
                                 (np.empty((5, 3)),)], ids=['array', 'list', 'one'])
def test_several_results_need_a_tuple_of_as_many(out):
    with pytest.raises(DynamicsError, match='expected a tuple of 2 arrays'):
        check_out(out, SHAPES, 5, {})


def test_the_array_of_a_tuple_that_is_wrong_is_named():
    with pytest.raises(DynamicsError, match=r'out\[1\] has shape \(3,\)'):
        check_out((np.empty((5, 3)), np.empty(3)), SHAPES, 5, {})


def test_shared_memory_is_refused():
    memory = np.zeros((10, 3))
    with pytest.raises(DynamicsError, match='out shares memory with v'):
        check_out(memory[4:9], SHAPES[:1], 5, {'q': np.zeros((5, 3)), 'v': memory[:5]})
    with pytest.raises(DynamicsError, match=r'out\[1\] shares memory with out\[0\]'):
        check_out((memory[:5], memory[4:9]), [(3,), (3,)], 5, {})
    assert check_out(memory[5:], SHAPES[:1], 5, {'v': memory[:5]}).base is memory


def test_results_are_copied_to_the_given_arrays():
    a, b = np.ones(3), np.eye(3)
    assert written(a, None) is a
    one, two = np.empty(3), np.empty((3, 3))
    assert written(a, one) is one
    assert written((a, b), (one, two)) == (one, two)
    np.testing.assert_array_equal(one, a)
    np.testing.assert_array_equal(two, b)
