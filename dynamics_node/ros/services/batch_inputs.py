"""Read the inputs of many states from a request, and fill in accelerations or efforts."""

from typing import Any, NamedTuple

from dynamics_node.kernels.table import ALL_KERNELS
from dynamics_node.ros import convert
from dynamics_node.ros.services.request_fields import (
    accelerations,
    efforts,
    given_accelerations,
    rows,
    wrenches,
)
from dynamics_node.ros.services.request_state import RequestState


class DynamicsQuantity(NamedTuple):
    """What `question` means in a request: a method of Robot, and the fields of its results."""

    kernel: str
    fields: tuple[str, ...]


DYNAMICS = {'inverse': DynamicsQuantity('inverse_dynamics', ('effort',)),
            'forward': DynamicsQuantity('forward_dynamics', ('acceleration',)),
            'hybrid': DynamicsQuantity('hybrid_dynamics', ('acceleration', 'effort'))}
# input of a kernel -> field of a request
FIELDS = {'a': 'acceleration', 'tau': 'effort', 'given': 'acceleration_given',
          'wrenches': 'external_wrenches'}
# field of a request -> the questions that read it
READERS = {field: tuple(question for question, (kernel, _) in DYNAMICS.items() if name in (
    *ALL_KERNELS[kernel].inputs, *ALL_KERNELS[kernel].wrenches)) for name, field in FIELDS.items()}


def batch_inputs(state: RequestState, request: Any,
                 kernel: str) -> tuple[RequestState, int, tuple[Any, ...]]:
    """Return (state, N, arguments of the Robot method), with one row per state.

    :param kernel: its KernelSpec tells which fields of the request are read.
    """
    names = ALL_KERNELS[kernel].inputs
    given = given_accelerations(state, request) if 'given' in names else None
    fields = {}
    if 'a' in names:
        fields['acceleration'] = accelerations(state, request)
    if 'tau' in names:
        state, fields['effort'] = efforts(state, request, True if given is None else ~given)
    state, n, inputs = rows(state, **fields)
    return state, n, (state.q, state.v, *inputs, *(() if given is None else (given,)),
                      *wrenches(state, request))


def fill_dynamics(state: RequestState, quantity: DynamicsQuantity, inputs: tuple[Any, ...],
                  response: Any) -> None:
    """Compute a quantity of all states and fill its fields."""
    found = getattr(state.robot, quantity.kernel)(*inputs)
    for field, x in zip(quantity.fields, found if isinstance(found, tuple) else (found,)):
        setattr(response, field, convert.floats(state.ordered(x)))
