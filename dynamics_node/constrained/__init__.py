"""Compute the dynamics of robots with constraints: closed loops, contacts, impacts.

constraint (data) -> rows (residual, A, gamma) -> forward, inverse, hybrid, impact, derivatives.
The KKT system of independent rows is solved in forward.py and hybrid.py, that of rows of any rank
in rank_deficient.py.
read_loops reads constraints from YAML; assembly finds states that satisfy them.
"""
