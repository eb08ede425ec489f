"""Hold the settings of an annotation, and the digest that binds written files to them."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import dynamics_node
from dynamics_node.data.column_mapping import ColumnMapping
from dynamics_node.identification.recording_files import TOPIC
from dynamics_node.model.fingerprint import digest, full_fingerprint
from dynamics_node.robot.robot import Robot

KEY = 'dynamics_node'      # of the schema's metadata: robot and settings
FOUND = 'dynamics_node.found'   # of a finished file's metadata: counts
FORMAT = 2                 # changes when the same settings give other files
MARKS_COLUMN = 'annotation_marks'
PRECISIONS = ('source', 'float32', 'float64')
CODECS = ('source', 'none', 'snappy', 'zstd', 'lz4', 'gzip', 'brotli')


@dataclass(frozen=True)
class AnnotationSettings:
    """What is added to each file; equal settings give equal files."""

    columns: tuple[str, ...]
    mapping: ColumnMapping
    cutoff: float | None = None      # [Hz]; None if no derivative is needed
    keep: tuple[str, ...] | None = None   # columns of the source that are written; None: all
    prefix: str = ''                 # of the names of added columns
    precision: str = 'source'
    compression: str = 'source'
    topic: str = TOPIC


def metadata_of(robot: Robot, settings: Any) -> dict[str, Any]:
    """Return what the metadata of every written file says about robot and settings.

    :param settings: a dataclass such as AnnotationSettings.
    """
    model = full_fingerprint(robot.model)
    described = json.loads(json.dumps(asdict(settings), default=_plain))
    return {'version': dynamics_node.__version__, 'format': FORMAT, 'robot': robot.model.name,
            'model': model, 'gravity': robot.gravity.tolist(), 'joints': list(robot.joint_names),
            'settings': described, 'digest': digest(model, FORMAT, described)}


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)
