"""Every tolerance of the test suite, with its reason."""

EXACT_MATHS = 1e-11          # the same formula in another order of additions, relative
RATE_BY_DIFFERENCES = 1e-6   # central differences, h = eps ** (1/3), relative
PINOCCHIO = 1e-9             # another engine on the same numbers, relative
MUJOCO = 1e-6                # MuJoCo diagonalises each inertia: its model differs in the last digits
