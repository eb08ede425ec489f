"""Add columns of dynamics to data sets: gravity, torques, poses, motions of many initial states.

    from dynamics_node.data import annotate, rollouts

    annotate(robot, 'data/*.parquet', ['gravity', 'external_torque', 'pose:tool0'], 'out')

    rollouts(robot, 'states/*.parquet', 'out', period=0.01)   # motions of many initial states

See docs/data.md.
"""

from typing import TYPE_CHECKING

from dynamics_node.lazy_names import lazy_names

if TYPE_CHECKING:   # editors and type checkers; at run time see lazy_names
    from dynamics_node.data.annotation import annotate
    from dynamics_node.data.bulk_rollouts import rollouts
    from dynamics_node.data.column_mapping import ColumnMapping, JointColumns, read_mapping
    from dynamics_node.data.resumable_run import WrittenFiles

__all__ = [
    'ColumnMapping',
    'JointColumns',
    'WrittenFiles',
    'annotate',
    'read_mapping',
    'rollouts',
]

_MODULES = {   # of this folder -> public names
    'annotation': ('annotate',),
    'bulk_rollouts': ('rollouts',),
    'column_mapping': ('ColumnMapping', 'JointColumns', 'read_mapping'),
    'resumable_run': ('WrittenFiles',),
}
__getattr__, __dir__ = lazy_names(__name__, _MODULES)
