"""Compute the dynamics of a kinematic tree, one quantity per file: f(model, q, v, ...) -> arrays.

Plain NumPy that runs on floats, complex numbers, and object arrays of symbols: no branch depends on
a value. A docstring that says "float only" marks the exceptions. Arguments are not checked here;
`Robot` does that.

Tables of Kim 2012 (Lie group formulation of articulated rigid body dynamics):

2  inverse_dynamics.py    5  inverse_dynamics_directional_derivative.py
3  forward_dynamics.py    6  forward_dynamics_directional_derivative.py
4  hybrid_dynamics.py     7  hybrid_dynamics_directional_derivative.py
"""
