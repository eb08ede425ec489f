"""Compute the dynamics of robots with constraints: closed loops, contacts, impacts.

constraint (data) -> rows (residual, A, gamma) -> forward, inverse, hybrid, impact, derivatives.
read_loops reads constraints from YAML; assembly finds states that satisfy them.
"""
