"""Name the types of the arguments of Robot methods."""

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.read_loops import Loops

# {frame: (fx, fy, fz, tx, ty, tz)} on the robot at the frame's origin, in its axes [N, N m]
Wrenches = Mapping[str, ArrayLike] | None
# {joint: value}, or an array (nv,)
JointValues = Mapping[str, float] | ArrayLike | None
# a Constraint, several, dicts with their fields, or Loops
Constraints = Constraint | Sequence[Constraint | Mapping] | Loops | None
