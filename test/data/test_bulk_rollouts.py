"""Test rollouts from files: the numbers of robot.rollouts to the bit, bad rows, resumed runs."""

import importlib.util
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import small_robots
from support.real_robots import ROBOTS
from support.robot_data_sets import values

from dynamics_node import DynamicsError, Robot
from dynamics_node.data import rollouts
from dynamics_node.data.engines import MODULES, PACKAGES
from dynamics_node.example_robots import ARM7

PERIOD, PERIODS = 0.01, 5


def states(robot, n=300, seed=0):
    """Return random (q, v, torque)."""
    rng = np.random.default_rng(seed)
    q = np.stack([robot.random_configuration(rng=rng) for _ in range(n)])
    return q, rng.normal(size=(n, robot.nv)), rng.normal(size=(n, PERIODS, robot.nv))


def write(path, q, v, torque):
    def lists(x):
        return pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), x[0].size)
    table = pa.table({'name': [f'motion {k}' for k in range(len(q))], 'q': lists(q),
                      'v': lists(v), 'torque': lists(torque)})
    pq.write_table(table, path)


@pytest.fixture(scope='module')
def robot(kernels):
    """The bundled arm with two joints, without friction: steps may be long."""
    return Robot.from_urdf(ARM7, locked={f'joint_{k}': 0.3 for k in range(3, 8)}, friction=False)


@pytest.fixture
def shards(robot, tmp_path):
    """Three files."""
    folder = tmp_path / 'states'
    folder.mkdir()
    for k in range(3):
        write(folder / f'{k}.parquet', *states(robot, seed=k))
    return folder


def test_the_motions_are_those_of_the_robot_to_the_bit(robot, shards, tmp_path):
    names = ['q_end', 'v_end', 'q_motion', 'v_motion', 'acceleration', 'acceleration_dq',
             'acceleration_dv', 'acceleration_dtau']
    done = rollouts(robot, shards, tmp_path / 'out', PERIOD, names, step=0.004)
    assert [*done.files] == ['0.parquet', '1.parquet', '2.parquet']
    assert done.counts == {'rows': 900, 'marked': 0, 'no_state': 0, 'no_torque': 0, 'diverged': 0}
    for k in range(3):
        found = pq.read_table(tmp_path / 'out' / f'{k}.parquet')
        assert found.column_names == ['name', 'q', 'v', 'torque', *names, 'rollout_marks']
        q, v, torque = states(robot, seed=k)
        want = robot.rollouts(q, v, torque, PERIOD, step=0.004)
        d = robot.forward_dynamics_derivatives(q, v, torque[:, 0].copy())
        for name, expected in zip(names, (
                want.q[:, -1], want.v[:, -1], want.q, want.v,
                robot.forward_dynamics(q, v, torque[:, 0].copy()), d.dq, d.dv, d.dtau)):
            assert np.array_equal(values(found, name), expected.reshape(300, -1)), name
        about = found.schema.field('q_end').metadata
        assert about[b'unit'] == b'rad or m' and about[b'joints'] == b'joint_1 joint_2'
    manifest = json.loads((tmp_path / 'out' / 'rollouts.json').read_text())
    assert manifest['settings']['periods'] == PERIODS and manifest['counts'] == done.counts


def test_windows_of_rows_do_not_show(robot, shards, tmp_path, monkeypatch):
    """Few rows at a time give equal numbers; only ends are kept where no motion is asked for."""
    rollouts(robot, shards, tmp_path / 'whole', PERIOD)
    monkeypatch.setattr('dynamics_node.data.rollouts_file.MOST_ROWS', 17)
    rollouts(robot, shards, tmp_path / 'parts', PERIOD)
    assert pq.ParquetFile(tmp_path / 'parts' / '0.parquet').num_row_groups == 18
    for k in range(3):
        whole, parts = (pq.read_table(tmp_path / name / f'{k}.parquet')
                        for name in ('whole', 'parts'))
        assert whole.equals(parts)


def test_a_floating_base(kernels, tmp_path):
    """More positions than velocities; a quaternion that is not of norm 1 is marked."""
    robot = Robot.from_urdf(ARM7, base='floating', friction=False)
    q, v, torque = states(robot, 20)
    q[3, 3:7] *= 2.0
    write(tmp_path / 'a.parquet', q, v, torque)
    done = rollouts(robot, tmp_path / 'a.parquet', tmp_path / 'out', PERIOD)
    assert done.counts['no_state'] == done.counts['marked'] == 1
    found = pq.read_table(tmp_path / 'out' / 'a.parquet')
    good = np.arange(20) != 3
    want = robot.rollouts(q[good], v[good], torque[good], PERIOD)
    assert np.array_equal(values(found, 'q_end')[good], want.q[:, -1])
    assert np.isnan(values(found, 'v_end')[3]).all()


