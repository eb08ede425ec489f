"""Test the argument checks: sizes, numbers, batches, frames, wrenches, refused by name."""

from fractions import Fraction

import numpy as np
import pytest
from support.tolerances import EXACT_MATHS
from support.urdf_pieces import EVERYTHING

from dynamics_node import DynamicsError, Robot, UnknownName, checks

ROBOT = Robot.from_urdf(EVERYTHING)
NQ, NV = ROBOT.nq, ROBOT.nv  # 13 and 12: a quaternion among them
QUATERNION = slice(9, 13)    # of the joint 'free' in q
Q, V, A, TAU = (ROBOT.random_configuration(1), *np.random.default_rng(2).normal(size=(3, NV)))
GIVEN = np.arange(NV) % 2 == 0


def refused(call, *words):
    """Check that a call raises a DynamicsError that contains these words."""
    with pytest.raises(DynamicsError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


def same(result, expected):
    """Check that two results are equal but for the order of additions."""
    np.testing.assert_allclose(result, expected, rtol=EXACT_MATHS, atol=EXACT_MATHS)


def torques(q=Q, v=V, a=A, wrenches=None):
    return ROBOT.inverse_dynamics(q, v, a, wrenches)


@pytest.mark.parametrize('value', [
    np.zeros(NV + 2), np.zeros(NV - 1), np.zeros(0), 0.0, np.zeros((3, NV + 2)),
    np.zeros((NV, 3)), np.zeros((2, 3, NV)), np.zeros((0, NV + 2)), None])
def test_wrong_sizes_are_refused(value):
    """The message has the argument, its size and the expected one."""
    refused(lambda: torques(v=value), 'v must have shape (12,) or (N, 12)', 'got (')
    refused(lambda: torques(a=value), 'a must have shape (12,) or (N, 12)', 'got (')
    refused(lambda: ROBOT.forward_dynamics(Q, V, value), 'tau must have shape (12,)')
    refused(lambda: ROBOT.gravity_torque(value), 'q must have shape (13,) or (N, 13)')


@pytest.mark.parametrize('value', [
    {}, 'fast', 'x' * 1000, ['1'] * NV, [b'1'] * NV, ['a'] * NV, [1j] * NV, np.ones(NV) * 1j,
    [[1.0], [1.0, 2.0]], [10 ** 400] * NV, [object()] * NV, np.zeros(NV, dtype='M8[s]')])
def test_values_that_are_no_real_numbers_are_refused(value):
    """Strings, complex numbers, rows of different length."""
    with pytest.raises(DynamicsError, match='v must hold real numbers') as caught:
        torques(v=value)
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf, None])
def test_entries_that_are_not_finite_are_named(bad):
    """By index, in single states and in batches; None is nan to NumPy."""
    v = [*V[:3], bad, *V[4:]]
    refused(lambda: torques(v=v), 'v[3] is', 'finite')
    refused(lambda: torques(a=[list(A), v]), 'a[1, 3] is', 'finite')
    refused(lambda: torques(wrenches={'tool': [0, 0, bad, 0, 0, 0]}), "wrenches['tool'][2] is")


@pytest.mark.parametrize('convert', [
    list, tuple, np.float32, lambda x: np.array(x, dtype=object), np.ma.array,
    lambda x: np.repeat(x, 2)[::2], lambda x: np.asfortranarray(np.stack([x, x]))[1]])
def test_numbers_may_be_in_any_container(convert):
    """Lists, tuples, other precisions, strided arrays."""
    v = np.round(V * 8) / 8  # exact in single precision
    same(torques(v=convert(v)), torques(v=v))


def test_whole_numbers_and_fractions_are_numbers():
    """Integers, booleans, fractions, unsigned bytes."""
    for ones in ([1] * NV, [True] * NV, [Fraction(1)] * NV, np.ones(NV, dtype=np.uint8)):
        same(torques(v=ones), torques(v=np.ones(NV)))


def test_inputs_are_not_written_and_outputs_are_new():
    """No result shares memory with an argument."""
    q, v, a = Q.copy(), V.copy(), A.copy()
    q[QUATERNION] *= 1.0005
    arguments = (q.copy(), v.copy(), a.copy())
    results = [torques(q, v, a), *ROBOT.hybrid_dynamics(q, v, a, TAU, GIVEN),
               ROBOT.integrate(q, np.zeros(NV))]
    for argument, before in zip((q, v, a), arguments):
        np.testing.assert_array_equal(argument, before)
        assert not any(np.shares_memory(argument, result) for result in results)


# Batches ----------------------------------------------------------------------------------------

