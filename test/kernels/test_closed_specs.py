"""Test that the kernel of closed mechanisms agrees with NumPy, by every call path."""

import numpy as np
import pytest
from support.agreement_of_paths import without_numpy
from support.bundled_mechanisms import standing
from support.differences import relative

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.kernels.cache_name import name_of
from dynamics_node.kernels.keys import key_of

pytestmark = pytest.mark.long

N = 11             # states of a batch: a whole register and a rest, at any width
AGREEMENT = 1e-9   # as of the other kernels with constraints


def loaded(name):
    """Return a mechanism with a payload and friction."""
    robot = Robot.from_urdf(MECHANISMS[name].urdf, loops=MECHANISMS[name].loops)
    robot = robot.with_payload('box', robot.frame_names[-1], 2.0, (0.1, 0.0, 0.2))
    return robot.with_friction({robot.joint_names[-1]: 0.2}, {robot.joint_names[-2]: 0.1})


def key_for(robot, coordinates, kernel='closed_dynamics', wrenches=False):
    entries = tuple(k for name in coordinates for k in range(robot.nv)[robot.model.joint(name).v])
    return key_of(robot.model, kernel, (entries,), wrenches, robot.loops.constraints)


@pytest.mark.parametrize(('name', 'coordinates'), [
    ('four_bar', ['crank_joint']), ('five_bar', ['right_elbow', 'left_shoulder']),
    ('stewart', ['platform_joint'])])
def test_a_mechanism_agrees_with_numpy(name, coordinates):
    """One state and a batch; coordinates in any order, a floating joint among them."""
    robot = loaded(name)
    in_numpy = Robot(robot.model, compile=False)
    robot._dispatcher.compile([key_for(robot, coordinates)], wait=True)
    states = [standing(robot.model, robot.loops.constraints, seed)[:2] for seed in range(N)]
    for q, v in (states[0], map(np.array, zip(*states))):
        with without_numpy(robot):
            found = robot.closed_dynamics(q, v, coordinates=coordinates)
            again = robot.closed_dynamics(q, v, coordinates=coordinates)
        wanted = in_numpy.closed_dynamics(q, v, coordinates=coordinates)
        assert type(found) is type(wanted)
        for got, same, want in zip(found, again, wanted, strict=True):
            assert np.shape(got) == np.shape(want)
            assert relative(got, same) < AGREEMENT  # quaternions normalised once more
            assert relative(got, want) < AGREEMENT


@pytest.mark.parametrize('kernel', ['closed_inverse_derivatives', 'closed_forward_derivatives'])
def test_derivatives_agree_with_numpy(kernel):
    """One state and a batch, with a wrench and without."""
    robot, names = loaded('five_bar'), ['right_elbow', 'left_shoulder']
    in_numpy = Robot(robot.model, compile=False)
    robot._dispatcher.compile([key_for(robot, names, kernel, flag) for flag in (False, True)],
                              wait=True)
    states = [standing(robot.model, robot.loops.constraints, seed) for seed in range(N)]
    for wrenches in (None, {robot.frame_names[-1]: [1.0, -2.0, 3.0, 0.4, 0.5, -0.6]}):
        for state in (states[0], [*map(np.array, zip(*states))]):
            options = {'coordinates': names, 'wrenches': wrenches}
            with without_numpy(robot):
                found = getattr(robot, kernel)(*state, **options)
            wanted = getattr(in_numpy, kernel)(*state, **options)
            for got, want in zip(found, wanted, strict=True):
                assert np.shape(got) == np.shape(want)
                assert relative(got, want) < AGREEMENT


def test_what_numpy_refuses_the_kernel_refuses():
    """By the same message: open loops, and too many coordinates."""
    robot = loaded('five_bar')
    pairs = (['left_shoulder', 'right_shoulder'], ['left_shoulder'])
    robot._dispatcher.compile([key_for(robot, names) for names in pairs], wait=True)
    q, v, _ = standing(robot.model, robot.loops.constraints, 0)
    with pytest.raises(DynamicsError, match='the loops are open by'):
        robot.closed_dynamics(q + 0.1, v)
    with pytest.raises(DynamicsError, match='do not determine the motion'):
        robot.closed_dynamics(q, v, coordinates=['left_shoulder'])


def test_each_choice_of_coordinates_has_its_own_kernel():
    """Also where they are as many."""
    robot = loaded('five_bar')
    names = {name_of(robot.model, key_for(robot, [one, other])) for one, other in (
        ('left_shoulder', 'right_shoulder'), ('right_shoulder', 'left_shoulder'),
        ('left_elbow', 'right_elbow'))}
    assert len(names) == 3


def test_hybrid_dynamics_agrees_with_numpy():
    """One state and a batch, with a wrench and without; some accelerations given."""
    robot, names = loaded('five_bar'), ['right_elbow', 'left_shoulder']
    in_numpy = Robot(robot.model, compile=False)
    robot._dispatcher.compile([key_for(robot, names, 'closed_hybrid_dynamics', flag)
                               for flag in (False, True)], wait=True)
    states = [standing(robot.model, robot.loops.constraints, seed) for seed in range(N)]
    given = np.array([name == 'right_elbow' for name in robot.joint_names])
    for wrenches in (None, {robot.frame_names[-1]: np.arange(6.0)}):
        for q, v, a in (states[0], map(np.array, zip(*states))):
            arguments = q, v, a, np.ones(4), given, None, names, wrenches
            with without_numpy(robot):
                found = robot.closed_hybrid_dynamics(*arguments)
            wanted = in_numpy.closed_hybrid_dynamics(*arguments)
            assert relative(found.a, wanted.a) < AGREEMENT
            assert relative(found.tau, wanted.tau) < AGREEMENT
