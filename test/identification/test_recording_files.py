"""Test recording files: tables and bags, written and read back."""

import gzip
import os
import sys
import tracemalloc

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin
from support.recorded_bags import write_bag

from dynamics_node import DynamicsError
from dynamics_node.identification.bag_files import read_bag
from dynamics_node.identification.csv_files import read_csv, write_csv
from dynamics_node.identification.recording import raw_recording
from dynamics_node.identification.recording_files import read_recording

# Tables ------------------------------------------------------------------------------------------

@pytest.mark.parametrize('measured', [True, False])
def test_a_table_is_read_back_exactly(tmp_path, measured):
    """Every bit, nan included."""
    rng = np.random.default_rng(1)
    q, v, tau = rng.normal(size=(3, 5, 2))
    tau[2, 1] = np.nan
    raw = raw_recording(['a', 'b_2'], np.arange(5) / 3.0, q, tau, v if measured else None)
    write_csv(tmp_path / 'x.csv', raw)
    back = read_csv(tmp_path / 'x.csv')
    assert back.joint_names == ('a', 'b_2')
    for ours, theirs in zip(raw[1:], back[1:]):
        assert (theirs is None) if ours is None else np.array_equal(ours, theirs, equal_nan=True)


def test_a_table_of_plotjuggler_is_read(tmp_path):
    """Columns are topics, cells may be empty, the order is its own."""
    (tmp_path / 'x.csv').write_text(
        '__time,/joint_states/j1/effort,/joint_states/j1/position,/other/field,'
        '/joint_states/j1/velocity\n1.5,2,3,7,4\n1.6,,3.5,7,4.5\n')
    raw = read_csv(tmp_path / 'x.csv')
    assert raw.joint_names == ('j1',)
    assert raw.time.tolist() == [1.5, 1.6]
    assert raw.q[:, 0].tolist() == [3.0, 3.5]
    assert raw.v[:, 0].tolist() == [4.0, 4.5]
    assert raw.tau[0, 0] == 2.0
    assert np.isnan(raw.tau[1, 0])


def test_lines_of_ros2_topic_echo_are_read(tmp_path):
    """No header; names are in every line."""
    (tmp_path / 'x.csv').write_text('5,250000000,,a,b,1,2,3,4,5,6\n'
                                    '5,500000000,,a,b,7,8,9,10,.1,nan\n')
    raw = read_csv(tmp_path / 'x.csv')
    assert raw.joint_names == ('a', 'b')
    assert raw.time.tolist() == [5.25, 5.5]
    assert raw.q.tolist() == [[1.0, 2.0], [7.0, 8.0]]
    assert raw.v.tolist() == [[3.0, 4.0], [9.0, 10.0]]
    assert raw.tau[0].tolist() == [5.0, 6.0]


@pytest.mark.parametrize('text, words', [
    ('', 'expected the header'),
    ('a,b\n1,2\n', 'no column named time, or none named after a joint; expected the header'),
    ('time,position_a\n1,2\n', "no column with the effort of joint 'a'"),
    ('time,position_a,effort_a\n1,2,3\n,,\n1,2,x\n', 'no number in line 4, column 3'),
    ('time,position_a,effort_a\n1,2,3\n1,2\n1,2,3\n', 'lines of different lengths'),
    ('time,position_a,effort_a\n1,2\n1,2\n', '3 columns in its header and 2'),
    ('time,position_a,effort_a\n1,2\n', 'no complete line'),
    ('time,position_a,pos_a,effort_a\n1,2,3,4\n', 'position of one joint twice, in columns 2'),
    ('1,2,3,4,5\n', 'no names of columns: give them'),
    ('5,0,,a,1,2\n', 'line 1 has 1 names and 2 numbers'),
    ('5,0,,a,1,2,3\n5,1,,b,1,2,3\n', 'line 2 does not have the joints of'),
    ('5,0,,a,1,2,3\n5,1,,a,1,2,x\n', 'line 2 has a cell that is not a number')])
def test_bad_tables_are_refused(tmp_path, text, words):
    """With the reason."""
    (tmp_path / 'x.csv').write_text(text)
    with pytest.raises(DynamicsError, match=words):
        read_csv(tmp_path / 'x.csv')


