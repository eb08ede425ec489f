"""Add columns of dynamics to the files of a data set: plan, run, sum up."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dynamics_node.checks import check_callable, check_kind, check_names, choice
from dynamics_node.data.annotate_file import annotate_file
from dynamics_node.data.column_mapping import ColumnMapping
from dynamics_node.data.engines import check_engine
from dynamics_node.data.motion import MARKS
from dynamics_node.data.plan import plan
from dynamics_node.data.resumable_run import (
    Files,
    places_of,
    run_files,
    write_manifest,
)
from dynamics_node.data.settings import CODECS, PRECISIONS, metadata_of
from dynamics_node.identification.recording import check_one_axis
from dynamics_node.identification.recording_files import TOPIC
from dynamics_node.robot.robot import Robot

MANIFEST = 'annotation.json'


class Annotation(NamedTuple):
    """What was written, and what was found in the rows."""

    out: str                          # folder
    metadata: dict[str, Any]          # robot, model, settings and their digest
    files: dict[str, dict[str, int]]  # written file, relative to `out` -> its counts
    failed: dict[str, str]            # source -> why it failed
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
    :raise DynamicsError: the argument that is invalid; or all files failed; or `out` has
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
    places = places_of(files, out)
    settings = plan(
        robot, places.sources[0], columns, mapping, cutoff, effort_meaning, topic, prefix=prefix,
        keep=None if keep is None else check_names('keep', keep), precision=precision,
        compression=compression)
    metadata = metadata_of(robot, settings)
    run = run_files(annotate_file, (robot, settings), places, metadata, MANIFEST,
                    engine, workers, progress)
    done = Annotation(str(places.out), metadata, *run, time.monotonic() - started)
    write_manifest(places, MANIFEST, {
        **metadata, 'counts': done.counts, 'files': done.files, 'failed': done.failed})
    return done
