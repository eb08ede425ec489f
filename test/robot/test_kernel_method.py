"""Test `out` of the methods that a kernel takes the place of: the same bits, in given arrays."""

import inspect
import threading

import numpy as np
import pytest

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels.table import SPECS
from dynamics_node.robot.kernel_method import KernelMethod, takes_out

WITH_OUT = [spec for spec in SPECS if takes_out(spec)]
WRENCHES = {'link_7': [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]}


@pytest.fixture(scope='module')
def compiled(kernels):
    return Robot.from_urdf(ARM7).compile(wait=True, wrenches=True, derivatives=True)


@pytest.fixture(params=['compiled', 'numpy'])
def robot(request):
    return request.getfixturevalue('compiled') if request.param == 'compiled' else (
        Robot.from_urdf(ARM7, compile=False))


def arguments_of(spec, n):
    rng = np.random.default_rng(3)
    shape = (7,) if n is None else (n, 7)
    return {name: 0.5 * rng.normal(size=shape) for name in spec.inputs}


def listed(result):
    return list(result) if isinstance(result, tuple) else [result]


def alike(result):
    """Return arrays like those of a result, of other values."""
    arrays = tuple(np.full_like(part, -7.5) for part in listed(result))
    return arrays if isinstance(result, tuple) else arrays[0]


def test_methods_take_out_where_their_kernel_computes_all():
    """One rule for all of them: the declaration of the kernel says it."""
    for spec in SPECS:
        method = inspect.getattr_static(Robot, spec.name, None)
        assert isinstance(method, KernelMethod) == takes_out(spec), spec.name
        if method is not None:
            names = inspect.signature(getattr(Robot, spec.name)).parameters
            assert ('out' in names) == takes_out(spec), spec.name


@pytest.mark.parametrize('spec', WITH_OUT, ids=lambda spec: spec.name)
@pytest.mark.parametrize('n', [None, 3])
def test_results_are_the_same_bits_in_given_arrays(robot, spec, n):
    """By position, by name, and with wrenches where the method takes them."""
    method, states = getattr(robot, spec.name), arguments_of(spec, n)
    for named in ({}, {'wrenches': WRENCHES}) if spec.wrenches else ({},):
        want = method(**states, **named)
        for call in (lambda out, named=named: method(*states.values(), **named, out=out),
                     lambda out, named=named: method(**states, **named, out=out),
                     lambda out, named=named: method(*(
                         part.tolist() for part in states.values()), **named, out=out)):
            given = alike(want)
            got = call(given)
            assert type(got) is type(want)
            assert [*map(id, listed(got))] == [*map(id, listed(given))]
            for array, part in zip(listed(given), listed(want)):
                np.testing.assert_array_equal(array, part)


def test_a_result_may_be_given_again(robot):
    """A NamedTuple of results is a tuple of arrays too."""
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, 7))
    first = robot.inverse_dynamics_derivatives(q, v, a)
    again = robot.inverse_dynamics_derivatives(2 * q, v, a, out=first)
    assert again.dq is first.dq
    np.testing.assert_array_equal(again.dq, robot.inverse_dynamics_derivatives(2 * q, v, a).dq)


def test_single_states_beside_batches_are_repeated(robot):
    q, v, a = np.random.default_rng(0).normal(size=(3, 5, 7))
    given = np.empty((5, 7))
    assert robot.inverse_dynamics(q, v[0], a[0], out=given) is given
    np.testing.assert_array_equal(given, robot.inverse_dynamics(q, v[0], a[0]))


def test_an_empty_batch_takes_an_empty_array(robot):
    given = np.empty((0, 7, 7))
    assert robot.mass_matrix(np.empty((0, 7)), out=given) is given


WRONG = {
    'float32': np.empty((3, 7, 7), np.float32), 'column': np.empty((3, 7, 6)),
    'fewer': np.empty((2, 7, 7)), 'single': np.empty((7, 7)), 'list': [[0.0]], 'number': 1.0,
    'transposed': np.empty((3, 7, 7)).transpose(0, 2, 1), 'tuple': (np.empty((3, 7, 7)),),
    'text': 'text', 'read-only': np.broadcast_to(0.0, (3, 7, 7))}


@pytest.mark.parametrize('wrong', WRONG)
def test_an_array_that_does_not_fit_is_refused(robot, wrong):
    with pytest.raises(DynamicsError, match=r'^out .*float64 array of shape \(3, 7, 7\)'):
        robot.mass_matrix(np.zeros((3, 7)), out=WRONG[wrong])


def test_the_memory_of_an_argument_is_refused(robot):
    memory = np.zeros((2, 3, 7))
    with pytest.raises(DynamicsError, match='out shares memory with v'):
        robot.inverse_dynamics(memory[0], memory[1], np.zeros((3, 7)), out=memory[1])
    assert robot.gravity_torque(memory[0], out=memory[1]).base is memory


def test_options_that_the_kernel_does_not_have_are_refused(robot):
    q, v, a = np.zeros((3, 7))
    given = np.empty((7, 70))
    assert robot.regressor(q, v, a, friction=False, out=given) is given
    with pytest.raises(DynamicsError, match='out is given with friction; expected only q, v, a'):
        robot.regressor(q, v, a, friction=True, out=given)


def test_invalid_numbers_are_refused_as_without_out(robot):
    q = np.zeros((3, 7))
    q[1, 2] = np.nan
    with pytest.raises(DynamicsError, match='q'):
        robot.mass_matrix(q, out=np.empty((3, 7, 7)))
    with pytest.raises(TypeError):
        robot.mass_matrix(out=np.empty((3, 7, 7)))
    with pytest.raises(TypeError):
        robot.hybrid_dynamics(*np.zeros((4, 7)), [True] * 7, out=np.empty(7))


def test_batches_of_threads_write_their_own_arrays(compiled):
    """Of one robot, at the same time, each batch by several threads itself."""
    batches = np.random.default_rng(1).normal(size=(4, 5000, 7))
    given = np.empty((4, 5000, 7, 7))

    def compute(k):
        for _ in range(3):
            compiled.mass_matrix(batches[k], out=given[k])
    threads = [threading.Thread(target=compute, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        np.testing.assert_array_equal(given[k], compiled.mass_matrix(batches[k]))


def test_a_file_in_memory_takes_results(compiled, tmp_path):
    """A memmap, for results that are larger than the memory."""
    q = np.random.default_rng(1).normal(size=(100, 7))
    file = np.memmap(tmp_path / 'mass.bin', float, 'w+', shape=(100, 7, 7))
    assert compiled.mass_matrix(q, out=file) is file
    file.flush()
    np.testing.assert_array_equal(np.fromfile(tmp_path / 'mass.bin').reshape(100, 7, 7),
                                  compiled.mass_matrix(q))
