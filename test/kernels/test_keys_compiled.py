"""Test that compiled kernels agree with NumPy on every kind of robot."""

import numpy as np
import pytest
from support import random_trees, small_robots
from support.agreement_of_paths import both_paths_agree, ready, without_numpy
from support.differences import relative
from support.kernel_calls import KernelCall, kernel_calls
from support.real_robots import ROBOTS

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels.build import AGREEMENT
from dynamics_node.kernels.keys import key_of

pytestmark = pytest.mark.long

EXAMPLES = {str(example): example for example in ROBOTS}
N = 11   # states of a batch: a whole register and a rest, at any width


def everything(robot, links, **options):
    """Return calls of all kernels, of a single state and of a batch; the last link is the frame."""
    return [call for n in (None, N) for call in kernel_calls(robot, state(robot, links, n),
                                                              links[-1], **options)]


def state(robot, links, n=None):
    return small_robots.specimen(robot, np.random.default_rng(1), links, n)


@pytest.fixture
def arm7():
    return Robot.from_urdf(ARM7)


@pytest.fixture
def inverse(arm7):
    """The arm with the kernels of inverse dynamics ready, a state of it, and NumPy's robot."""
    one = state(arm7, ('link_3', 'tool0'))
    calls = [KernelCall(key_of(arm7.model, 'inverse_dynamics', with_wrenches=wrenches), {})
             for wrenches in (False, True)]
    return ready(arm7, calls), one, Robot(arm7.model, compile=False)


def test_an_arm_agrees_with_numpy(arm7):
    """Every kernel, with wrenches and without."""
    both_paths_agree(arm7, everything(arm7, ('link_3', 'tool0')))


def test_an_arm_with_payload_agrees_with_numpy(arm7):
    """Two payloads, in a gravity of its own; then with none."""
    robot = arm7.with_payload('box', 'tool0', 2.0, (0.1, 0.0, 0.2), np.diag([0.1, 0.2, 0.15]))
    robot = robot.with_payload('cup', 'link_4', 0.5).with_gravity((1.0, 2.0, 3.0))
    both_paths_agree(robot, everything(robot, ('link_2', 'link_6')))
    neither = robot.without_payload('box').without_payload('cup')
    both_paths_agree(neither, kernel_calls(neither, state(neither, ('tool0',)), 'tool0', (False,)))


@pytest.mark.parametrize(('base', 'mimic'), [('fixed', True), ('floating', False)])
def test_a_tree_agrees_with_numpy(base, mimic):
    """Joints of several kinds, a payload; a mimic, or a free base and wrenches."""
    robot = small_robots.tree(1, base, mimic).robot
    robot = robot.with_payload('box', 'l1', 2.0, (0.1, 0.0, 0.2))
    both_paths_agree(robot, everything(robot, ('l0', 'l2'), with_wrenches=(base == 'floating',)))


@pytest.mark.parametrize('tree', [random_trees.TREES[1], random_trees.TREES[4]], ids=str)
def test_a_large_tree_agrees_with_numpy(tree):
    """With a floating joint inside, and more instructions than LLVM may reorder."""
    specimen = random_trees.make(tree)
    both_paths_agree(specimen.robot, [
        call for call in kernel_calls(specimen.robot, specimen, 'l10')
        if call.key.kernel in ('inverse_dynamics', 'frame_twist', 'jacobian')])


@pytest.mark.parametrize('name', ['panda', 'ur5', 'borinot'])
def test_a_real_robot_agrees_with_numpy(name):
    """From its manufacturer's URDF: fingers that mimic, truncated right angles, a flying base."""
    example = EXAMPLES[name]
    robot = Robot.from_urdf(example.urdf, base=example.base)
    links = example.link_names()
    both_paths_agree(robot, everything(robot, (links[2], links[-1]), with_wrenches=(name != 'panda',
                                                                                    )))


def test_all_masks_of_prescribed_joints_share_one_kernel(arm7):
    """None, all, some: the mask is an input."""
    one, rng = state(arm7, ('tool0',)), np.random.default_rng(3)
    masks = [np.zeros(7, bool), np.ones(7, bool), *(rng.random((4, 7)) < 0.5)]
    key = key_of(arm7.model, 'hybrid_dynamics')
    both_paths_agree(arm7, [KernelCall(key, {'q': one.q, 'v': one.v, 'a': one.a, 'tau': one.tau,
                                        'given': mask}) for mask in masks])
    a, tau = arm7.hybrid_dynamics(one.q, one.v, one.a, one.tau, masks[2])
    np.testing.assert_array_equal(a[masks[2]], one.a[masks[2]])
    np.testing.assert_array_equal(tau[~masks[2]], one.tau[~masks[2]])


