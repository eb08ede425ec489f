"""Declare the kernel of closed mechanisms, one per set of constraints and of coordinates."""

from dynamics_node.constrained.closed_dynamics import (
    ClosedDynamics,
    closed_dynamics,
    closed_dynamics_or_error,
)
from dynamics_node.kernels.constrained_specs import is_small
from dynamics_node.kernels.spec import COORDINATES, NUMBER, KernelSpec

VECTOR, MATRIX, ALL_JOINTS = (COORDINATES,), (COORDINATES, COORDINATES), ('nv', COORDINATES)


def _closed(model, constraints, q, v, independent):
    found, margin = closed_dynamics(model, q, v, constraints, independent)
    return *found, margin


CLOSED = (
    KernelSpec('closed_dynamics', 'Terms of the equation of motion of a closed mechanism.',
               ('q', 'v'), (MATRIX, MATRIX, *(VECTOR,) * 3, *(ALL_JOINTS,) * 2, NUMBER, NUMBER),
               (_closed,), closed_dynamics_or_error, ClosedDynamics, margins=True,
               subject=COORDINATES, friction=True, direct=False, fits=is_small),
)
