"""Compute with rotations, poses, twists, wrenches and inertias. Imports nothing of a robot.

so3, se3, inertia and solve use only +, -, *, /, sin, cos and sqrt (except for functions marked
"for floats"), so they run on floats, complex numbers and NumPy object arrays of symbols. 6-vectors
are (angular, linear), as in Kim, Lie group formulation of articulated rigid body dynamics, 2012.

rotations, positions and rate_maps convert between the parametrisations of a pose, many poses at
once, and check their arguments.
"""
