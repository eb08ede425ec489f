"""Declare the kernel of the torques of springs, for robots that have springs."""

from dynamics_node.algorithms.springs import spring_torque
from dynamics_node.kernels.spec import VECTOR, KernelSpec


def _has_springs(model, _):
    return bool(model.springs)


SPRINGS = (
    KernelSpec('spring_torque', 'Torques that balance springs and dampers.',
               ('q', 'v'), (VECTOR,), (spring_torque,), payload=False, fits=_has_springs),
)
