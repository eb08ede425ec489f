"""Define every tolerance of the test suite, relative, with its reason."""

EXACT_MATHS = 1e-11          # the same formula in another order of additions
SOLVED = 1e-10               # the same through a linear solve, condition number up to 1e4
RATE_BY_DIFFERENCES = 1e-6   # central differences, h = eps ** (1/3)
PINOCCHIO = 1e-9             # another engine on the same numbers
MUJOCO = 1e-9                # the same; inertias are taken as written, not balanced or bounded
PRIORITY = 1e-9              # the effect of lower tasks on higher ones
