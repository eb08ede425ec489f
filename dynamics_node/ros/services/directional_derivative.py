"""Serve ~/directional_derivative: d/dp of torques and accelerations by a scalar p."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.table import ALL_KERNELS
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.batch_inputs import DYNAMICS, READERS, batch_inputs
from dynamics_node.ros.services.request_fields import check_reply_size, entry_of
from dynamics_node.ros.services.request_state import RequestState, request_state
from dynamics_node.ros.services.unread_fields import refuse_unread
from dynamics_node.srv import DirectionalDerivative

# argument of a Robot method -> field of the request, one value per degree of freedom
JOINT_RATES = {'dq': 'position_rate', 'dv': 'velocity_rate', 'da': 'acceleration_rate',
               'dtau': 'effort_rate', 'ddamping': 'damping_rate', 'dfriction': 'friction_rate',
               'darmature': 'armature_rate'}
# argument of a Robot method -> fields of the request: names, numbers; and numbers per name
NAMED_RATES = {'dinertias': ('inertia_frames', 'inertia_rates', 10),
               'dorigins': ('origin_joints', 'origin_rates', 6),
               'daxes': ('axis_joints', 'axis_rates', 6)}
RATE_READERS = {**READERS, 'acceleration_rate': READERS['acceleration'],
                'effort_rate': READERS['effort']}


def directional_derivative(node_state: NodeState, request: DirectionalDerivative.Request,
                           response: DirectionalDerivative.Response
                           ) -> DirectionalDerivative.Response:
    """Fill a DirectionalDerivative response."""
    quantity = entry_of(request.question, DYNAMICS)
    refuse_unread(request, RATE_READERS)
    state, n, inputs = batch_inputs(request_state(node_state, request, many=True), request,
                                    quantity.kernel)
    check_reply_size(state.caps, 'derivatives', n, state.robot.nv * len(quantity.fields))
    inputs = inputs[:len(ALL_KERNELS[quantity.kernel].inputs)]
    method = getattr(state.robot, f'{quantity.kernel}_directional_derivative')
    found = method(*inputs, wrenches=convert.wrenches(request.external_wrenches) or None,
                   **_rates(state, request))
    for field, x in zip(quantity.fields, found if isinstance(found, tuple) else (found,)):
        setattr(response, f'{field}_rate', convert.floats(state.ordered(x)))
    response.states = n
    return state.fill_head(response)


def _rates(state: RequestState, request: DirectionalDerivative.Request) -> dict[str, Any]:
    """Return the rates that a request gives, by argument of the Robot method."""
    rates: dict[str, Any] = {}
    one_row, zero = state._replace(many=False), np.zeros(state.robot.nv)
    for name, field in JOINT_RATES.items():
        data = getattr(request, field)
        if data:
            rates[name] = one_row.entries(field, data, zero)
    for name, (keys, field, size) in NAMED_RATES.items():
        rows = _rows(request, keys, field, size)
        if rows:
            rates[name] = rows
    if request.gravity_rate:
        rates['dgravity'] = _numbers('gravity_rate', request.gravity_rate, 3, 'x y z, or none')
    if request.wrench_rates:
        rates['dwrenches'] = convert.wrenches(request.wrench_rates)
    return rates


def _rows(request: DirectionalDerivative.Request, keys: str, field: str, size: int
          ) -> dict[str, np.ndarray]:
    """Return {name: its row} of a list of names and the numbers of all of them."""
    names = list(getattr(request, keys))
    if len(set(names)) < len(names):
        raise DynamicsError(f'{keys} is {", ".join(names)}; name each once')
    numbers = _numbers(field, getattr(request, field), size * len(names),
                       f'{size} per entry of {keys}')
    return dict(zip(names, numbers.reshape(-1, size)))


def _numbers(field: str, data: Any, size: int, meaning: str) -> np.ndarray:
    """Return the numbers of a field, all finite, (size,)."""
    numbers = np.array(data)
    if len(numbers) != size:
        raise DynamicsError(f'{field} has {len(numbers)} entries; expected {size}: {meaning}')
    if not np.isfinite(numbers).all():
        k = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise DynamicsError(f'{field}[{k}] is {numbers[k]}; every entry must be finite')
    return numbers
