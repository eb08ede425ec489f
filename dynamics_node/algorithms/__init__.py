"""The dynamics of a tree, one question per file: f(model, q, v, ...) -> arrays.

Plain NumPy on any kind of number: floats, complex numbers, or object arrays of symbols.
No branch depends on a value. Arguments are trusted; `Robot` checks them at the door.
"""
