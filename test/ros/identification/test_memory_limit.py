"""Test bombs in recordings: a read that would take all memory is refused."""

import os
import sqlite3
import subprocess
import sys

import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.rosbag2.reader import zstd
from support.recorded_bags import STORE, write_bag

LIMIT, BOMB = 200_000_000, 500_000_000   # bytes
ZEROS = bytes(50_000_000)
READ = f"""
import sys
import numpy, rosbags.highlevel, rosbags.typesys
from dynamics_node.errors import DynamicsError
from dynamics_node.ros.identification.jobs import IdentifyJob
from dynamics_node.ros.identification.memory_limit import limit_memory
limit_memory({LIMIT})
try:
    print(IdentifyJob(None, '', sys.argv[1])._read('recording', sys.argv[1]).q.tolist())
except DynamicsError as error:
    print('refused:', error)
"""


def read(path, folder):
    """Return what a process with a limit says of a recording."""
    done = subprocess.run([sys.executable, '-c', READ, path], capture_output=True, text=True,
                          timeout=100, env={**os.environ, 'TMPDIR': str(folder)})
    assert done.returncode == 0, done.stderr
    return done.stdout


def zstd_bomb(path):
    """Write some kilobytes that are a bomb when decompressed."""
    with zstd.open(path, 'wb') as file:
        for _ in range(BOMB // len(ZEROS)):
            file.write(ZEROS)
    assert path.stat().st_size < 1_000_000
    return path


def file_bomb(folder):
    """A bag whose storage is compressed as a file."""
    bag = write_bag(folder / 'bag', [(0.0, 'a', [1], [], [1])])
    metadata = bag / 'metadata.yaml'
    storage = next(bag.glob('*.db3')).name
    zstd_bomb(bag / f'{storage}.zstd')
    metadata.write_text(metadata.read_text().replace(storage, f'{storage}.zstd').replace(
        "compression_format: ''", 'compression_format: zstd').replace(
        "compression_mode: ''", 'compression_mode: file'))
    assert 'mode: file' in metadata.read_text()
    return bag


def message_bomb(folder):
    """A bag whose messages are compressed one by one."""
    bag = write_bag(folder / 'bag', [(0.0, 'a', [1], [], [1])])
    metadata = bag / 'metadata.yaml'
    metadata.write_text(metadata.read_text().replace(
        "compression_format: ''", 'compression_format: zstd').replace(
        "compression_mode: ''", 'compression_mode: message'))
    with sqlite3.connect(next(bag.glob('*.db3'))) as database:
        database.execute('UPDATE messages SET data = ?',
                         (zstd_bomb(folder / 'message').read_bytes(),))
    return bag


def chunk_bomb(folder):
    """An mcap file with a compressed chunk."""
    writer = Writer(folder / 'bag', version=9, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection('/joint_states', 'sensor_msgs/msg/JointState',
                                           typestore=STORE)
        writer.write(connection, 1, bytes(BOMB))
    file = next((folder / 'bag').glob('*.mcap'))
    assert file.stat().st_size < 1_000_000
    return file


def line_bomb(folder):
    """A table with one endless line; the file has a hole."""
    path = folder / 'x.csv'
    path.write_text('time,position_a,effort_a\n')
    os.truncate(path, BOMB)
    return path


def width_bomb(folder):
    """A table with a wide line."""
    path = folder / 'x.csv'
    path.write_text('time,position_a,effort_a\n' + '1,' * 20_000_000)
    return path


@pytest.mark.parametrize('bomb', [file_bomb, message_bomb, chunk_bomb, line_bomb, width_bomb])
def test_a_bomb_is_refused(tmp_path, bomb):
    """With the path in the message; no file is left."""
    (tmp_path / 'temporary').mkdir()
    path = bomb(tmp_path)
    said = read(path, tmp_path / 'temporary')
    assert said.startswith('refused:') and str(path) in said and len(said) < 500
    assert not list((tmp_path / 'temporary').iterdir())


def test_an_ordinary_recording_is_read_within_the_limit(tmp_path):
    bag = write_bag(tmp_path / 'bag', [(0.01 * k, 'a', [k], [], [1]) for k in range(3)])
    assert read(bag, tmp_path) == '[[0.0], [1.0], [2.0]]\n'
