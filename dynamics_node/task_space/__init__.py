"""From poses and forces to motions and torques, many tasks at once, with priorities.

Inverse kinematics, hierarchies of tasks, and the whole-body problem. Floats only,
but for newton_step.py, which is compiled.
"""
