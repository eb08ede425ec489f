"""Rigid motion: rotations, poses, twists, wrenches and inertias. Knows no robot.

Everything here is made of +, -, *, /, sin, cos and sqrt, so it runs on floats, on complex numbers
and on NumPy object arrays of symbols alike. 6-vectors are (angular, linear), as in the seed:
Kim, Lie group formulation of articulated rigid body dynamics, 2012.
"""
