"""The inspector, a page in the browser that shows why a joint carries its torque.

torque_parts, figures        state and settings -> the numbers on the page
stacked_bars, heat_map, ...  numbers -> SVG
shapes, meshes               URDF -> what is drawn of each link
scene, page                  the page itself, by viser (an optional dependency)
"""

from typing import TYPE_CHECKING

from dynamics_node.lazy_names import lazy_names

if TYPE_CHECKING:   # editors and type checkers; at run time see lazy_names
    from dynamics_node.inspector.self_collision import (
        SelfCollision,
        SelfCollisions,
        self_collisions,
    )
    from dynamics_node.inspector.trajectory_check import trajectory_collisions

__all__ = ['SelfCollision', 'SelfCollisions', 'self_collisions', 'trajectory_collisions']

_MODULES = {   # of this folder -> public names
    'self_collision': ('SelfCollision', 'SelfCollisions', 'self_collisions'),
    'trajectory_check': ('trajectory_collisions',),
}
__getattr__, __dir__ = lazy_names(__name__, _MODULES)
