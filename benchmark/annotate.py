"""Annotate a large data set beside reading and writing the same Parquet; memory, kill, engines.

python benchmark/annotate.py [--rows 10000000] [--files 16] [--folder FOLDER] [--engines]

A data set of a 7-axis arm in LeRobot's layout (float32, episodes of 20 s at 50 Hz) is made once. It
is then, by two threads, (1) read and written with as many columns of numbers as the annotation
adds, which are not computed, and (2) annotated with gravity, inverse dynamics, external torque and
a pose. Both use the same codec, row groups and threads. Exit code 0 only if the ratio of the times
is at most 1.5, the memory of the annotation below 1 GB, and a run that is killed and resumed equal
to the bit; with --engines also runs by Dask and Ray.
"""

import argparse
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dynamics_node import Robot
from dynamics_node.data import annotate
from dynamics_node.data.annotate_file import ROWS
from dynamics_node.data.engines import run_jobs
from dynamics_node.example_robots import ARM7

COLUMNS = ['gravity', 'inverse_dynamics', 'external_torque', 'pose:tool0']
RATE, EPISODE = 50.0, 1000
MOST_TIMES, MOST_MEMORY = 1.5, 1000.0   # [1], [MB]
CORES = 2


def make(folder, rows, files):
    """Write the data set."""
    robot = Robot.from_urdf(ARM7)
    for number in range(files):
        _shard(robot, folder / f'file-{number:03d}.parquet', rows // files, number)


def _shard(robot, path, rows, number):
    rng = np.random.default_rng(number)
    with pq.ParquetWriter(path, _table(robot, rng, 0, 1).schema) as writer:
        for first in range(0, rows, 100 * EPISODE):
            writer.write_table(_table(robot, rng, first, min(rows - first, 100 * EPISODE)))


def _table(robot, rng, first, rows):
    index = first + np.arange(rows)
    episode, frame = np.divmod(index, EPISODE)
    place = episode - first // EPISODE
    w = 2.0 * np.pi * rng.uniform(0.1, 0.6, (place[-1] + 1, 7))[place]
    phase = w * (frame / RATE)[:, None] + rng.uniform(0.0, 6.0, (place[-1] + 1, 7))[place]
    q, v, a = 0.5 * np.sin(phase), 0.5 * w * np.cos(phase), -0.5 * w * w * np.sin(phase)
    effort = robot.inverse_dynamics(q, v, a) + 0.05 * rng.normal(size=q.shape)
    q += 1e-4 * rng.normal(size=q.shape)

    def lists(x):
        return pa.FixedSizeListArray.from_arrays(pa.array(x.astype('float32').ravel()), 7)
    return pa.table({'observation.state': lists(q), 'observation.effort': lists(effort),
                     'action': lists(q), 'timestamp': (frame / RATE).astype('float32'),
                     'frame_index': frame, 'episode_index': episode, 'index': index})


def annotated(source, out, engine=None):
    """Annotate the data set."""
    annotate(Robot.from_urdf(ARM7), source, COLUMNS, out, effort_meaning='motor_torque',
             engine=engine, workers=CORES)


def copied(source, out, example):
    """Read and write the data set with the added columns of an annotated file."""
    out.mkdir()
    jobs = [(str(path), str(out / path.name)) for path in sorted(source.iterdir())]
    for _, result in run_jobs(_copy, (str(example),), jobs, None, CORES):
        assert isinstance(result, dict)


def _copy(example, source, target):
    file = pq.ParquetFile(example)
    schema, codec = file.schema_arrow, file.metadata.row_group(0).column(0).compression
    added = next(file.iter_batches(ROWS, columns=[*COLUMNS, 'annotation_marks']))
    numbers = [field.name for field in schema if not pa.types.is_floating(
        getattr(field.type, 'value_type', field.type))]
    with pq.ParquetWriter(target, schema, compression=codec, use_dictionary=numbers) as writer:
        for batch in pq.ParquetFile(source).iter_batches(ROWS, use_threads=False):
            n = batch.num_rows
            columns = [*batch.columns, *(column.slice(0, n) for column in added.columns)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=n)
    with Path(target).open('rb') as written:
        os.fsync(written.fileno())
    return {}


def alone(function, *arguments, kill_after=None):
    """Return (seconds, MB at most, CPU seconds) of a call in a process of its own."""
    context = multiprocessing.get_context('spawn')
    receiver, sender = context.Pipe(False)
    process = context.Process(target=_measured, args=(sender, function, arguments))
    process.start()
    if kill_after is not None:
        receiver.recv()   # it has begun
        time.sleep(kill_after)
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL, 'it ended before it was killed'
        return None
    receiver.recv()
    found = receiver.recv()
    process.join()
    return found


def _measured(sender, function, arguments):
    Robot.from_urdf(ARM7).compile(wait=True, frames=['tool0'])
    sender.send('begun')
    begun, cpu = time.perf_counter(), time.process_time()
    function(*arguments)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    sender.send((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0, cpu))


def equal(one, other):
    """Return whether two folders have equal Parquet files."""
    names = [sorted(path.name for path in folder.glob('*.parquet')) for folder in (one, other)]
    return names[0] == names[1] and all(
        (one / name).read_bytes() == (other / name).read_bytes() for name in names[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rows', type=int, default=10_000_000)
    parser.add_argument('--files', type=int, default=16)
    parser.add_argument('--folder', help='of the data set, which is kept; default: a temporary one')
    parser.add_argument('--engines', action='store_true', help='also Dask and Ray')
    parser.add_argument('--runs', type=int, default=2, help='the fastest one counts')
    sys.exit(run(parser.parse_args()))


def run(arguments):
    with tempfile.TemporaryDirectory(dir=arguments.folder) as temporary:
        folder = Path(temporary)
        source = Path(arguments.folder or temporary) / 'source'
        if not source.exists():
            source.mkdir()
            make(source, arguments.rows, arguments.files)
        times = {'annotate': [], 'copy': []}
        cpu = {'annotate': [], 'copy': []}
        memory = []
        for _ in range(arguments.runs):
            shutil.rmtree(folder / 'out', ignore_errors=True)
            shutil.rmtree(folder / 'copy', ignore_errors=True)
            for name, (seconds, megabytes, used) in (
                    ('annotate', alone(annotated, source, folder / 'out')),
                    ('copy', alone(copied, source, folder / 'copy',
                                   folder / 'out' / 'file-000.parquet'))):
                times[name].append(seconds)
                cpu[name].append(used)
                memory += [megabytes] if name == 'annotate' else []
        shutil.rmtree(folder / 'copy')
        fastest, plain = min(times['annotate']), min(times['copy'])
        rows = sum(pq.read_metadata(path).num_rows for path in source.iterdir())
        print(f'{rows} rows: annotated in {fastest:.2f} s, read and written in {plain:.2f} s: '
              f'{fastest / plain:.2f} times; {max(memory):.0f} MB; CPU '
              f'{min(cpu["annotate"]):.2f} s and {min(cpu["copy"]):.2f} s: '
              f'{min(cpu["annotate"]) / min(cpu["copy"]):.2f} times')
        kill_after = random.uniform(0.1, 0.9) * fastest
        alone(annotated, source, folder / 'killed', kill_after=kill_after)
        kept = len(list((folder / 'killed').glob('*.parquet')))
        annotated(source, folder / 'killed')
        same = {f'killed after {kill_after:.1f} s with {kept} files finished, resumed':
                equal(folder / 'out', folder / 'killed')}
        shutil.rmtree(folder / 'killed')
        for engine in ('dask', 'ray') if arguments.engines else ():
            annotated(source, folder / engine, engine)
            same[engine] = equal(folder / 'out', folder / engine)
            shutil.rmtree(folder / engine)
        for name, result in same.items():
            print(f'{name}: {"equal to the bit" if result else "DIFFERENT"}')
        good = fastest <= MOST_TIMES * plain and max(memory) <= MOST_MEMORY and all(same.values())
        return 0 if good else 1


if __name__ == '__main__':
    main()
