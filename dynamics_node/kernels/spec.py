"""Define KernelSpec, the declaration of a kernel: algorithms, inputs, results; see table.py."""

from collections.abc import Callable
from dataclasses import dataclass

from dynamics_node.model.model import Model

ROBOT, FRAME, CONSTRAINTS, TARGETS = 'robot', 'frame', 'constraints', 'targets'
COORDINATES = 'coordinates'  # one kernel per pair of coordinates and constraints
WHOLE_BODY = 'whole_body'    # tasks and constraints: one kernel per pair of both, also of no
#                              constraints
WITH_WRENCHES = ('wrenches',)
# Names of sizes: nq, nv; bodies; rows of the constraints; coordinates; parameters, 10 per body.
Shape = tuple[str | int, ...]
NUMBER, VECTOR, MATRIX = (), ('nv',), ('nv', 'nv')


def always(model: Model, constraints: tuple) -> bool:
    """Return True: every program of the kernel is small enough."""
    return True


def no_bound(model: Model) -> int:
    """Return 0: nothing is known about the length of the programs."""
    return 0


@dataclass(frozen=True)
class KernelSpec:
    """The declaration of one quantity, for keys, compilation, dispatch and the NumPy path.

    An algorithm is f(model, [constraints,] *inputs, [wrenches,] *arguments) -> array or tuple of
    arrays, of a single state, on numbers of any kind. `arguments` are constants of the program:
    (frame,), (frame, local), ((frame, kind), ...) or (entries of v,) by subject.
    """

    name: str                     # of the kernel, and of the Robot method that calls it
    doc: str                      # what it computes, with its unit
    inputs: tuple[str, ...]       # arrays that come per state; their shapes are in shapes.py
    shapes: tuple[Shape, ...]     # of the results: sizes, or names of sizes as in shapes.py
    algorithms: tuple[Callable, ...]     # alternatives: the shortest program is compiled
    numpy: Callable | None = None        # the NumPy path, where it is not the first algorithm
    result: type = tuple          # NamedTuple of several results; a single one is an array
    margins: bool = False         # the last result must be positive, else the NumPy path is taken
    subject: str = ROBOT          # ROBOT, or one kernel per FRAME, CONSTRAINTS, TARGETS,
    #                               COORDINATES or WHOLE_BODY
    local: bool = False           # may be expressed in the axes of the frame
    wrenches: tuple[str, ...] = ()       # further inputs where external wrenches act
    friction: bool = False        # depends on damping and dry friction
    payload: bool = True          # depends on payloads
    derivative: bool = False      # compiled only where derivatives are wanted
    direct: bool = True           # the Robot method has the inputs as arguments: a compiled
    #                               kernel can take its place
    regroup: bool = True          # regrouped inertias give the same: a torque, a sum over bodies
    solves: bool = False          # the first algorithm takes as_rows, and solves for the columns of
    #                               its results: in loops where the program is long
    least: Callable = no_bound    # f(model): lower bound of the instructions of all algorithms but
    #                               the last
    fits: Callable = always       # f(model, constraints): whether the program is not too large

    @property
    def constrained(self) -> bool:
        """Whether the algorithm takes constraints."""
        return self.subject in (CONSTRAINTS, COORDINATES, WHOLE_BODY)

    @property
    def numpy_algorithm(self) -> Callable:
        """The function that the NumPy path calls for a single state."""
        return self.numpy or self.algorithms[0]
