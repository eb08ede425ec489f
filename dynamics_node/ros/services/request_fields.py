"""Read fields common to several services: question, accelerations, efforts, wrenches, rows.

The state (joint_names, position, velocity) is read in request_state.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.parameters.caps import Caps
from dynamics_node.ros.services.request_state import RequestState

Entry = TypeVar('Entry')


def entry_of(question: str, table: Mapping[str, Entry]) -> Entry:
    """Return the entry of a table for the field `question` of a request."""
    if question not in table:
        raise DynamicsError(f"question is '{question}'; valid choices are {', '.join(table)}")
    return table[question]


def wrenches(state: RequestState, request: Any) -> tuple[dict[str, np.ndarray], ...]:
    """Return the external wrenches of a request as the last argument of a method of Robot.

    Return an empty tuple if there are none: a call without this argument is ten times faster.
    """
    # derivatives and linear models have no such field: their wrenches are constant in link axes
    in_root_axes = getattr(request, 'wrenches_in_root_axes', False)
    if not request.external_wrenches:
        if in_root_axes:
            raise DynamicsError('wrenches_in_root_axes is true, but external_wrenches is empty')
        return ()
    found = convert.wrenches(request.external_wrenches)
    return (state.robot.link_wrenches(state.q, found) if in_root_axes else found,)


def wrenches_or_none(state: RequestState, request: Any) -> dict[str, np.ndarray] | None:
    """Return the external wrenches of a request as the argument `wrenches` of Robot."""
    return next(iter(wrenches(state, request)), None)


def accelerations(state: RequestState, request: Any) -> np.ndarray:
    """Return the accelerations of a request, zero where it has none."""
    data = request.acceleration
    complete = data and not state.selection.others.size
    return state.entries('acceleration', data, None if complete else np.zeros(state.robot.nv))


def efforts(state: RequestState, request: Any,
            needed: Any = True) -> tuple[RequestState, np.ndarray]:
    """Return the state and the efforts of a request, as measured where it has none.

    The stamp of the returned state includes the measurements used for the efforts.

    :param needed: the degrees of freedom whose effort is used, (nv,) booleans; True: all.
    """
    if len(request.effort) and not len(state.selection.others):
        return state, state.entries('effort', request.effort, None)
    joints, measured = state.robot.model.joints, state.measured
    tau = state.entries('effort', request.effort, np.where(needed, measured.effort, 0.0))
    left_out = state.selection.others if len(request.effort) else range(len(joints))
    used = [k for k in left_out if joints[k].kind not in ('planar', 'floating')
            and (needed is True or needed[joints[k].v].any())]
    if np.isnan(tau).any():
        missing = [joints[k].name for k in used if np.isnan(tau[..., joints[k].v]).any()]
        raise DynamicsError(f'no effort of {", ".join(missing)}: not in the request, and no joint '
                            'state with it has been received')
    stamps = [stamp for stamp in (state.stamp, state.age_limit.stamp_of(measured, used, 'effort'))
              if stamp is not None]
    return state._replace(stamp=min(stamps, default=None)), tau


def given_accelerations(state: RequestState, request: Any) -> np.ndarray:
    """Return which degrees of freedom have their acceleration given, (nv,) booleans."""
    selection, joints = state.selection, state.robot.model.joints
    flags = list(request.acceleration_given) or [False] * len(selection.named)
    if len(flags) != len(selection.named):
        raise DynamicsError(f'acceleration_given has {len(flags)} entries; expected '
                            f'{len(selection.named)}, one per named joint, or none')
    given = np.ones(state.robot.nv, dtype=bool)
    for k, value in zip(selection.named, flags):
        given[joints[k].v] = value
    return given


def rows(state: RequestState,
         **inputs: np.ndarray) -> tuple[RequestState, int, list[np.ndarray]]:
    """Return (state, N, inputs) with one row per state."""
    fields = {'position': state.q, 'velocity': state.v, **inputs}
    sizes = {name: len(x) for name, x in fields.items() if x.ndim == 2}
    if len(set(sizes.values())) > 1:
        listed = ', '.join(f'{name} has {n}' for name, n in sizes.items())
        raise DynamicsError(f'all fields must have the same number of states, or one; {listed}')
    n = next(iter(sizes.values()), 1)

    def n_rows(x: np.ndarray) -> np.ndarray:
        return x if len(x) == n and x.ndim == 2 else np.broadcast_to(x, (n, x.shape[-1]))
    return state._replace(q=n_rows(state.q), v=n_rows(state.v)), n, [
        n_rows(x) for x in inputs.values()]


def check_reply_size(caps: Caps, what: str, n: int, numbers: int) -> None:
    """Refuse a reply that would be too large, before it is computed.

    :param numbers: count for each of n states.
    """
    caps.check('service.max_reply', 8 * n * numbers, f'bytes of the {what} of {n} states')
