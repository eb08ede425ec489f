"""Test annotated data sets: their numbers, their metadata, resumed and refused runs."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.recorded_bags import write_bag
from support.robot_data_sets import RATE, episode_table, motion, values, write_data_set

from dynamics_node import DynamicsError, Robot
from dynamics_node.data import annotate
from dynamics_node.data.motion import MARKS
from dynamics_node.example_robots import ARM7
from dynamics_node.model.fingerprint import full_fingerprint

COLUMNS = ('gravity', 'inverse_dynamics', 'external_torque', 'pose:tool0', 'power')
PUSH = np.array([1.5, -2.0])   # external torque [N m]
FLOAT32 = 3e-7                 # relative rounding of positions and results
KILLED = """
import os, signal, sys, threading, time
from dynamics_node.data import annotate
from support.robot_data_sets import two_joint_arm

robot = two_joint_arm()
annotate(robot, sys.argv[1], ['gravity'], sys.argv[2] + '/warm')   # imports, kernels
threading.Timer(float(sys.argv[3]), lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
annotate(robot, sys.argv[1], ['gravity', 'inverse_dynamics'], sys.argv[2] + '/out', workers=2)
time.sleep(60.0)
"""


def run(robot, source, out, columns=COLUMNS, **options):
    return annotate(robot, source, columns, out, **{'effort_meaning': 'motor_torque', **options})


@pytest.mark.parametrize('version', ['v2.1', 'v3.0'])
def test_the_columns_of_a_lerobot_data_set(robot, tmp_path, version):
    """A known motion under a known external torque; all other columns stay as they are."""
    source = write_data_set(tmp_path / 'set', robot, version=version, external=PUSH)
    done = run(robot, source, tmp_path / 'out')
    names = sorted(path.relative_to(source) for path in source.rglob('*.parquet'))
    assert [*done.files] == [str(name) for name in names]
    assert done.counts['rows'] == 1800 and done.counts['episodes'] == 3 and not done.failed
    for name in names:
        before, after = pq.read_table(source / name), pq.read_table(tmp_path / 'out' / name)
        assert after.select(before.column_names).equals(before)
        assert after.column_names == [*before.column_names, *COLUMNS, 'annotation_marks']
        inside = after['annotation_marks'].to_numpy() == 0
        assert inside.mean() > 0.6
        t = after['frame_index'].to_numpy() / RATE
        q, v, a = motion(t, (0.3, 0.5), 0.7 * after['episode_index'].to_numpy()[:, None])
        tau = robot.inverse_dynamics(q, v, a)
        for column, want in (('inverse_dynamics', tau), ('power', tau * v),
                             ('external_torque', np.broadcast_to(PUSH, tau.shape))):
            error = np.abs(values(after, column) - want)[inside].max()
            assert error < 1e-3 * max(np.abs(want).max(), np.abs(tau).max()), column
        assert values(after, 'gravity') == pytest.approx(robot.gravity_torque(q), rel=1e-5,
                                                         abs=FLOAT32 * np.abs(tau).max())
        assert values(after, 'pose:tool0')[:, :3] == pytest.approx(
            robot.frame_pose(q, 'tool0')[:, :3, 3], abs=1e-6)


def test_accelerations_and_derivatives_of_a_data_set(robot, tmp_path):
    """Without an external torque the forward dynamics is the acceleration."""
    source = write_data_set(tmp_path / 'set', robot)
    names = ['velocity', 'acceleration', 'forward_dynamics', 'forward_dynamics_dtau',
             'inverse_dynamics_da']
    run(robot, source, tmp_path / 'out', columns=names)
    after = pq.read_table(next((tmp_path / 'out').rglob('*.parquet')))
    inside = after['annotation_marks'].to_numpy() == 0
    a, found = (values(after, name)[inside] for name in ('acceleration', 'forward_dynamics'))
    assert np.abs(found - a).max() < 1e-3 * np.abs(a).max()
    M, inverse = (values(after, name)[inside].reshape(-1, 2, 2).astype(float)
                  for name in reversed(names[3:]))
    assert np.abs(M @ inverse - np.eye(2)).max() < 1e-4


def test_windows_of_rows_do_not_show(robot, tmp_path, monkeypatch):
    """Windows of 256 rows give the numbers of one window: the filter has forgotten the rest."""
    table = episode_table(robot, 0, 5000, dtype='float64')
    pq.write_table(table, tmp_path / 'a.parquet', row_group_size=300)
    found = []
    for rows in (65_536, 256):
        monkeypatch.setattr('dynamics_node.data.annotate_file.ROWS', rows)
        run(robot, tmp_path / 'a.parquet', tmp_path / str(rows), cutoff=3.0, mapping={
            'position': {'column': 'observation.state'}, 'time': 'timestamp', 'rate': RATE,
            'effort': {'column': 'observation.effort'}})
        file = pq.ParquetFile(tmp_path / str(rows) / 'a.parquet')
        found.append(file.read())
    assert file.num_row_groups > 4
    whole, parts = found
    assert whole['annotation_marks'].equals(parts['annotation_marks'])
    for column in ('inverse_dynamics', 'external_torque'):
        assert np.abs(values(whole, column) - values(parts, column)).max() < 1e-9 * np.abs(
            values(whole, 'inverse_dynamics')).max()


def test_bad_rows_are_marked_and_kept(robot, tmp_path):
    """NaN, times out of order, gaps, missing efforts, positions beyond the limits."""
    table = episode_table(robot, 0, 1000)
    q, effort = (values(table, f'observation.{x}').copy() for x in ('state', 'effort'))
    stamps = table['timestamp'].to_numpy().copy()
    q[300, 0], q[600, 1] = np.nan, 100.0
    effort[400, 0] = np.nan
    stamps[500] = 0.0
    stamps[700:] += 2.0
    lists = [pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), 2) for x in (q, effort)]
    table = table.set_column(0, 'observation.state', lists[0]).set_column(
        1, 'observation.effort', lists[1]).set_column(3, 'timestamp', pa.array(stamps))
    pq.write_table(table, tmp_path / 'a.parquet')
    done = run(robot, tmp_path / 'a.parquet', tmp_path / 'out', cutoff=2.5)
    after = pq.read_table(tmp_path / 'out' / 'a.parquet')
    marks = after['annotation_marks'].to_numpy()
    assert len(marks) == 1000
    for name, rows in (('no_position', [300]), ('no_effort', [400]), ('out_of_order', [500]),
                       ('outside_limits', [600]), ('after_gap', [700])):
        assert np.flatnonzero(marks & MARKS[name]).tolist() == rows, name
        assert done.counts[name] == 1
    assert np.flatnonzero(np.isnan(values(after, 'gravity')[:, 0])).tolist() == [300]
    assert np.flatnonzero(np.isnan(values(after, 'power')[:, 0])).tolist() == [300, 500]
    assert np.flatnonzero(np.isnan(values(after, 'external_torque')[:, 0])).tolist() == [
        300, 400, 500]


def test_units_and_the_model_are_in_the_metadata(robot, data_set, tmp_path):
    done = run(robot, data_set, tmp_path, columns=['gravity', 'pose:tool0'])
    schema = pq.read_schema(next(tmp_path.rglob('*.parquet')))
    model = full_fingerprint(robot.model)
    field = schema.field('gravity').metadata
    assert field[b'unit'] == b'N m or N' and field[b'model'] == model.encode()
    assert field[b'joints'] == b'joint_1 joint_2'
    stamp = json.loads(schema.metadata[b'dynamics_node'])
    assert stamp['joints'] == ['joint_1', 'joint_2']
    assert stamp['model'] == model == done.metadata['model']
    assert stamp['settings']['cutoff'] is None   # no derivative was asked for
    manifest = json.loads((tmp_path / 'annotation.json').read_text())
    assert manifest['digest'] == stamp['digest'] and manifest['counts'] == done.counts
    heavier = robot.with_payload('load', 'tool0', 1.0)
    assert full_fingerprint(heavier.model) != model != full_fingerprint(
        robot.with_gravity((0.0, 0.0, -1.6)).model)


def test_precision_compression_prefix_and_chosen_columns(robot, data_set, tmp_path):
    run(robot, data_set, tmp_path, columns=['gravity'], precision='float64', compression='zstd',
        prefix='model.', keep=['episode_index', 'observation.state'])
    file = pq.ParquetFile(next(tmp_path.rglob('*.parquet')))
    assert file.schema_arrow.names == ['episode_index', 'observation.state', 'model.gravity',
                                       'model.annotation_marks']
    assert file.schema_arrow.field('model.gravity').type.value_type == pa.float64()
    assert file.metadata.row_group(0).column(0).compression == 'ZSTD'


def test_finished_files_are_kept(robot, data_set, tmp_path):
    """A file that is missing or older than its source is written again; others are kept."""
    run(robot, data_set, tmp_path)
    files = sorted(tmp_path.rglob('*.parquet'))
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in files}
    files[1].unlink()
    files[2].with_name(files[2].name + '.partial').write_bytes(b'half')
    os.utime(files[2], (0, 0))
    done = run(robot, data_set, tmp_path)
    assert done.resumed == 1 and done.counts['rows'] == 1800
    assert {file: file.read_bytes() for file in files} == {
        file: content for file, (content, _) in before.items()}
    assert files[0].stat().st_mtime_ns == before[files[0]][1]
    assert not list(tmp_path.rglob('*.partial'))


@pytest.mark.parametrize('pattern', ['', '**/*.parquet'])
def test_results_inside_the_folder_of_the_sources_are_no_sources(robot, tmp_path, pattern):
    """A second run resumes the first."""
    for k in range(2):
        pq.write_table(episode_table(robot, k, 300), tmp_path / f'{k}.parquet')
    runs = [run(robot, tmp_path / pattern, tmp_path / 'out', ['gravity']) for _ in range(2)]
    assert [each.resumed for each in runs] == [0, 2]
    assert [*runs[1].files] == [*runs[0].files] == ['0.parquet', '1.parquet']


def test_other_settings_do_not_resume(robot, data_set, tmp_path):
    run(robot, data_set, tmp_path)
    for other, words in ((lambda: run(robot, data_set, tmp_path, cutoff=2.0), 'settings'),
                         (lambda: run(robot.with_payload('load', 'tool0', 1.0), data_set, tmp_path),
                          'model')):
        with pytest.raises(DynamicsError, match=f'has results of.*{words}'):
            other()


@pytest.mark.parametrize('share', [0.2, 0.7])
def test_a_killed_run_is_resumed_to_the_bit(robot, tmp_path, share):
    """SIGKILL at a share of the time that the whole takes."""
    for k in range(12):
        pq.write_table(episode_table(robot, k, 400), tmp_path / f'{k:02d}.parquet')
    sources = str(tmp_path / '*.parquet')
    begun = time.monotonic()
    annotate(robot, sources, ['gravity', 'inverse_dynamics'], tmp_path / 'whole', workers=2)
    seconds = share * (time.monotonic() - begun)
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(
        [os.path.dirname(os.path.dirname(__file__)), os.environ.get('PYTHONPATH', '')])}
    killed = subprocess.run([sys.executable, '-c', KILLED, sources, str(tmp_path), str(seconds)],
                            env=environment, timeout=120, check=False)
    assert killed.returncode == -signal.SIGKILL
    left = {path.name for path in (tmp_path / 'out').glob('*.parquet')}
    done = annotate(robot, sources, ['gravity', 'inverse_dynamics'], tmp_path / 'out', workers=2)
    assert done.resumed == len(left)
    for k in range(12):
        name = f'{k:02d}.parquet'
        assert (tmp_path / 'out' / name).read_bytes() == (tmp_path / 'whole' / name).read_bytes()


def test_csv_files_and_bags(robot, tmp_path):
    """Recordings of one motion in two formats have equal annotations."""
    time_ = np.arange(400) / RATE
    q, v, a = motion(time_)
    tau = robot.inverse_dynamics(q, v, a)
    names = list(robot.joint_names)
    write_bag(tmp_path / 'bag', [(t, names, x, [], y) for t, x, y in zip(time_, q, tau)])
    header = ['time', *(f'{w}_{n}' for w in ('position', 'effort') for n in names)]
    np.savetxt(tmp_path / 'a.csv', np.column_stack([time_, q, tau]), '%.17g', ',',
               header=','.join(header), comments='')
    done = run(robot, [tmp_path / 'a.csv', tmp_path / 'bag'], tmp_path / 'out', cutoff=2.5,
               columns=['inverse_dynamics', 'external_torque'])
    assert sorted(done.files) == ['a.parquet', 'bag.parquet']
    tables = [pq.read_table(tmp_path / 'out' / name) for name in done.files]
    inside = tables[0]['annotation_marks'].to_numpy() == 0
    for table in tables:
        assert np.abs(values(table, 'inverse_dynamics') - tau)[inside].max() < 1e-3 * np.abs(
            tau).max()
        assert np.abs(values(table, 'external_torque'))[inside].max() < 1e-3 * np.abs(tau).max()


def test_a_file_that_cannot_be_read_does_not_stop_the_others(robot, data_set, tmp_path):
    files = sorted(data_set.rglob('*.parquet'))
    (tmp_path / 'bad.parquet').write_bytes(b'nothing')
    shown = []
    done = run(robot, [*files, tmp_path / 'bad.parquet'], tmp_path / 'out',
               progress=lambda share, text: shown.append((share, text)))
    assert len(done.files) == 3 and len(done.failed) == 1
    assert 'bad.parquet' in next(iter(done.failed.values()))
    assert shown[-1] == (1.0, '4 of 4 files')


def test_seven_axes_in_float32(tmp_path, fast_arm):
    """The bundled arm: gravity of the recorded float32 positions, rounded once."""
    pq.write_table(episode_table(fast_arm, 0, 300), tmp_path / 'a.parquet')
    run(fast_arm, tmp_path / 'a.parquet', tmp_path / 'out', columns=['gravity'])
    after = pq.read_table(tmp_path / 'out' / 'a.parquet')
    q = values(after, 'observation.state').astype(float)
    assert np.array_equal(values(after, 'gravity'), fast_arm.gravity_torque(q).astype('float32'))


@pytest.mark.parametrize(('options', 'words'), [
    ({'columns': ['mass']}, "'mass'"), ({'effort_meaning': 'unknown'}, 'effort_meaning'),
    ({'effort_meaning': None}, 'effort_meaning'), ({'cutoff': 30.0}, 'at most 20'),
    ({'cutoff': -1.0}, 'cutoff is'), ({'keep': ['x']}, "no column 'x'"),
    ({'keep': ['timestamp', 'timestamp']}, "keep has 'timestamp' twice"),
    ({'precision': 'float16'}, 'float32'), ({'compression': 'zip'}, 'zstd'),
    ({'columns': ['forward_dynamics_dq'], 'effort_meaning': 'output_torque'},
     'forward_dynamics_dq needs the torque of the motors'),
    ({'prefix': 3}, 'prefix is'), ({'engine': 'spark'}, 'engine is'),
    ({'progress': 3}, 'progress is'), ({'topic': None}, 'topic is'),
    ({'mapping': {'position': {'column': 'state'}, 'rate': 50}}, "no column 'state'"),
    ({'mapping': {'position': {'column': 'action'}, 'rate': 50}}, 'effort: {column: NAME}')])
def test_invalid_arguments_are_named(robot, data_set, tmp_path, options, words):
    with pytest.raises(DynamicsError) as error:
        run(robot, data_set, tmp_path / 'out', **options)
    assert words in str(error.value)
    assert not (tmp_path / 'out').exists()


def test_results_do_not_replace_sources(robot, data_set, tmp_path):
    with pytest.raises(DynamicsError, match='name another folder'):
        run(robot, data_set, data_set)
    with pytest.raises(DynamicsError, match='out is'):
        run(robot, data_set, 3)
    run(robot, data_set, tmp_path, columns=['gravity'])
    with pytest.raises(DynamicsError, match="a column 'gravity' already"):
        run(robot, tmp_path / 'data', tmp_path / 'twice', columns=['gravity'])


def test_positions_in_another_unit_are_noticed(robot, tmp_path):
    table = episode_table(robot, 0, 500)
    degrees = np.degrees(values(table, 'observation.state')) * 4.0
    lists = pa.FixedSizeListArray.from_arrays(pa.array(degrees.ravel()), 2)
    pq.write_table(table.set_column(0, 'observation.state', lists), tmp_path / 'a.parquet')
    with pytest.raises(DynamicsError, match='seems to be in degrees'):
        run(robot, tmp_path / 'a.parquet', tmp_path / 'out')


def test_robots_that_are_refused(data_set, tmp_path):
    with pytest.raises(DynamicsError, match='more than one axis'):
        run(Robot.from_urdf(ARM7, base='floating', compile=False), data_set, tmp_path)