@pytest.mark.parametrize('text', [
    '{0}', '{0}:x:0:0', 'time,{0}\n', 'time,position_a,effort_a\n1,2,{0}\n',
    'time,position_a,effort_a\n1,{0}\n', '1,2,{0}\n', '1,2,3,{0},4\n',
    '1,2,,a,1,2,3\n1,2,,a,1,2,{0}\n', '1,2,,{0},1,2,3\n1,2,,a,1,2,3\n', '\xff{0}', '"{0}'])
@pytest.mark.parametrize('name', ['x.csv', 'x.npz', 'x.mcap', 'x.db3', 'bag/metadata.yaml'])
def test_the_content_of_a_file_is_not_in_the_message(tmp_path, name, text):
    """A peer must not read files by the errors they cause."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.format('root_hash').encode('latin-1'))
    with pytest.raises(DynamicsError) as refusal:
        read_recording(path.parent if path.suffix == '.yaml' else path)
    assert 'root_hash' not in str(refusal.value)


@pytest.mark.parametrize('text', [
    't;q1;q2;tau1;tau2\n0,5;1,5;2;3;4\n1;5;6;7;8\n',
    'timestamp\tpos_1\tpos_2\ttorque_1\ttorque_2\n0.5\t1.5\t2\t3\t4\n1\t5\t6\t7\t8\n',
    'time  q_1 q_2 dq1 effort_1 tau_2\n0.5 1.5 2 9 3 4\n1  5 6 9 7 8\n',
    'stamp, position_1, position_2, effort_1, effort_2\n0.5, 1.5, 2, 3, 4\n1, 5, 6, 7, 8\n\n'],
    ids=['semicolons', 'tabs', 'blanks', 'commas'])
@pytest.mark.parametrize('packed', [False, True])
def test_tables_of_other_programs_are_read(tmp_path, text, packed):
    """Any delimiter, usual names, a decimal comma beside semicolons, compressed or not."""
    path = tmp_path / ('x.csv.gz' if packed else 'x.txt')
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    raw = read_recording(path)
    assert raw.joint_names == ('1', '2')
    assert raw.time.tolist() == [0.5, 1.0]
    assert raw.q.tolist() == [[1.5, 2.0], [5.0, 6.0]]
    assert raw.tau.tolist() == [[3.0, 4.0], [7.0, 8.0]]
    assert raw.notes == ()


@pytest.mark.parametrize('text', ['1 2 3\n4 5 6\n', 'a b c\n1 2 3\n4 5 6\n'])
def test_a_table_with_given_columns_needs_no_header(tmp_path, text):
    """A header of other names is ignored."""
    (tmp_path / 'x.csv').write_text(text)
    raw = read_recording(tmp_path / 'x.csv', columns=['time', 'position_a', 'effort_a'])
    assert (raw.time.tolist(), raw.q.tolist(), raw.tau.tolist()) == (
        [1.0, 4.0], [[2.0], [5.0]], [[3.0], [6.0]])


def test_columns_of_currents_are_marked(tmp_path):
    """They need a torque constant."""
    (tmp_path / 'x.csv').write_text('time,q1,current1,q2,tau2\n1,2,3,4,5\n')
    raw = read_csv(tmp_path / 'x.csv')
    assert raw.currents == ('1',)
    assert raw.tau.tolist() == [[3.0, 5.0]]


@pytest.mark.parametrize('end', ['7,8', '7,8\n', '7'])
def test_an_incomplete_last_line_is_left_out_with_a_note(tmp_path, end):
    """As of a program that was stopped."""
    (tmp_path / 'x.csv').write_text('time,q1,tau1\n1,2,3\n4,5,6\n' + end)
    raw = read_csv(tmp_path / 'x.csv')
    assert raw.time.tolist() == [1.0, 4.0]
    assert raw.notes == ('the last line of the file is incomplete and left out',)


def test_a_truncated_compressed_table_is_read_up_to_its_end(tmp_path):
    """With a note."""
    rows = np.random.default_rng(1).random((20_000, 3))
    text = 'time,q1,tau1\n' + '\n'.join(','.join(map(repr, row)) for row in rows.tolist())
    packed = gzip.compress(text.encode())
    (tmp_path / 'x.csv.gz').write_bytes(packed[:len(packed) // 2])
    raw = read_csv(tmp_path / 'x.csv.gz')
    assert 'the compressed file ends early' in raw.notes
    assert 5000 < len(raw.time) < 15_000
    assert np.array_equal(raw.q[:, 0], rows[:len(raw.time), 1])


def test_an_archive_of_arrays_is_read(tmp_path):
    """With names, or with the joints of the robot in order."""
    q, tau = np.arange(6.0).reshape(2, 3, 1)
    np.savez(tmp_path / 'x.npz', time=np.arange(3.0), q=q, tau=tau, joint_names=['a'])
    np.savez_compressed(tmp_path / 'y.npz', t=np.arange(3.0), position=q, effort=tau)
    for name, joints in (('x.npz', ('a',)), ('y.npz', ('1',))):
        raw = read_recording(tmp_path / name)
        assert raw.joint_names == joints
        assert np.array_equal(raw.q, q) and np.array_equal(raw.tau, tau)


@pytest.mark.parametrize('arrays, words', [
    ({'time': [1.0], 'q': [[1.0]]}, 'no tau; expected an archive'),
    ({'time': [1.0], 'q': [[object()]], 'tau': [[1.0]]}, 'or has objects'),
    ({'time': [1.0, 2.0], 'q': [[1.0]], 'tau': [[1.0]]}, r'q has shape \(1, 1\); expected \(2')])
def test_bad_archives_are_refused(tmp_path, arrays, words):
    np.savez(tmp_path / 'x.npz', **arrays)
    with pytest.raises(DynamicsError, match=words):
        read_recording(tmp_path / 'x.npz')


def test_a_parquet_file_is_read(tmp_path):
    """A table with the usual names of columns; an empty cell is NaN."""
    pa = pytest.importorskip('pyarrow', reason='Parquet is optional: pip install pyarrow')
    from pyarrow import parquet
    parquet.write_table(pa.table({'t': [1.0, 2.0], 'q1': [3.0, 4.0], 'tau1': [5.0, None]}),
                        tmp_path / 'x.parquet')
    raw = read_recording(tmp_path / 'x.parquet')
    assert (raw.time.tolist(), raw.q.tolist()) == ([1.0, 2.0], [[3.0], [4.0]])
    assert raw.tau[0, 0] == 5.0 and np.isnan(raw.tau[1, 0])


def test_parquet_without_pyarrow_is_refused_with_its_name(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'pyarrow', None)
    (tmp_path / 'x.parquet').write_bytes(b'PAR1')
    with pytest.raises(DynamicsError, match='pip install pyarrow'):
        read_recording(tmp_path / 'x.parquet')


def test_a_missing_table_is_refused(tmp_path):
    """A path that does not exist."""
    with pytest.raises(DynamicsError, match='cannot be read'):
        read_csv(tmp_path / 'x.csv')


@pytest.mark.parametrize('text', ['time,position_a,effort_a\n1,2,3\n4,5,6\n',
                                  '1,0,,a,2,0,3\n4,0,,a,5,0,6\n'], ids=['table', 'echo'])
@pytest.mark.parametrize('ending', ['\n', '\r\n', '\r'])
def test_any_line_ending_is_read(tmp_path, text, ending):
    (tmp_path / 'x.csv').write_bytes(b'\xef\xbb\xbf' + text.replace('\n', ending).encode())
    raw = read_csv(tmp_path / 'x.csv')
    assert (raw.time.tolist(), raw.q.tolist(), raw.tau.tolist()) == (
        [1.0, 4.0], [[2.0], [5.0]], [[3.0], [6.0]])


@pytest.mark.parametrize('name', ['x.csv', 'bag', 'x.mcap', 'x.db3'])
@pytest.mark.parametrize('kind', ['fifo', 'terminal', 'long name'])
def test_a_file_that_is_not_regular_is_refused_at_once(tmp_path, name, kind):
    """No process ever writes into it."""
    path = tmp_path / name
    if kind == 'fifo':
        os.mkfifo(path)
    elif kind == 'terminal':
        path.symlink_to(os.ttyname(os.openpty()[1]))
    else:
        path = tmp_path / ('x' * 100_000 + name)
    with pytest.raises(DynamicsError, match='cannot be read') as refusal:
        read_recording(path)
    assert len(str(refusal.value)) < 500


@pytest.mark.parametrize('text', ['x' * 300_000, 'time,' + 'x' * 2_000_000, '5,0,,a,1,2,3\n"'
                                  + 'x' * 300_000, '5,0,,a,1,2,3\n' + '5,0,,a,1,2,3\n' * 9000
                                  + '\xff'], ids=['header', 'longer', 'echo', 'late'])
def test_tables_that_the_csv_module_cannot_read_are_refused(tmp_path, text):
    """A field of more than 131,072 characters, a letter that is no UTF-8."""
    (tmp_path / 'x.csv').write_bytes(text.encode('latin-1'))
    with pytest.raises(DynamicsError, match='x.csv'):
        read_csv(tmp_path / 'x.csv')


# Bags --------------------------------------------------------------------------------------------

@pytest.mark.parametrize('plugin', list(StoragePlugin))
def test_a_bag_is_read_with_the_stamps_of_its_headers(tmp_path, plugin):
    """Not with those of arrival; names in any order."""
    path = write_bag(tmp_path / 'bag', [
        (0.001, 'ab', [1, 2], [3, 4], [5, 6]),
        (0.0035, 'ba', [20, 10], [40, 30], [60, 50])], plugin)
    raw = read_bag(path)
    assert raw.joint_names == ('a', 'b')
    assert raw.time == pytest.approx([0.0, 0.0025], abs=1e-12)
    assert raw.q.tolist() == [[1.0, 2.0], [10.0, 20.0]]
    assert raw.v.tolist() == [[3.0, 4.0], [30.0, 40.0]]
    assert raw.tau.tolist() == [[5.0, 6.0], [50.0, 60.0]]
    file = next(f for f in path.iterdir() if f.suffix in ('.mcap', '.db3'))
    assert np.array_equal(read_bag(file).q, raw.q)


def test_arm_and_gripper_are_merged_by_name(tmp_path):
    """The slower one is interpolated, but not in its gap and beyond its ends."""
    arm = [(0.01 * k, ['a'], [k], [], [2 * k]) for k in range(101)]
    grip = [(0.005 + 0.04 * k, ['g'], [0.005 + 0.04 * k], [], [7]) for k in range(24)
            if not 10 <= k < 15]
    raw = read_bag(write_bag(tmp_path / 'bag', sorted(arm + grip, key=lambda m: m[0])))
    assert raw.joint_names == ('a', 'g')
    assert raw.v is None
    assert raw.q[:, 0].tolist() == list(range(101))
    known = np.isfinite(raw.q[:, 1])
    assert raw.q[known, 1] == pytest.approx(raw.time[known], abs=1e-9)
    assert raw.tau[known, 1] == pytest.approx(7.0)
    gap = (raw.time > 0.365) & (raw.time < 0.605)
    ends = (raw.time < 0.005) | (raw.time > 0.925)
    assert np.array_equal(known, ~gap & ~ends)


def test_without_stamps_the_times_of_arrival_are_used(tmp_path):
    """A driver that leaves the header empty."""
    raw = read_bag(write_bag(tmp_path / 'bag', [(None, 'a', [k], [0], [0]) for k in range(3)]))
    assert raw.time == pytest.approx([0.0, 0.01, 0.02])


def test_a_clock_that_runs_backwards_is_not_sorted(tmp_path):
    """So that the checks detect it."""
    stamps = [0.0, 0.01, 0.005, 0.02]
    raw = read_bag(write_bag(tmp_path / 'bag', [(t, 'a', [t], [], [0]) for t in stamps]))
    assert raw.time == pytest.approx(stamps)


def test_bags_that_cannot_be_read_are_refused(tmp_path):
    """A missing folder, other files, another topic."""
    with pytest.raises(DynamicsError, match='there is no bag'):
        read_bag(tmp_path / 'nothing')
    (tmp_path / 'x.mcap').write_text('no bag')
    with pytest.raises(DynamicsError, match='cannot be read.*expected a ROS 2 bag'):
        read_bag(tmp_path / 'x.mcap')
    with pytest.raises(DynamicsError, match='cannot be read.*metadata.yaml'):
        read_bag(tmp_path)
    path = write_bag(tmp_path / 'bag', [(0.0, 'a', [1], [], [])], topic='/arm/joint_states')
    with pytest.raises(DynamicsError, match="no joint states on '/joint_states'; it has them on: "
                                            '/arm/joint_states'):
        read_bag(path)
    assert np.isnan(read_bag(path, '/arm/joint_states').tau).all()


def test_a_part_of_a_bag_that_is_no_regular_file_is_refused_at_once(tmp_path):
    """The metadata, or the storage that it names."""
    path = write_bag(tmp_path / 'bag', [(0.0, 'a', [1], [], [])])
    for file in (next(path.glob('*.db3')), path / 'metadata.yaml'):
        file.rename(tmp_path / 'kept')
        os.mkfifo(file)
        with pytest.raises(DynamicsError, match=f'{file.name} cannot be read: it is a fifo'):
            read_bag(path)
        file.unlink()
        (tmp_path / 'kept').rename(file)
    assert read_bag(path).q.tolist() == [[1.0]]


@pytest.mark.parametrize('spoil', [
    lambda text: text.replace('/arm', r'"/\ud800"'), lambda text: '[' * 200_000,
    lambda text: 'rosbag2_bagfile_information: 1', lambda text: '', lambda text: text + '\xff',
    lambda text: text.replace('relative_file_paths', 'paths')])
def test_invalid_metadata_are_refused(tmp_path, spoil):
    """By a message that ROS can send."""
    path = write_bag(tmp_path / 'bag', [(0.0, 'a', [1], [], [])], topic='/arm')
    text = (path / 'metadata.yaml').read_text()
    assert spoil(text) != text
    (path / 'metadata.yaml').write_bytes(spoil(text).encode('latin-1'))
    with pytest.raises(DynamicsError, match='metadata.yaml cannot be read') as refusal:
        read_bag(path, '/arm')
    str(refusal.value).encode()
    assert len(str(refusal.value)) < 700


@pytest.mark.parametrize('plugin', list(StoragePlugin))
@pytest.mark.parametrize('share', [0.5, 0.99])
def test_damaged_bags_are_refused(tmp_path, plugin, share):
    """Cut off, as by a full disk."""
    path = write_bag(tmp_path / 'bag', [(0.001 * k, 'a', [k], [], [k]) for k in range(1000)],
                     plugin)
    file = next(f for f in path.iterdir() if f.suffix in ('.mcap', '.db3'))
    data = file.read_bytes()
    file.write_bytes(data[:int(share * len(data))])
    with pytest.raises(DynamicsError, match='cannot be read'):
        read_bag(path)


@pytest.mark.parametrize('name', ['a%2e%2e', 'a?mode=rwc', 'a#b'])
def test_a_bag_whose_path_is_part_of_a_uri_is_refused(tmp_path, name):
    """SQLite would open another file, or with other options."""
    path = write_bag(tmp_path / 'bag', [(0.0, 'a', [1], [], [])]).rename(tmp_path / name)
    with pytest.raises(DynamicsError, match='cannot be read: its path has one of'):
        read_bag(path)


@pytest.mark.parametrize('name', ['x.npz', 'x.csv.gz', 'x.gz', 'x.npy', 'x.zip'])
def test_compressed_tables_are_not_decompressed(tmp_path, name):
    """They are no recordings: neither by their name nor by their content."""
    for path in (tmp_path / name, tmp_path / 'x.csv'):
        with gzip.open(path, 'wb') as file:
            file.write(bytes(10_000_000))
        tracemalloc.start()
        with pytest.raises(DynamicsError, match='cannot be read'):
            read_recording(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 5_000_000


def test_without_rosbags_the_error_says_how_to_install_it(tmp_path, monkeypatch):
    """The package is optional."""
    monkeypatch.setitem(sys.modules, 'rosbags.highlevel', None)
    with pytest.raises(DynamicsError, match='pip install rosbags'):
        read_bag(tmp_path)
