"""Test kernels against half of the ratios to Pinocchio that `make bench` shows.

Half, and the fastest of many interleaved turns, so that a noisy machine does not fail them.
"""

from functools import partial
from time import perf_counter

import numpy as np
import pinocchio as pin
import pytest
from support.real_robots import ROBOTS

from dynamics_node import Robot
from dynamics_node.kernels.keys import key_of

UR5 = next(example for example in ROBOTS if example.name == 'ur5')
STATES, TURNS = 1024, 40
RATIOS = {  # of one state, of a batch on one thread
    'inverse_dynamics': (2.5, 22.5), 'forward_dynamics': (3.5, 22.5), 'mass_matrix': (2.5, 15.0),
    'inverse_dynamics_derivatives': (2.0, 7.5), 'forward_dynamics_derivatives': (2.0, 6.0)}
PEERS = {
    'inverse_dynamics': pin.rnea, 'forward_dynamics': pin.aba, 'mass_matrix': pin.crba,
    'inverse_dynamics_derivatives': pin.computeRNEADerivatives,
    'forward_dynamics_derivatives': pin.computeABADerivatives}


@pytest.fixture(scope='module')
def robot(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('DYNAMICS_NODE_COMPILE', '1')
        patch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path_factory.mktemp('kernels')))
        patch.setenv('DYNAMICS_NODE_THREADS', '1')
        robot = Robot.from_urdf(UR5.path, friction=False)
        robot._dispatcher.compile([key_of(robot.model, kernel) for kernel in RATIOS], wait=True)
        q = robot.neutral()
        for kernel in RATIOS:  # the first call binds the kernel
            getattr(robot, kernel)(*([q] if kernel == 'mass_matrix' else [q, q, q]))
        return robot


def turn(function, rows):
    """Return the seconds that the function takes for each of the rows in turn."""
    begin = perf_counter()
    for row in rows:
        function(*row)
    return perf_counter() - begin


@pytest.mark.parametrize('kernel', RATIOS)
def test_kernels_are_faster_than_pinocchio_by_half_of_the_bar(robot, kernel):
    """From Python, one state and many, in the same run."""
    model = pin.buildModelFromUrdf(str(UR5.path))
    data = model.createData()
    peer = partial(PEERS[kernel], model, data)
    ours = getattr(robot, kernel)
    arrays = np.random.default_rng(0).normal(size=(3, STATES, robot.nv))
    arrays = list(arrays[:1] if kernel == 'mass_matrix' else arrays)
    rows = list(zip(*arrays))
    theirs, single, batch = np.min([
        (turn(peer, rows), turn(ours, rows), turn(ours, [arrays])) for _ in range(TURNS)], axis=0)
    least_single, least_batch = RATIOS[kernel]
    assert theirs / single > least_single
    assert theirs / batch > least_batch