@pytest.mark.parametrize('example', ROBOTS, ids=str)
def test_real_robots(kernels, example, tmp_path):
    """With mimic joints, floating bases.

    Two states are not worth the compilation of 35 robots: one with mimic joints is compiled.
    """
    equal_to_the_bit(Robot.from_urdf(example.urdf, base=example.base, friction=False,
                                     compile=str(example) == 'panda'), tmp_path)


def test_a_planar_joint(kernels, tmp_path):
    """Compiled; one of its joints is followed by another."""
    equal_to_the_bit(small_robots.tree(1, 'fixed', mimic=True).robot, tmp_path)


def equal_to_the_bit(robot, tmp_path):
    """Compare with robot.rollouts."""
    q, v, torque = states(robot, 2)
    torque = torque[:, :1]
    write(tmp_path / 'a.parquet', q, v, torque)
    done = rollouts(robot, tmp_path / 'a.parquet', tmp_path / 'out', 1e-4, ['q_end', 'v_motion'])
    assert done.counts['marked'] == 0
    found, want = pq.read_table(tmp_path / 'out' / 'a.parquet'), robot.rollouts(q, v, torque, 1e-4)
    assert np.array_equal(values(found, 'q_end'), want.q[:, -1])
    assert np.array_equal(values(found, 'v_motion'), want.v.reshape(2, -1))


def test_bad_rows_are_marked_and_kept(robot, tmp_path):
    """Others have the numbers that they have without them."""
    q, v, torque = states(robot, 40)
    q[5, 0], v[6, 1], torque[7, 2, 0] = np.nan, np.inf, np.nan
    torque[8] = 1e15
    write(tmp_path / 'a.parquet', q, v, torque)
    done = rollouts(robot, tmp_path / 'a.parquet', tmp_path / 'out', PERIOD)
    found = pq.read_table(tmp_path / 'out' / 'a.parquet')
    marks = found['rollout_marks'].to_numpy()
    assert {k: int(marks[k]) for k in np.flatnonzero(marks)} == {5: 1, 6: 1, 7: 2, 8: 4}
    assert done.counts == {'rows': 40, 'marked': 4, 'no_state': 2, 'no_torque': 1, 'diverged': 1}
    good = marks == 0
    want = robot.rollouts(q[good], v[good], torque[good], PERIOD)
    assert np.array_equal(values(found, 'q_end')[good], want.q[:, -1])
    assert np.isnan(values(found, 'q_end')[~good]).all()


@pytest.mark.parametrize('columns', [['acceleration'], ['acceleration_dq', 'acceleration']])
def test_rows_with_numbers_that_are_too_large_are_marked_and_kept(robot, tmp_path, columns):
    """As those that diverge."""
    q, v, torque = states(robot, 40)
    v[5], torque[8] = 1e200, 1e308
    write(tmp_path / 'a.parquet', q, v, torque)
    done = rollouts(robot, tmp_path / 'a.parquet', tmp_path / 'out', columns=columns)
    found = pq.read_table(tmp_path / 'out' / 'a.parquet')
    marks = found['rollout_marks'].to_numpy()
    assert {k: int(marks[k]) for k in np.flatnonzero(marks)} == {5: 4, 8: 4}
    assert done.counts['diverged'] == done.counts['marked'] == 2
    good = marks == 0
    want = robot.forward_dynamics(q[good], v[good], torque[good, 0])
    assert np.array_equal(values(found, 'acceleration')[good], want)
    assert np.isnan(values(found, 'acceleration')[~good]).all()


@pytest.mark.filterwarnings('error')
def test_rows_that_are_too_large_for_float32_are_marked(robot, tmp_path):
    q, v, torque = states(robot, 10)
    torque[3] = 1e60
    write(tmp_path / 'a.parquet', q, v, torque)
    for precision, wanted in (('float64', []), ('float32', [3])):
        rollouts(robot, tmp_path / 'a.parquet', tmp_path / precision, columns=['acceleration'],
                 precision=precision)
        found = pq.read_table(tmp_path / precision / 'a.parquet')
        marked = found['rollout_marks'].to_numpy() == 4
        assert np.flatnonzero(marked).tolist() == wanted
        assert (np.isnan(values(found, 'acceleration')).all(axis=1) == marked).all()


def test_motions_that_begin_at_rest_and_other_names(robot, tmp_path):
    q, v, torque = states(robot, 10)
    write(tmp_path / 'a.parquet', q, v, torque)
    rollouts(robot, tmp_path / 'a.parquet', tmp_path / 'out', PERIOD, ['v_end'], v=None,
             prefix='model.', keep=['name'], precision='float32', compression='zstd')
    found = pq.read_table(tmp_path / 'out' / 'a.parquet')
    assert found.column_names == ['name', 'model.v_end', 'model.rollout_marks']
    want = robot.rollouts(q, 0.0 * v, torque, PERIOD).v[:, -1].astype('float32')
    assert np.array_equal(values(found, 'model.v_end'), want)


