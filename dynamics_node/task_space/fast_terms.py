"""Provide the functions of qp_terms.py: in C, or in NumPy where that extension was not built."""

try:
    from dynamics_node.task_space._qp_terms import (
        affine,
        definiteness,
        kkt,
        normal_equations,
        rows_of_torques,
    )
except ImportError:
    from dynamics_node.task_space.qp_terms import (
        affine,
        definiteness,
        kkt,
        normal_equations,
        rows_of_torques,
    )

__all__ = ['affine', 'definiteness', 'kkt', 'normal_equations', 'rows_of_torques']
