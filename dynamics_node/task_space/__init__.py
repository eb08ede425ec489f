"""Compute motions and torques from tasks of frames and contacts, with priorities.

Inverse kinematics, task hierarchies, and the whole-body problem. Float only, except newton_step.py,
which is compiled.
"""