def test_finished_files_are_kept_and_the_result_is_equal(robot, shards, tmp_path):
    """As after a kill: a file is missing, another is half written."""
    rollouts(robot, shards, tmp_path / 'out', PERIOD)
    files = sorted((tmp_path / 'out').glob('*.parquet'))
    before = [file.read_bytes() for file in files]
    files[1].unlink()
    files[2].unlink()
    files[2].with_name('2.parquet.partial').write_bytes(b'half')
    shown = []
    done = rollouts(robot, shards, tmp_path / 'out', PERIOD,
                    progress=lambda share, text: shown.append((share, text)))
    assert done.resumed == 1 and shown[-1] == (1.0, '3 of 3 files')
    assert [file.read_bytes() for file in files] == before
    assert not list((tmp_path / 'out').glob('*.partial'))
    with pytest.raises(DynamicsError, match='which has results of other settings; name'):
        rollouts(robot, shards, tmp_path / 'out', 2 * PERIOD)
    with pytest.raises(DynamicsError, match='results of another model; name'):
        rollouts(robot.with_payload('cup', 'tool0', 1.0), shards, tmp_path / 'out', PERIOD)


def test_a_run_that_wrote_nothing_leaves_its_folder_to_other_settings(robot, shards, tmp_path):
    """One that wrote a file, or had written one before, does not."""
    q, v, torque = states(robot)
    for k in range(3):
        write(shards / f'{k}.parquet', q[:, :1], v, torque)
    with pytest.raises(DynamicsError, match='lists of 1 numbers'):
        rollouts(robot, shards, tmp_path / 'out', PERIOD)
    assert not list((tmp_path / 'out').iterdir())
    write(shards / '0.parquet', q, v, torque)
    done = rollouts(robot, shards, tmp_path / 'out', 2 * PERIOD)
    assert [*done.files] == ['0.parquet'] and len(done.failed) == 2
    with pytest.raises(DynamicsError, match='lists of 1 numbers'):
        rollouts(robot, shards / '1.parquet', tmp_path / 'out', 2 * PERIOD)
    with pytest.raises(DynamicsError, match='results of other settings'):
        rollouts(robot, shards, tmp_path / 'out', PERIOD)


@pytest.mark.parametrize('engine', sorted(MODULES))
def test_engines_write_equal_files(robot, shards, tmp_path, engine):
    """To the bit, with two workers."""
    if importlib.util.find_spec(MODULES[engine]) is None:
        pytest.skip(f'{engine} is an optional extra: pip install {PACKAGES[engine]}')
    for name in (None, engine):
        rollouts(robot, shards, tmp_path / str(name), PERIOD, engine=name, workers=2)
    for k in range(3):
        one, other = (tmp_path / str(name) / f'{k}.parquet' for name in (None, engine))
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(('options', 'words'), [
    ({'period': None}, 'period is None'), ({'period': -1.0}, 'period is'),
    ({'step': 0.0}, 'step is'), ({'columns': ['mass']}, 'q_motion'),
    ({'columns': []}, 'columns is empty'), ({'columns': ['q_end', 'q_end']}, "'q_end' twice"),
    ({'q': 'state'}, "no column 'state'"), ({'q': 3}, 'q is'), ({'v': 3}, 'v is'),
    ({'torque': 'name'}, 'list of numbers'), ({'torque': 3}, 'torque is'),
    ({'engine': 'spark'}, 'engine is'), ({'precision': 'float16'}, 'float32'),
    ({'compression': 'zip'}, 'zstd'), ({'prefix': 3}, 'prefix is'),
    ({'progress': 3}, 'progress is'), ({'keep': ['x']}, "no column 'x'"),
    ({'keep': ['q', 'name', 'q']}, "keep has 'q' twice")])
def test_invalid_arguments_are_named(robot, shards, tmp_path, options, words):
    with pytest.raises(DynamicsError) as error:
        rollouts(robot, shards, tmp_path / 'out', **{'period': PERIOD, **options})
    assert words in str(error.value)
    assert not (tmp_path / 'out').exists()


def test_torques_that_are_no_lists_are_refused(robot, tmp_path):
    """A dictionary has values too."""
    q, v, _ = states(robot, 10)
    pq.write_table(pa.table({'q': [*q], 'v': [*v], 'torque': pa.array(
        ['a'] * 10).dictionary_encode()}), tmp_path / 'a.parquet')
    with pytest.raises(DynamicsError, match="column 'torque' has values of type dict.* a list of"):
        rollouts(robot, tmp_path / 'a.parquet', tmp_path / 'out', PERIOD)


def test_torques_of_another_robot_are_refused(robot, tmp_path):
    q, v, torque = states(robot, 10)
    write(tmp_path / 'a.parquet', q, v, torque[:, :, :1])
    with pytest.raises(DynamicsError, match='a multiple of 2'):
        rollouts(robot, tmp_path / 'a.parquet', tmp_path / 'out', PERIOD)
    write(tmp_path / 'a.parquet', q[:, :1], v, torque)
    with pytest.raises(DynamicsError, match="column 'q' has lists of 1 numbers; expected 2"):
        rollouts(robot, tmp_path / 'a.parquet', tmp_path / 'out', PERIOD)
