"""Test that kernels of real robots, every URDF of example-robot-data, agree with NumPy.

All kernels of all of them take hours to compile. Those whose packing failed once are compiled every
time. Of the others another part is compiled every day, for a limited time. To repeat another day,
or to include the large ones:

    DYNAMICS_NODE_TEST_SEED=320 pytest test/kernels/test_build_example_robots.py
    DYNAMICS_NODE_TEST_SECONDS=40000 pytest test/kernels/test_build_example_robots.py
"""

import itertools
import os
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from time import monotonic

import numpy as np
import pytest
from support import small_robots
from support.agreement_of_paths import both_paths_agree, ready
from support.kernel_calls import kernel_calls

from dynamics_node import Robot
from dynamics_node.errors import ModelError, SingularModel
from dynamics_node.kernels.build import AGREEMENT
from dynamics_node.kernels.spec import always

pytestmark = pytest.mark.long

SECONDS = 6.0              # for the part of a day
KERNELS = 3                # of each robot, in the part of a day
# Degrees of freedom, in the part of a day: in general, of derivatives, of those with nv^3 numbers.
LARGEST = 20, 8, 6
ONCE_NOT_PACKED = (('tiago_no_hand', 'fixed'), ('alex_nub_hands', 'floating'),
                   ('alex_sake_hands', 'fixed'), ('alex_sake_hands', 'floating'),
                   ('g1_29dof_with_hand_rev_1_0', 'fixed'),
                   ('g1_29dof_with_hand_rev_1_0', 'floating'))
NO_ROBOT = {'ur3': 'no <link>', 'alex_psyonic_hands': "mimics 'index_q1', which is not a joint"}


@pytest.fixture(scope='module')
def urdfs():
    """The paths of all URDFs by name; a name that several have is preceded by the package's."""
    data = metadata.distribution('example-robot-data')
    paths = sorted({Path(data.locate_file(file)).resolve() for file in data.files
                    if file.suffix == '.urdf'})
    names = [path.stem for path in paths]
    return {name if names.count(name) == 1 else f'{path.parents[1].name}/{name}': path
            for name, path in zip(names, paths)}


def kernels_of(robot, derivatives):
    """Return for every kernel a call of one state, and one of a batch."""
    frame = robot.frame_names[-1]
    one, many = (kernel_calls(robot, small_robots.specimen(robot, np.random.default_rng(1), (frame,
                                                                                             ), n),
                       frame, (False,), derivatives) for n in (None, 3))
    return list(zip(one, many))


def is_quick(robot, derivatives, key):
    """Whether a kernel is compiled in some seconds."""
    return robot.nv <= LARGEST[2 if key.spec.fits is not always else derivatives]


@pytest.mark.parametrize(('name', 'base'), ONCE_NOT_PACKED)
def test_mass_matrices_whose_packing_failed_once_agree(urdfs, name, base):
    """Entries of a row are read before the whole row is complete."""
    robot = Robot.from_urdf(urdfs[name], base=base)
    both_paths_agree(robot, next(pair for pair in kernels_of(robot, derivatives=False)
                                 if pair[0].key.kernel == 'mass_matrix'))


def test_a_daily_part_of_all_kernels_agrees(urdfs):
    """In an order that the day of the year decides."""
    everything = 'DYNAMICS_NODE_TEST_SECONDS' in os.environ
    end = monotonic() + float(os.environ.get('DYNAMICS_NODE_TEST_SECONDS', SECONDS))
    seed = int(os.environ.get('DYNAMICS_NODE_TEST_SEED', f'{datetime.now(timezone.utc):%j}'))
    for label, robot, kernel in drawn(urdfs, np.random.default_rng(seed), everything):
        try:
            compare(robot, kernel)
        except Exception as error:
            raise AssertionError(f'{label}, {kernel[0].key}, on the day '
                                 f'DYNAMICS_NODE_TEST_SEED={seed}') from error
        if monotonic() > end:
            break


def compare(robot, kernel):
    """Check that a kernel agrees with NumPy, or that both refuse a robot without inertia."""
    if not kernel[0].key.spec.margins:
        both_paths_agree(robot, kernel)
        return
    M = Robot(robot.model, compile=False).mass_matrix(kernel[1].arguments['q'])
    size = np.sqrt(np.diagonal(M, axis1=1, axis2=2))
    if (size > 0.0).all():  # rounding grows with the condition number: of iCub, 4e5
        condition = np.linalg.cond(M / (size[:, :, None] * size[:, None, :])).max()
        both_paths_agree(robot, kernel, max(AGREEMENT, np.finfo(float).eps * condition))
        return
    ready(robot, kernel)
    for call in kernel:  # some joints of Romeo move nothing
        with pytest.raises(SingularModel):
            call.results(robot)


def drawn(urdfs, rng, everything):
    """Yield (label, robot, kernel) in random order: some of each robot, or everything."""
    cases = list(itertools.product(sorted(set(urdfs) - set(NO_ROBOT)), ('fixed', 'floating'),
                                   (False, True)))
    for name, base, derivatives in (cases[k] for k in rng.permutation(len(cases))):
        robot = Robot.from_urdf(urdfs[name], base=base)
        kernels = [kernel for kernel in (kernels_of(robot, derivatives) if robot.nv else ())
                   if everything or is_quick(robot, derivatives, kernel[0].key)]
        for k in rng.permutation(len(kernels))[:None if everything else KERNELS]:
            yield f'{name}, base {base}', robot, kernels[k]


@pytest.mark.parametrize('name', NO_ROBOT)
def test_urdfs_that_are_no_robots_are_refused(urdfs, name):
    """So they can be left out above."""
    with pytest.raises(ModelError, match=NO_ROBOT[name]):
        Robot.from_urdf(urdfs[name])