@pytest.mark.parametrize('batched', [
    (), ('q',), ('v',), ('a',), ('w',), ('q', 'v'), ('q', 'w'), ('q', 'v', 'a', 'w')],
    ids=lambda names: ''.join(names) or 'none')
def test_single_states_and_batches_mix(batched):
    """Single values are used in every row."""
    rng = np.random.default_rng(3)
    rows = {'q': np.array([ROBOT.random_configuration(rng) for _ in range(4)]),
            **{name: rng.normal(size=(4, n)) for name, n in (('v', NV), ('a', NV), ('w', 6))}}
    given = {name: array if name in batched else array[0] for name, array in rows.items()}

    def ask(q, v, a, w):
        return torques(q, v, a, {'tool': w})

    result = ask(**given)
    assert result.shape == ((4, NV) if batched else (NV,))
    assert result.dtype == np.float64
    for k, row in enumerate(np.atleast_2d(result)):
        single = {name: array[k] if name in batched else array[0] for name, array in rows.items()}
        same(row, ask(**single))


def test_batches_of_different_size_are_refused():
    """Each is named with its size."""
    refused(lambda: torques(q=[Q] * 3, v=[V] * 2), 'one size', 'q has 3', 'v has 2')
    refused(lambda: torques(q=[Q], v=[V] * 2), 'one size', 'q has 1', 'v has 2')
    refused(lambda: torques(a=[A] * 2, wrenches={'tool': [[0] * 6] * 3}), 'a has 2', 'has 3 rows')
    refused(lambda: torques(q=np.zeros((0, NQ)), v=[V] * 2), 'q has 0', 'v has 2')


def test_a_frame_may_have_the_name_of_an_argument():
    """The link 'a' does not hide the accelerations a."""
    assert checks.batch_size({'a': np.zeros((3, NV))}, wrenches={'a': np.zeros(6)}) == 3
    assert checks.batch_size({'a': A}, wrenches={'a': np.zeros((3, 6))}) == 3
    assert checks.batch_size({'a': A}, wrenches={'a': np.zeros(6)}) is None
    refused(lambda: checks.batch_size({'a': np.zeros((3, NV))}, wrenches={'a': np.zeros((2,
                                                                                            6))}),
            'a has 3', "wrenches['a'] has 2")


@pytest.mark.parametrize(('name', 'arguments', 'shape'), [
    ('inverse_dynamics', 'qva', (NV,)), ('forward_dynamics', 'qvt', (NV,)),
    ('mass_matrix', 'q', (NV, NV)), ('mass_matrix_inverse', 'q', (NV, NV)),
    ('coriolis_matrix', 'qv', (NV, NV)), ('gravity_torque', 'q', (NV,)),
    ('bias_torque', 'qv', (NV,)), ('friction_torque', 'v', (NV,)),
    ('kinetic_energy', 'qv', ()), ('potential_energy', 'q', ()), ('center_of_mass', 'q', (3,)),
    ('momentum', 'qv', (6,)), ('frame_pose', 'qf', (4, 4)), ('frame_twist', 'qvf', (6,)),
    ('jacobian', 'qf', (6, NV)), ('jacobian_rate', 'qvf', (6, NV)), ('integrate', 'qv', (NQ,)),
    ('difference', 'qq', (NV,))])
@pytest.mark.parametrize('n', [None, 0, 1, 3])
def test_every_result_has_the_documented_shape(name, arguments, shape, n):
    """A state, no state, one row, three rows."""
    states = {'q': Q, 'v': V, 'a': A, 't': TAU}
    ask = [states[key] if n is None else np.tile(states[key], (n, 1)) for key in arguments
           if key != 'f'] + ['tool'] * ('f' in arguments)
    assert np.shape(getattr(ROBOT, name)(*ask)) == (shape if n is None else (n, *shape))


def test_empty_batches_keep_the_shapes_of_several_results():
    """Also when only the wrenches are empty."""
    none = np.zeros((0, NV))
    for part in ROBOT.hybrid_dynamics(Q, V, none, TAU, GIVEN):
        assert part.shape == (0, NV)
    assert [part.shape for part in ROBOT.denoc(Q, none)] == [(0, NV, NV), (0, NV, NV), (0, NV)]
    assert torques(wrenches={'tool': np.zeros((0, 6))}).shape == (0, NV)


# Quaternions --------------------------------------------------------------------------------------

@pytest.mark.parametrize('quaternion', [
    (0, 0, 0, 0), (0, 0, 0, 2), (1, 1, 1, 1), (0, 0, 0, 1.002), (0, 0, 0, 0.998),
    (1e200, 0, 0, 1e200)])
