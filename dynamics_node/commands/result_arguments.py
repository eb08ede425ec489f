"""Options of the commands that write a copy of each file of a data set, and their summary."""

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynamics_node.data import WrittenFiles

OPTIONS = ('engine', 'workers', 'keep', 'prefix', 'precision', 'compression')


def add_result_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --out and OPTIONS to a parser."""
    parser.add_argument('--out', metavar='FOLDER', required=True,
                        help='folder of the written files; created if it does not exist')
    parser.add_argument('--engine', metavar='NAME', help='dask or ray; default: threads')
    parser.add_argument('--workers', metavar='N', type=int,
                        help='number of workers; default: one per core')
    parser.add_argument('--keep', metavar='NAME', nargs='+',
                        help='columns of the sources to be written; default: all')
    parser.add_argument('--prefix', metavar='TEXT', default='',
                        help='text before the names of added columns')
    parser.add_argument('--precision', default='source', help='precision of added numbers: '
                        'float32 or float64; default: that of the positions')
    parser.add_argument('--compression', default='source', help='none, snappy, zstd, lz4, gzip '
                        'or brotli; default: that of the source')


def result_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the OPTIONS as keyword arguments of `annotate` and `rollouts`."""
    return {name: getattr(arguments, name) for name in OPTIONS}


def summary(done: 'WrittenFiles') -> list[str]:
    """Return lines: the files that failed, the number of rows, and how many have each mark."""
    counts = done.counts
    episodes = f' of {counts["episodes"]} episodes' if 'episodes' in counts else ''
    return [
        *(f'failed: {reason}' for reason in done.failed.values()),
        f'{counts["rows"]} rows{episodes} in {len(done.files)} files, {done.resumed} of them '
        f'finished before; {counts["marked"]} rows are marked',
        *(f'  {name}: {counts[name]}' for name in sorted(counts)
          if name not in ('rows', 'episodes', 'marked') and counts[name])]
