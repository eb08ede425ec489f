"""Declare the kernel of the torques of springs, for robots that have springs."""

from collections.abc import Sequence

from dynamics_node.algorithms.springs import spring_torque
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.kernels.spec import VECTOR, KernelSpec
from dynamics_node.model.model import Model


def _has_springs(model: Model, _: Sequence[Constraint]) -> bool:
    return bool(model.springs)


SPRINGS = (
    KernelSpec('spring_torque', 'Torques that balance springs and dampers.',
               ('q', 'v'), (VECTOR,), (spring_torque,), payload=False, fits=_has_springs),
)
