"""Add columns of dynamics to data sets: gravity, torques, external torques, poses, power.

    from dynamics_node.data import annotate

    annotate(robot, 'data/*.parquet', ['gravity', 'external_torque', 'pose:tool0'], 'out')

See docs/data.md.
"""

from typing import TYPE_CHECKING

from dynamics_node.lazy_names import lazy_names

if TYPE_CHECKING:   # editors and type checkers; at run time see lazy_names
    from dynamics_node.data.annotation import Annotation, annotate
    from dynamics_node.data.column_mapping import ColumnMapping, JointColumns, read_mapping

__all__ = [
    'Annotation',
    'ColumnMapping',
    'JointColumns',
    'annotate',
    'read_mapping',
]

_MODULES = {   # of this folder -> public names
    'annotation': ('Annotation', 'annotate'),
    'column_mapping': ('ColumnMapping', 'JointColumns', 'read_mapping'),
}
__getattr__, __dir__ = lazy_names(__name__, _MODULES)
