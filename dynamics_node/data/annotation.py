"""Add columns of dynamics to the files of a data set: plan, run, resume, sum up."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dynamics_node.checks import check_callable, check_kind, check_names, choice
from dynamics_node.data.annotate_file import annotate_file
from dynamics_node.data.column_mapping import ColumnMapping
from dynamics_node.data.default_mapping import dataset_root
from dynamics_node.data.engines import check_engine, run_jobs
from dynamics_node.data.motion import MARKS
from dynamics_node.data.plan import plan
from dynamics_node.data.settings import CODECS, FOUND, KEY, PRECISIONS, metadata_of
from dynamics_node.data.sources import files_of
from dynamics_node.data.whole_files import write_whole
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.files import read_file
from dynamics_node.identification.recording import check_one_axis
from dynamics_node.identification.recording_files import TOPIC
from dynamics_node.robot.robot import Robot

MANIFEST = 'annotation.json'
MAX_BYTES = 1_000_000_000   # of it: a million files
Files = str | os.PathLike | Sequence[str | os.PathLike]


class Annotation(NamedTuple):
    """What was written, and what was found in the rows."""

    out: str                          # folder
    metadata: dict[str, Any]          # robot, model, settings and their digest
    files: dict[str, dict[str, int]]  # written file, relative to `out` -> its counts
    failed: dict[str, str]            # source -> why it could not be read
    resumed: int                      # files that an earlier run had finished
    seconds: float                    # of this run

    @property
    def counts(self) -> dict[str, int]:
        """Counts of all files: rows, episodes, marked rows and each mark."""
        names = ('rows', 'episodes', 'marked', *MARKS)
        return {name: sum(each[name] for each in self.files.values()) for name in names}


def annotate(robot: Robot, files: Files, columns: Sequence[str], out: str | os.PathLike,
             mapping: ColumnMapping | str | os.PathLike | Mapping | None = None, *,
             engine: str | None = None, workers: int | None = None, cutoff: float | None = None,
             effort_meaning: str | None = None, keep: Sequence[str] | None = None,
             prefix: str = '', precision: str = 'source', compression: str = 'source',
             topic: str = TOPIC, progress: Callable[[float, str], None] | None = None
             ) -> Annotation:
    """Write a copy of each file with columns of dynamics added; return the Annotation.

    Files that an earlier run with equal settings has finished are kept: call again after a kill.

    :param files: paths, patterns such as 'data/*.parquet', or the folder of a data set.
    :param columns: names of quantities.py, such as 'gravity' or 'pose:tool0'.
    :param out: folder of the results, Parquet files with the names of the sources.
    :param mapping: which columns are which joints; None: see default_mapping.py.
    :param engine: None: threads of this process; 'dask', 'ray': processes, or a running cluster.
    :param workers: None: one per core. A cluster that runs already has its own number.
    :param cutoff: of the filter on positions [Hz]; None: from the spectrum of the first episodes.
    :param effort_meaning: of the measured effort, if the mapping does not say it.
    :param keep: columns of the sources that are written; None: all.
    :param prefix: of the names of the added columns.
    :param precision: of the added numbers, 'float32' or 'float64'; 'source': as the positions.
    :param compression: a codec of Parquet; 'source': as the source.
    :param topic: of the joint states in bags.
    :param progress: function progress(share, text).
    :raise DynamicsError: the argument that is invalid; or no file could be read; or `out` has
        results of other settings.
    """
    started = time.monotonic()
    check_one_axis(robot)
    workers = check_engine(engine, workers)
    check_callable('progress', progress)
    choice('precision', precision, PRECISIONS)
    choice('compression', compression, CODECS)
    check_kind('prefix', prefix, str)
    check_kind('topic', topic, str)
    root = _folder(out)
    sources = files_of(files, root)
    targets = _targets(sources, root)
    settings = plan(
        robot, sources[0], columns, mapping, cutoff, effort_meaning, topic, prefix=prefix,
        keep=None if keep is None else check_names('keep', keep), precision=precision,
        compression=compression)
    metadata = metadata_of(robot, settings)
    _bind(root, metadata)
    found, jobs = _finished(zip(sources, targets), metadata['digest'])
    resumed, failed = len(found), {}
    for k, ((source, target), result) in enumerate(run_jobs(
            annotate_file, (robot, settings), jobs, engine, workers), start=1):
        if isinstance(result, DynamicsError):
            failed[source] = str(result)
        else:
            found[target] = result
        if progress is not None:
            progress(k / len(jobs), f'{resumed + k} of {len(sources)} files')
    if failed and not found:
        raise DynamicsError(next(iter(failed.values())))
    in_order = {os.path.relpath(target, root): found[str(target)] for target in targets
                if str(target) in found}
    done = Annotation(str(root), metadata, in_order, dict(sorted(failed.items())), resumed,
                      time.monotonic() - started)
    write_whole(root / MANIFEST, json.dumps(
        {**metadata, 'counts': done.counts, 'files': done.files, 'failed': done.failed}, indent=1)
        + '\n')
    return done


def _folder(out):
    if not isinstance(out, (str, os.PathLike)) or not str(out):
        raise DynamicsError(f'out is {shown(out)}; expected the path of a folder')
    return Path(out)


def _targets(sources, out):
    """Return the path of each result: below `out` as its source is below the common folder."""
    roots = {dataset_root(source) for source in sources}
    root = roots.pop() if len(roots) == 1 else None
    if root is None:
        root = Path(os.path.commonpath([source.absolute().parent for source in sources]))
    targets = [out / Path(os.path.relpath(source.absolute(), root.absolute()))
               .with_suffix('.parquet') for source in sources]
    twice = [target for target, count in Counter(targets).items() if count > 1]
    if twice:
        raise DynamicsError(f"several sources would be written to '{twice[0]}'; annotate them "
                            'into different folders')
    for source, target in zip(sources, targets):
        if target.absolute() == source.absolute():
            raise DynamicsError(f"out is '{out}', which has the sources; name another folder")
    return targets


def _bind(out, metadata):
    """Write the manifest; refuse a folder with results of another robot or other settings."""
    path = out / MANIFEST
    if path.exists():
        try:
            before = json.loads(read_file(path, MAX_BYTES))
        except ValueError:   # a FileError is one
            before = {}
        if before.get('digest') != metadata['digest']:
            differ = [key for key in ('model', 'settings') if before.get(key) != metadata[key]]
            raise DynamicsError(f"out is '{out}', which has results of another "
                                f'{" and other ".join(differ) or "version"}; name another folder, '
                                f"or remove its '{MANIFEST}' and files")
    else:
        write_whole(path, json.dumps(metadata, indent=1) + '\n')


def _finished(pairs, digest):
    """Return ({finished target: counts}, the other jobs)."""
    found, jobs = {}, []
    for source, target in pairs:
        counts = _counts_of(source, target, digest)
        if counts is None:
            jobs.append((str(source), str(target)))
        else:
            found[str(target)] = counts
    return found, jobs


def _counts_of(source, target, digest):
    """Return the counts in a finished file; None if it is missing, of other settings or older."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(target).metadata
        bound, found = (json.loads(metadata[key.encode()]) for key in (KEY, FOUND))
        size = os.path.getsize(source) if source.is_file() else 0
        fresh = os.path.getmtime(target) >= os.path.getmtime(source)
        same = bound['digest'] == digest and found['source_bytes'] == size
        return found['counts'] if fresh and same else None
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return None