def test_single_states_wrenches_and_batches_mix(inverse):
    """Single values are used for all rows."""
    robot, one, in_numpy = inverse
    many = state(robot, ('link_3', 'tool0'), N)
    mixed = {'link_3': one.wrenches['link_3'], 'tool0': many.wrenches['tool0']}
    for arguments in ((one.q, many.v, one.a, None), (one.q, one.v, one.a, many.wrenches),
                      (many.q, one.v, many.a, one.wrenches), (one.q, one.v, one.a, mixed),
                      (many.q, many.v, many.a, mixed), (one.q, one.v, many.a[:1], one.wrenches),
                      (one.q, one.v, one.a, {})):
        with without_numpy(robot):
            got = robot.inverse_dynamics(*arguments)
        want = in_numpy.inverse_dynamics(*arguments)
        assert got.shape == want.shape
        assert relative(got, want) < AGREEMENT


def test_array_like_arguments_are_converted(inverse):
    """Lists, integers, single precision, strided or read-only arrays, and a subclass."""
    robot, one, in_numpy = inverse
    many = state(robot, (), N)
    grid = np.repeat(many.q, 2, axis=1)[:, ::2]
    frozen = np.broadcast_to(one.q, (N, 7))
    for q, v in ((one.q.tolist(), one.v), (np.arange(7), one.v), (one.q.astype(np.float32), one.v),
                 (one.q[::-1], one.v), (one.q.astype('>f8'), one.v), (grid, many.v),
                 (np.asfortranarray(many.q), many.v), (frozen, many.v), (many.q.tolist(), many.v),
                 (one.q.view(np.ma.MaskedArray), one.v), (range(7), tuple(one.v))):
        with without_numpy(robot):
            got = robot.inverse_dynamics(q, v, one.a)
        assert relative(got, in_numpy.inverse_dynamics(q, v, one.a)) < AGREEMENT
        assert type(got) is np.ndarray
    for wrenches in (None, {'tool0': np.zeros((0, 6))}):
        assert robot.inverse_dynamics(np.zeros((0, 7)), one.v, one.a, wrenches).shape == (0, 7)


def test_arguments_may_be_named(inverse):
    """All, some, with wrenches or None; one too few or too many is Python's own error."""
    robot, one, in_numpy = inverse
    q, v, a, wrenches = one.q, one.v, one.a, one.wrenches
    for args, named in (((), {'q': q, 'v': v, 'a': a}), ((q, v), {'a': a}), ((q, v, a, None), {}),
                        ((q, v, a), {'wrenches': wrenches}), ((q, v, a, wrenches), {}),
                        ((), {'a': a, 'wrenches': None, 'v': v, 'q': q})):
        with without_numpy(robot):
            got = robot.inverse_dynamics(*args, **named)
        assert relative(got, in_numpy.inverse_dynamics(*args, **named)) < AGREEMENT
    for args in ((), (q,), (q, v, a, None, None)):
        with pytest.raises(TypeError, match='positional argument'):
            robot.inverse_dynamics(*args)
    with pytest.raises(TypeError, match='torque'):
        robot.inverse_dynamics(q, v, a, torque=a)


def test_results_are_new_arrays(inverse):
    """Two calls share no memory, and arguments stay as they were."""
    robot, one, _ = inverse
    before = one.q.copy()
    first = robot.inverse_dynamics(one.q, one.v, one.a)
    second = robot.inverse_dynamics(one.q, one.v, one.a)
    assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(one.q, before)


def test_large_batches_are_the_same_on_two_threads(inverse):
    """A batch of that size is shared with a second thread."""
    robot, one, _ = inverse
    q = np.random.default_rng(4).normal(size=(20001, 7))
    batch = robot.inverse_dynamics(q, np.tile(one.v, (20001, 1)), np.tile(one.a, (20001, 1)))
    for k in range(0, 20001, 500):
        np.testing.assert_array_equal(robot.inverse_dynamics(q[k], one.v, one.a), batch[k])
