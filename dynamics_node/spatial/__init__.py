"""Rigid motion: rotations, poses, twists, wrenches and inertias. Knows no robot.

so3, se3, inertia and solve are made of +, -, *, /, sin, cos and sqrt, so they run on floats, on
complex numbers and on NumPy object arrays of symbols alike. 6-vectors are (angular, linear), as in
the seed: Kim, Lie group formulation of articulated rigid body dynamics, 2012.

rotations, positions, rate_maps and moving are for people: every way to write a pose down, many at
once, each checked by name.
"""
