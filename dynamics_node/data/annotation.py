"""Add columns of dynamics to the files of a data set: check the settings, run, sum up."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from dynamics_node.checks import check_callable, check_kind, check_names, choice
from dynamics_node.data.annotate_file import annotate_file
from dynamics_node.data.checked_settings import checked_settings
from dynamics_node.data.column_mapping import ColumnMapping
from dynamics_node.data.engines import check_engine
from dynamics_node.data.resumable_run import Files, WrittenFiles, places_of, run_files
from dynamics_node.data.settings import CODECS, PRECISIONS, metadata_of
from dynamics_node.identification.recording import check_one_axis
from dynamics_node.identification.recording_files import TOPIC
from dynamics_node.robot.robot import Robot

MANIFEST = 'annotation.json'


def annotate(robot: Robot, files: Files, columns: Sequence[str], out: str | os.PathLike,
             mapping: ColumnMapping | str | os.PathLike | Mapping | None = None, *,
             engine: str | None = None, workers: int | None = None, cutoff: float | None = None,
             effort_meaning: str | None = None, keep: Sequence[str] | None = None,
             prefix: str = '', precision: str = 'source', compression: str = 'source',
             topic: str = TOPIC, progress: Callable[[float, str], None] | None = None
             ) -> WrittenFiles:
    """Write a copy of each file with columns of dynamics added; return the WrittenFiles.

    Files that an earlier run with equal settings has finished are kept: call again after a kill.

    :param files: paths, patterns such as 'data/*.parquet', or the folder of a data set.
    :param columns: names of quantities.py, such as 'gravity' or 'pose:tool0'.
    :param out: folder of the results, Parquet files with the names of the sources.
    :param mapping: which columns are which joints; None: see default_mapping.py.
    :param engine: None: threads of this process; 'dask', 'ray': processes, or a running cluster.
    :param workers: None: one per core. A cluster that runs already has its own number.
    :param cutoff: cutoff of the position filter [Hz]; None: from the first episodes.
    :param effort_meaning: meaning of the measured effort, if the mapping does not say it.
    :param keep: columns of the sources that are written; None: all.
    :param prefix: prefix of the names of the added columns.
    :param precision: 'float32' or 'float64' for the added numbers; 'source': as the positions.
    :param compression: a codec of Parquet; 'source': as the source.
    :param topic: topic of the joint states in bags.
    :param progress: function progress(share, text).
    :raise DynamicsError: the argument that is invalid; or all files failed; or `out` has
        results of other settings.
    """
    check_one_axis(robot)
    workers = check_engine(engine, workers)
    check_callable('progress', progress)
    choice('precision', precision, PRECISIONS)
    choice('compression', compression, CODECS)
    check_kind('prefix', prefix, str)
    check_kind('topic', topic, str)
    places = places_of(files, out)
    settings = checked_settings(
        robot, places.sources[0], columns, mapping, cutoff, effort_meaning, topic, prefix=prefix,
        keep=None if keep is None else check_names('keep', keep), precision=precision,
        compression=compression)
    return run_files(annotate_file, (robot, settings), places, metadata_of(robot, settings),
                     MANIFEST, engine, workers, progress)
