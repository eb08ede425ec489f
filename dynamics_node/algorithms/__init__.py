"""Compute the dynamics of a kinematic tree, one quantity per file: f(model, q, v, ...) -> arrays.

Plain NumPy that runs on floats, complex numbers, and object arrays of symbols: no branch depends on
a value. A docstring that says "float only" marks the exceptions. Arguments are not checked here;
`Robot` does that.
"""
