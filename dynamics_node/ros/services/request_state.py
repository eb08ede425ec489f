"""Which state does a request speak of? What it gives, the rest as measured. How replies begin."""

import math
from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.robot import arguments


class RequestState(NamedTuple):
    """One state, or N of them, complete."""

    desk: object
    robot: object
    model_id: str        # of that robot
    choice: object       # of joints, see desk.py
    q: np.ndarray        # (nq,) or (N, nq)
    v: np.ndarray        # (nv,) or (N, nv)
    stamp: int           # of the oldest measurement used [ns], or None

    def entries(self, field, data, left_out):
        """Return one value per degree of freedom: the request's, and `left_out` elsewhere."""
        return fill(field, data, self.choice, self.choice.v, left_out)

    def ordered(self, x):
        """Return the last axis of an answer in the order of the reply."""
        return x if self.choice.order is None else x[..., self.choice.order]

    def ordered_matrix(self, x):
        """Return the last two axes of an answer in the order of the reply."""
        order = self.choice.order
        return x if order is None else x[..., order[:, None], order]

    def ordered_position(self, q):
        """Return a configuration (nq,) in the order of the reply."""
        joint = self.robot.model.joint
        return np.concatenate([np.empty(0), *(q[joint(name).q] for name in self.choice.names)])

    def head(self, response):
        """Fill what every reply begins with."""
        response.success = True
        response.joint_names = self.choice.names
        response.model_id = self.model_id
        if self.stamp is not None:
            response.state_stamp = self.stamp
            response.state_age = (self.desk.clock() - self.stamp) * 1e-9
        return response


def request_state(desk, request):
    """Return the Case of a request that has joint_names, position and velocity."""
    desk.catch_up()
    robot, model_id = desk.robot, desk.held.model_id
    choice = desk.choose(request.joint_names)
    stamp = _stamp(desk, choice, request)
    state = desk.state
    q = fill('position', request.position, choice, choice.q, state.q)
    if choice.floats and len(request.position):
        arguments.check_configuration(robot.model, q, 'position')
    v = fill('velocity', request.velocity, choice, choice.v, state.v)
    return RequestState(desk, robot, model_id, choice, q, v, stamp)


def complete(desk, request, third):
    """Return (names, q, v, third) of a request that leaves nothing out, in the model's order.

    None of any other, wrong ones too. A controller's requests are such, and what a service costs
    is then half in Python calls: this spares most of them.

    :param third: the accelerations or efforts of the request.
    """
    choice = desk.choose(request.joint_names)
    n = len(choice.v)
    if not choice.whole or choice.floats or request.external_wrenches or not (
            n == len(request.position) == len(request.velocity) == len(third)):
        return None
    if not math.isfinite(sum(request.position) + sum(request.velocity) + sum(third)):
        return None
    return (choice.names, np.frombuffer(request.position), np.frombuffer(request.velocity),
            np.frombuffer(third))


def _stamp(desk, choice, request):
    """Return the stamp of the oldest measurement that is used [ns], or None."""
    if request.position and request.velocity:
        return desk.stamp_of(choice.others, 'position and velocity')
    what = ' and '.join(name for name in ('position', 'velocity')
                        if not len(getattr(request, name)))
    return desk.stamp_of(np.arange(len(choice.names)), what)


def fill(field, data, choice, places, left_out):
    """Return `left_out` with the entries of a request put in their places.

    One row of data gives a vector, N rows give a matrix of N rows.
    """
    if not data:
        return left_out
    given = np.frombuffer(data)
    # the square of all is finite where each entry is, unless one is huge: then look at each
    if not math.isfinite(np.dot(given, given)) and not np.isfinite(given).all():
        k = int(np.flatnonzero(~np.isfinite(given))[0])
        raise DynamicsError(f'{field}[{k}] is {given[k]}; every entry must be finite')
    if len(given) != len(places):
        given = _in_rows(field, given, places, choice)
    if choice.whole:
        return given
    full = np.empty((*given.shape[:-1], len(left_out)))
    full[:] = left_out
    full[..., places] = given
    return full


def _in_rows(field, given, places, choice):
    """Return N rows, or refuse what does not make whole rows."""
    if not len(places) or len(given) % len(places):
        raise DynamicsError(_wrong_size(field, len(given), len(places), choice))
    return given.reshape(-1, len(places))


def one_state(case):
    """Refuse more than one state where one is asked for."""
    if case.q.ndim + case.v.ndim > 2:
        one_row('position', case.q, case.choice)
        one_row('velocity', case.v, case.choice)
    return case


def one_row(field, x, choice):
    """Return x, or refuse it where it has several rows."""
    if x.ndim > 1:
        places = len(choice.q) if field == 'position' else len(choice.v)
        raise DynamicsError(_wrong_size(field, places * len(x), places, choice))
    return x


def _wrong_size(field, got, wanted, choice):
    named = choice.names[:len(choice.named)]
    return (f'{field} has {got} entries; expected {wanted} for the joints {", ".join(named)}, '
            'or none')
