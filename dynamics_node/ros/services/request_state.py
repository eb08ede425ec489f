"""Build the state of a request: its own values, missing ones filled in with measured ones."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.robot import arguments
from dynamics_node.robot.robot import Robot
from dynamics_node.ros import convert
from dynamics_node.ros.joint_selection import JointSelection
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters.caps import Caps
from dynamics_node.ros.state.age_limit import AgeLimit
from dynamics_node.ros.state.measured_state import MeasuredSnapshot


class RequestState(NamedTuple):
    """One complete state, or N of them."""

    robot: Robot
    model_id: str                        # of that robot
    selection: JointSelection
    q: np.ndarray                        # (nq,) or (N, nq)
    v: np.ndarray                        # (nv,) or (N, nv)
    stamp: int | None                    # of the oldest measurement used [ns]
    measured: Any                        # MeasuredSnapshot; None if the request is complete
    age_limit: Any                       # AgeLimit, likewise
    caps: Caps
    many: bool = False                   # whether the request may have N rows

    def entries(self, field: str, data: Any, default: np.ndarray | None) -> np.ndarray:
        """Return one value per degree of freedom: of the request, and `default` elsewhere."""
        return fill(field, data, self.selection, self.selection.v, default, self.many)

    def ordered(self, x: np.ndarray) -> np.ndarray:
        """Return an array with its last axis in the order of the reply."""
        order = self.selection.order
        return x if order is None else x[..., order]

    def ordered_matrix(self, x: np.ndarray) -> np.ndarray:
        """Return an array with its last two axes in the order of the reply."""
        order = self.selection.order
        return x if order is None else x[..., order[:, None], order]

    def ordered_position(self, q: np.ndarray) -> np.ndarray:
        """Return a configuration (nq,) in the order of the reply."""
        joint = self.robot.model.joint
        return np.concatenate([np.empty(0), *(q[joint(name).q] for name in self.selection.names)])

    def fill_head(self, response: Any) -> Any:
        """Fill the first fields of a reply, and return it."""
        response.success = True
        selection = self.selection
        response.joint_names, response.nq, response.nv = (selection.names, selection.nq,
                                                          selection.nv)
        response.model_id = self.model_id
        if self.stamp is not None:
            response.state_stamp = convert.time(self.stamp)
            response.state_age = self.age_limit.age(self.stamp)
        return response


def request_state(node_state: NodeState, request: Any, many: bool = False,
                  moving: bool = True) -> RequestState:
    """Return the state of a request that has joint_names, position and, if moving, velocity.

    The measured state is read only if the request leaves out a joint or a quantity.

    :param many: whether it may have N rows.
    :param moving: whether velocities are read; if not, they are zero.
    """
    current = node_state.current_robot
    robot, model_id = current.robot, current.model_id
    selection = current.select_joints(request.joint_names)
    position, velocity = request.position, getattr(request, 'velocity', None)
    if position and (velocity or not moving) and not selection.others.size and (
            getattr(request, 'effort', True)):
        measured = age_limit = stamp = measured_q = measured_v = None
    else:
        measured, age_limit = node_state.snapshot(), node_state.age_limit
        measured_q, measured_v = measured.q, measured.v
        stamp = _stamp(measured, age_limit, selection, request, moving)
    q = fill('position', position, selection, selection.q, measured_q, many)
    if selection.floating and position:
        arguments.check_configuration(robot.model, q, 'position')
    v = (fill('velocity', velocity, selection, selection.v, measured_v, many) if moving
         else np.zeros(robot.nv))
    return RequestState(robot, model_id, selection, q, v, stamp, measured, age_limit,
                        node_state.caps, many)


def _stamp(measured: MeasuredSnapshot, age_limit: AgeLimit, selection: JointSelection,
           request: Any, moving: bool) -> int | None:
    """Return the stamp of the oldest measurement that is used [ns], or None."""
    read = ('position', 'velocity') if moving else ('position',)
    missing = [name for name in read if not len(getattr(request, name))]
    used = np.arange(len(selection.names)) if missing else selection.others
    return age_limit.stamp_of(measured, used, ' and '.join(missing or read))


def fill(field: str, data: Any, selection: JointSelection, places: np.ndarray,
         default: Any, many: bool = False) -> np.ndarray:
    """Return `default` with the entries of a request put in their places.

    One row of data gives a vector, N rows give a matrix of N rows.

    :param default: may be None if the request has all entries.
    :param many: whether N rows are valid.
    """
    if not data:
        return default
    given = np.frombuffer(data)
    # A finite sum proves that all entries are finite; otherwise each entry is checked. NumPy would
    # warn of inf - inf in a sum, but not in a sum of squares.
    if not math.isfinite(sum(data) if len(data) < 32 else given @ given) and (
            not np.isfinite(given).all()):
        k = int(np.flatnonzero(~np.isfinite(given))[0])
        raise DynamicsError(f'{field}[{k}] is {given[k]}; every entry must be finite')
    if len(given) != len(places):
        given = _in_rows(field, given, len(places), selection, many)
    if selection.whole:
        return given
    full = np.empty((*given.shape[:-1], len(places if default is None else default)))
    if default is not None:
        full[:] = default
    full[..., places] = given
    return full


def _in_rows(field: str, given: np.ndarray, size: int, selection: JointSelection,
             many: bool) -> np.ndarray:
    """Return N rows; refuse an incomplete row, and several rows of a request for one state."""
    if many and size and len(given) % size == 0:
        return given.reshape(-1, size)
    expected = f'a multiple of {size}, one row per state,' if many else f'{size}'
    named = ', '.join(selection.names[:len(selection.named)])
    raise DynamicsError(f'{field} has {len(given)} entries; expected {expected} for the joints '
                        f'{named}, or none')
