"""Read and write recordings as CSV files, also compressed by gzip.

Three formats are read. Tables with a header, or with given names of columns, as `column_names.py`
describes them; `write_csv` writes

    time,position_<joint>,...,velocity_<joint>,...,effort_<joint>,...

Cells are separated by commas, semicolons (then a decimal comma is valid), tabs or blanks, and may
be empty. PlotJuggler's table has `__time` and columns such as `/joint_states/<joint>/position`.
`ros2 topic echo --csv /joint_states` has no header: seconds, nanoseconds, frame, names, positions,
velocities, efforts in each line.

The last line of a program that was stopped may be incomplete: it is left out, with a note.
Messages of errors name the place in a file, never its content: they are sent to other nodes.
"""

import csv
import gzip
import io
import itertools
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import numpy as np

from dynamics_node.checks import check_kind, check_names
from dynamics_node.errors import DynamicsError, FileError
from dynamics_node.files import open_file
from dynamics_node.identification.column_names import EXPECTED, recording_of_table
from dynamics_node.identification.recording import RawRecording, raw_recording

MAX_BYTES = 4_000_000_000    # two hours of seven joints at 1 kHz
LONGEST_LINE = 1_000_000     # characters
GZIP = b'\x1f\x8b'
INCOMPLETE = 'the last line of the file is incomplete and left out'


def read_csv(path: str | os.PathLike, columns: Sequence[str] = ()) -> RawRecording:
    """Return the RawRecording of a CSV file.

    :param columns: names of its columns, for a file without a header; a header is ignored then.
    :raise DynamicsError: what is missing in the file, and in which line.
    """
    check_kind('path', path, (str, os.PathLike))
    columns = check_names('columns', columns)
    with _lines(path) as lines:
        text = lines.readline(LONGEST_LINE)
        delimiter = _delimiter(text)
        first = next(csv.reader([text], delimiter=delimiter or ' ', skipinitialspace=True), [])
    first = [cell.strip() for cell in first if cell or delimiter]
    numbers = [_is_number(cell) for cell in first]
    if not columns and len(first) > 3 and numbers[0] and numbers[1]:
        if not all(numbers):
            return _of_echo(path, first)
        raise DynamicsError(f'{path} has numbers in line 1 and no names of columns: give them, as '
                            'in --columns time,position_a,effort_a')
    header, skipped = (columns, int(not all(numbers))) if columns else (first, 1)
    table, notes = _numbers(path, len(header), delimiter, skipped)
    return recording_of_table(path, header, table)._replace(notes=notes)


@contextmanager
def _lines(path: str | os.PathLike) -> Iterator[TextIO]:
    """Open a file as lines of text; raise a DynamicsError if it cannot be read."""
    try:
        with open_file(path, MAX_BYTES) as file:
            packed = file.peek(2)[:2] == GZIP
            yield io.TextIOWrapper(gzip.GzipFile(fileobj=file) if packed else file, 'utf-8-sig')
    except FileError as error:
        raise DynamicsError(f'{error.shown} cannot be read: {error.reason}') from error
    except UnicodeDecodeError as error:
        raise DynamicsError(f'{path} cannot be read: it is no UTF-8 text; {EXPECTED}') from error
    except csv.Error as error:
        raise DynamicsError(f'{path} cannot be read: {error}; {EXPECTED}') from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DynamicsError(f'{path} cannot be read: its compressed content is damaged') from error


def _delimiter(line: str) -> str | None:
    """Return the delimiter of cells in a line; None for blanks."""
    return next((mark for mark in ';\t,' if mark in line), None)


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


def _numbers(path: str | os.PathLike, width: int, delimiter: str | None, skipped: int
             ) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return (all lines but the first `skipped` as numbers, notes); an empty cell is NaN."""
    options = {'delimiter': delimiter, 'ndmin': 2, 'comments': None}
    try:
        return _loaded(path, width, delimiter, skipped, options)
    except DynamicsError:
        raise
    except ValueError:   # an empty cell, or a line of another width: read again, slower
        cells = _Cells(width, skipped)
        try:
            return _loaded(path, width, delimiter, skipped, {**options, 'converters': cells})
        except DynamicsError:
            raise
        except ValueError as error:
            reason = cells.refusal or 'has lines of different lengths'
            raise DynamicsError(f'{path} {reason}; {EXPECTED}') from error


def _loaded(path: str | os.PathLike, width: int, delimiter: str | None, skipped: int,
            options: Mapping[str, Any]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return (numbers, notes) of a file that is read by np.loadtxt."""
    notes: list[str] = []
    with _lines(path) as lines:
        rows = _whole_lines(path, lines, width, delimiter, skipped, notes)
        first = next(rows, None)
        if first is None:
            raise DynamicsError(f'{path} has no complete line of numbers; {EXPECTED}')
        table = np.loadtxt(itertools.chain([first], rows), **options)
    if table.shape[1:] != (width,):
        raise DynamicsError(f'{path} has {width} columns in its header and {table.shape[1]} in its '
                            'lines')
    return table, tuple(notes)


def _whole_lines(path: str | os.PathLike, lines: TextIO, width: int, delimiter: str | None,
                 skipped: int, notes: list[str]) -> Iterator[str]:
    """Yield the lines of a table; the last one only if it has all cells, else add a note."""
    for _ in range(skipped):
        lines.readline(LONGEST_LINE)
    before, size = None, 0
    while True:
        try:
            line = lines.readline(LONGEST_LINE)
        except EOFError:   # the end of a compressed file is missing
            line = ''
            notes.append('the compressed file ends early')
        size += len(line)
        if size > MAX_BYTES or len(line) >= LONGEST_LINE:
            raise DynamicsError(f'{path} has more than {MAX_BYTES} bytes, or a line of more than '
                                f'{LONGEST_LINE} characters')
        if line and not line.strip():
            continue
        if before is not None and (line or len(before.split(delimiter)) >= width):
            yield before.replace(',', '.') if delimiter == ';' else before
        elif before is not None:
            notes.append(INCOMPLETE)
        if not line:
            return
        before = line


class _Cells:
    """Convert the cells of a table one after the other; an empty one is NaN.

    :ivar refusal: the place of a cell that is not a number; '' if there is none.
    """

    def __init__(self, width: int, skipped: int) -> None:
        self.refusal, self._width, self._first, self._count = '', width, skipped + 1, 0

    def __call__(self, cell: str) -> float:
        row, column = divmod(self._count, self._width)
        self._count += 1
        try:
            return float(cell or 'nan')
        except ValueError:
            self.refusal = f'has no number in line {row + self._first}, column {column + 1}'
            raise


def _of_echo(path: str | os.PathLike, first: Sequence[str]) -> RawRecording:
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
                raise DynamicsError(f'{path}, line {number} has a cell that is not a number'
                                    ) from None
    table = np.array(rows)
    q, v, tau = np.split(table[:, 1:], 3, axis=1)
    return raw_recording(names, table[:, 0], q, tau, v)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
