"""Import the extension call.c if it was built from these sources; else raise an ImportError."""

from dynamics_node.compiler._call import VERSION as BUILT  # older extensions have none
from dynamics_node.compiler._call import Caller

__all__ = ('Caller', 'VERSION')

# The same number stands in call.c. Add one to both with every change of the arguments or the
# meaning of Caller: an extension of other sources would read memory that is not there.
VERSION = 1
if BUILT != VERSION:
    raise ImportError(f'the extension _call has version {BUILT}, its sources have {VERSION}: build '
                      'the package again')
