"""Add columns of dynamics to data sets: gravity, torques, poses, motions of many first states.

    from dynamics_node.data import annotate, rollouts

    annotate(robot, 'data/*.parquet', ['gravity', 'external_torque', 'pose:tool0'], 'out')

    rollouts(robot, 'states/*.parquet', 'out', period=0.01)   # motions of many first states

See docs/data.md.
"""

from typing import TYPE_CHECKING

from dynamics_node.lazy_names import lazy_names

if TYPE_CHECKING:   # editors and type checkers; at run time see lazy_names
    from dynamics_node.data.annotation import Annotation, annotate
    from dynamics_node.data.bulk_rollouts import RolloutFiles, rollouts
    from dynamics_node.data.column_mapping import ColumnMapping, JointColumns, read_mapping

__all__ = [
    'Annotation',
    'ColumnMapping',
    'JointColumns',
    'RolloutFiles',
    'annotate',
    'read_mapping',
    'rollouts',
]

_MODULES = {   # of this folder -> public names
    'annotation': ('Annotation', 'annotate'),
    'bulk_rollouts': ('RolloutFiles', 'rollouts'),
    'column_mapping': ('ColumnMapping', 'JointColumns', 'read_mapping'),
}
__getattr__, __dir__ = lazy_names(__name__, _MODULES)