def test_a_quaternion_that_is_no_rotation_is_refused(quaternion):
    """The joint, the norm, and the order of the entries; in any row of a batch."""
    q = Q.copy()
    q[QUATERNION] = quaternion
    words = "joint 'free'", 'norm', 'x y z w'
    refused(lambda: ROBOT.gravity_torque(q), *words)
    refused(lambda: ROBOT.gravity_torque([Q, q]), *words)
    refused(lambda: ROBOT.difference(Q, q), *words)


@pytest.mark.parametrize('scale', [0.9995, 1.0005])
def test_a_measured_quaternion_is_normalised(scale):
    """A small error is accepted; the result is that of the unit quaternion."""
    q = Q.copy()
    q[QUATERNION] *= scale
    for ask in (ROBOT.gravity_torque, lambda q: ROBOT.frame_pose(q, 'f')):
        same(ask(q), ask(Q))
        same(ask([Q, q])[1], ask(Q))


def test_each_of_several_quaternions_is_checked():
    """The base's and the joint's, and the message tells which."""
    robot = Robot.from_urdf(EVERYTHING, base='floating')
    for name, place in (('floating_base', slice(3, 7)), ('free', slice(16, 20))):
        q = robot.neutral()
        q[place] *= 1.1
        refused(lambda q=q: robot.gravity_torque(q), f"joint '{name}'", 'norm 1.1')


# Names ------------------------------------------------------------------------------------------

@pytest.mark.parametrize('frame', ['nobody', '', None, 3, ['tool'], ('tool',), {}])
def test_an_unknown_frame_is_refused(frame):
    """The frames are listed, in the text and as data."""
    for ask in (lambda: ROBOT.frame_pose(Q, frame), lambda: ROBOT.jacobian(Q, frame),
                lambda: ROBOT.frame_twist(Q, V, frame), lambda: ROBOT.jacobian_rate(Q, V, frame)):
        with pytest.raises(UnknownName, match='the robot has: .*base.*tool') as caught:
            ask()
        assert caught.value.known == ROBOT.frame_names


# Wrenches ---------------------------------------------------------------------------------------

@pytest.mark.parametrize(('wrenches', 'words'), [
    ({'nobody': np.zeros(6)}, ["'nobody'", 'base', 'tool']),
    ({3: np.zeros(6)}, ["'3'", 'base', 'tool']),
    ({'tool': np.zeros(5)}, ["wrenches['tool']", '(6,) or (N, 6)', '(5,)']),
    ({'tool': 1.0}, ["wrenches['tool']", '(6,) or (N, 6)', '()']),
    ({'tool': np.zeros((2, 2, 6))}, ["wrenches['tool']", '(6,) or (N, 6)']),
    ({'tool': None}, ["wrenches['tool']"]),
    ({'tool': 'up'}, ["wrenches['tool']", 'real numbers']),
    (np.zeros(6), ['dict', 'fx, fy, fz, tx, ty, tz', 'ndarray']),
    ([('tool', np.zeros(6))], ['dict', 'list']),
    ('tool', ['dict', 'str']),
])
def test_invalid_wrenches_are_refused(wrenches, words):
    """Which frame, which shape, which type."""
    refused(lambda: torques(wrenches=wrenches), *words)


def test_empty_wrenches_are_no_wrenches():
    """None, an empty dict, a zero one."""
    for nothing in (None, {}, {'tool': np.zeros(6)}):
        same(torques(wrenches=nothing), torques())


# Which accelerations are given ------------------------------------------------------------------

@pytest.mark.parametrize('given', [
    None, True, [True], GIVEN[:-1], np.stack([GIVEN, GIVEN]), GIVEN.astype(int),
    GIVEN.astype(float), ['True'] * NV, [[True], [True, False]], ['turn']])
def test_given_must_be_booleans_one_per_degree_of_freedom(given):
    """Zeros and ones could be accelerations; names are not understood."""
    refused(lambda: ROBOT.hybrid_dynamics(Q, V, A, TAU, given), 'given must be 12 booleans')


def test_given_may_be_a_list():
    """Of Python's own booleans."""
    for mine, theirs in zip(ROBOT.hybrid_dynamics(Q, V, A, TAU, GIVEN.tolist()),
                            ROBOT.hybrid_dynamics(Q, V, A, TAU, GIVEN)):
        same(mine, theirs)


def test_a_robot_without_joints_accepts_empty_lists():
    """Also for the mask, which NumPy reads as floats."""
    robot = Robot.from_urdf('<robot><link name="a"/></robot>')
    a, tau = robot.hybrid_dynamics([], [], [], [], [])
    assert a.shape == tau.shape == (0,)
    assert robot.inverse_dynamics(np.zeros((5, 0)), [], []).shape == (5, 0)
