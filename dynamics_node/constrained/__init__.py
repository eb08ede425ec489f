"""Robots whose links are also held otherwise than by their joints: loops, contacts, impacts.

constraint (what is held) -> rows (residual, A, gamma) -> the solvers of constrained dynamics
read (constraints from text), assembly (states that keep them)
"""
