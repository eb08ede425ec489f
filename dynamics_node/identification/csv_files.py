"""Read and write recordings as CSV files.

Three formats are read. That of `write_csv` has the header

    time,position_<joint>,...,velocity_<joint>,...,effort_<joint>,...

with optional velocities and columns in any order; passive joints need no effort. PlotJuggler's has
`__time` and columns such as `/joint_states/<joint>/position`; cells may be empty.
`ros2 topic echo --csv /joint_states` has no header: seconds, nanoseconds, frame, names, positions,
velocities, efforts in each line.

Messages of errors name the place in a file, never its content: they are sent to other nodes.
"""

import csv
import io
import itertools
import os
import re
from collections.abc import Sequence
from contextlib import contextmanager

import numpy as np

from dynamics_node.checks import check_kind
from dynamics_node.errors import DynamicsError, FileError
from dynamics_node.files import open_file
from dynamics_node.identification.recording import RawRecording, raw_recording

MAX_BYTES = 4_000_000_000    # two hours of seven joints at 1 kHz
LONGEST_HEADER = 1_000_000   # characters
QUANTITIES = ('position', 'velocity', 'effort')
TIMES = ('time', '__time')
PATTERNS = (re.compile(r'(?P<quantity>position|velocity|effort)_(?P<joint>.+)'),
            re.compile(r'(?:.*/)?(?P<joint>[^/]+)/(?P<quantity>position|velocity|effort)'))
EXPECTED = ('expected the header time,position_<joint>,...,effort_<joint>,... or a table of '
            'PlotJuggler or of `ros2 topic echo --csv`')


def read_csv(path: str | os.PathLike) -> RawRecording:
    """Return the RawRecording of a CSV file.

    :raise DynamicsError: what is missing in the file, and in which line.
    """
    check_kind('path', path, (str, os.PathLike))
    with _lines(path) as lines:
        first = next(csv.reader([lines.readline(LONGEST_HEADER)]), [])
    if len(first) > 3 and _is_number(first[0]) and _is_number(first[1]):
        return _of_echo(path, first)
    return _of_table(path, [name.strip() for name in first])


@contextmanager
def _lines(path):
    """Open a file as lines of text; raise a DynamicsError if it cannot be read."""
    try:
        with open_file(path, MAX_BYTES) as file:
            yield io.TextIOWrapper(file, 'utf-8-sig')
    except FileError as error:
        raise DynamicsError(f'{error.shown} cannot be read: {error.reason}') from error
    except UnicodeDecodeError as error:
        raise DynamicsError(f'{path} cannot be read: it is no UTF-8 text; {EXPECTED}') from error
    except csv.Error as error:
        raise DynamicsError(f'{path} cannot be read: {error}; {EXPECTED}') from error


def write_csv(path: str | os.PathLike, raw: RawRecording) -> None:
    """Write a RawRecording as a table with the header above; numbers are read back exactly."""
    quantities = {'position': raw.q, 'velocity': raw.v, 'effort': raw.tau}
    columns = {name: values for name, values in quantities.items() if values is not None}
    header = ['time', *(f'{name}_{joint}' for name in columns for joint in raw.joint_names)]
    write_table(path, header, np.column_stack([raw.time, *columns.values()]))


def write_table(path: str | os.PathLike, header: Sequence[str], rows: np.ndarray) -> None:
    """Write a header and rows of numbers; numbers are read back exactly."""
    with open(path, 'w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow(header)
        writer.writerows(rows.tolist())    # repr of a float: the shortest exact text


def _of_table(path, header):
    places, time = {}, None
    for k, name in enumerate(header):
        match = next(filter(None, (p.fullmatch(name) for p in PATTERNS)), None)
        if name in TIMES:
            time = k
        elif match:
            places[match['joint'], match['quantity']] = k
    joints = list(dict.fromkeys(joint for joint, _ in places))
    if time is None or not joints:
        raise DynamicsError(f'{path} has no column time, or no joint, in line 1; {EXPECTED}')
    for joint in joints:
        if (joint, 'position') not in places:
            raise DynamicsError(f"{path} has no column with the position of joint '{joint}'; each "
                                'joint needs it')
    if not any((joint, 'effort') in places for joint in joints):
        raise DynamicsError(f"{path} has no column with the effort of joint '{joints[0]}', nor of "
                            'any other; each joint with a motor needs it')
    table = _numbers(path, len(header))
    table = np.column_stack([table, np.full(len(table), np.nan)])

    def columns(quantity):   # the last column of the table is NaN
        return table[:, [places.get((joint, quantity), -1) for joint in joints]]
    measured = all((joint, 'velocity') in places for joint in joints)
    return raw_recording(joints, table[:, time], columns('position'), columns('effort'),
                         columns('velocity') if measured else None)


def _numbers(path, width):
    """Return all lines but the first as numbers; an empty cell is NaN."""
    rows = {'delimiter': ',', 'skiprows': 1, 'ndmin': 2, 'comments': None}
    try:
        with _lines(path) as lines:
            table = np.loadtxt(lines, **rows)
    except DynamicsError:
        raise
    except ValueError:   # an empty cell, or a line of another width: read again, slower
        cells = _Cells(width)
        try:
            with _lines(path) as lines:
                table = np.loadtxt(lines, converters=cells, **rows)
        except DynamicsError:
            raise
        except ValueError as error:
            reason = cells.refusal or 'has lines of different lengths'
            raise DynamicsError(f'{path} {reason}; {EXPECTED}') from error
    if table.shape[1:] != (width,):
        raise DynamicsError(f'{path} has {width} columns in its header and {table.shape[1]} in its '
                            'lines')
    return table


class _Cells:
    """Convert the cells of a table one after the other; an empty one is NaN.

    :ivar refusal: the place of a cell that is no number; '' if there is none.
    """

    def __init__(self, width):
        self.refusal, self._width, self._count = '', width, 0

    def __call__(self, cell):
        row, column = divmod(self._count, self._width)
        self._count += 1
        try:
            return float(cell or 'nan')
        except ValueError:
            self.refusal = f'has no number in line {row + 2}, column {column + 1}'
            raise


def _of_echo(path, first):
    names = list(itertools.takewhile(lambda cell: not _is_number(cell), first[3:]))
    n = len(names)
    if not n or len(first) != 3 + 4 * n:
        raise DynamicsError(f'{path}, line 1 has {n} names and {len(first) - 3 - n} numbers; '
                            'expected position, velocity and effort of each joint')
    rows = []
    with _lines(path) as lines:
        for number, line in enumerate(csv.reader(lines), 1):
            if line[3:3 + n] != names or len(line) != len(first):
                raise DynamicsError(f'{path}, line {number} does not have the joints of line 1; '
                                    'record a bag instead, where messages may differ')
            try:
                rows.append([float(line[0]) + 1e-9 * float(line[1]), *map(float, line[3 + n:])])
            except ValueError:
                raise DynamicsError(f'{path}, line {number} has a cell that is no number') from None
    table = np.array(rows)
    q, v, tau = np.split(table[:, 1:], 3, axis=1)
    return raw_recording(names, table[:, 0], q, tau, v)


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True
