"""Inverse, forward and hybrid dynamics of one state."""

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.ros import convert
from dynamics_node.ros.services.request_state import complete, one_row, one_state, request_state


def inverse_dynamics(desk, request, response):
    """Fill an InverseDynamics response."""
    robot = desk.robot
    found = complete(desk, request, request.acceleration)
    if found:
        names, q, v, a = found
        response.effort = convert.floats(robot.inverse_dynamics(q, v, a))
        return begun(desk, names, response)
    case = one_state(request_state(desk, request))
    a = one_row('acceleration', accelerations(case, request), case.choice)
    tau = case.robot.inverse_dynamics(case.q, case.v, a, *pushes(request))
    response.effort = convert.floats(case.ordered(tau))
    return case.head(response)


def forward_dynamics(desk, request, response):
    """Fill a ForwardDynamics response."""
    robot = desk.robot
    found = complete(desk, request, request.effort)
    if found:
        names, q, v, tau = found
        response.acceleration = convert.floats(robot.forward_dynamics(q, v, tau))
        return begun(desk, names, response)
    case = one_state(request_state(desk, request))
    case, tau = efforts(case, request)
    one_row('effort', tau, case.choice)
    a = case.robot.forward_dynamics(case.q, case.v, tau, *pushes(request))
    response.acceleration = convert.floats(case.ordered(a))
    return case.head(response)


def hybrid_dynamics(desk, request, response):
    """Fill a HybridDynamics response."""
    case = one_state(request_state(desk, request))
    given = mask(case, request)
    a = one_row('acceleration', accelerations(case, request), case.choice)
    case, tau = efforts(case, request, needed=~given)
    one_row('effort', tau, case.choice)
    a, tau = case.robot.hybrid_dynamics(case.q, case.v, a, tau, given, *pushes(request))
    response.acceleration = convert.floats(case.ordered(a))
    response.effort = convert.floats(case.ordered(tau))
    return case.head(response)


def begun(desk, names, response):
    """Fill how a reply begins for which nothing was measured."""
    response.success = True
    response.joint_names = names
    response.model_id = desk.held.model_id
    return response


def pushes(request):
    """Return the wrenches of a request as the last argument of a Robot's method, if there are any.

    Without them a kernel is called directly, which is ten times faster.
    """
    return (convert.wrenches(request.external_wrenches),) if request.external_wrenches else ()


def accelerations(case, request):
    """Return the accelerations of a request, zero where it has none."""
    return case.entries('acceleration', request.acceleration, np.zeros(case.robot.nv))


def efforts(case, request, needed=True):
    """Return the case and the efforts of a request, as measured where it has none.

    The stamp of the case then counts the measurements that were used for them too.

    :param needed: the degrees of freedom whose effort is looked at, (nv,) booleans; True: all.
    """
    desk, joints = case.desk, case.robot.model.joints
    if len(request.effort) and not len(case.choice.others):  # nothing is left out
        return case, case.entries('effort', request.effort, desk.state.effort)
    tau = case.entries('effort', request.effort, np.where(needed, desk.state.effort, 0.0))
    left_out = case.choice.others if len(request.effort) else range(len(joints))
    used = [k for k in left_out if joints[k].kind not in ('planar', 'floating')
            and (needed is True or needed[joints[k].v].any())]
    if np.isnan(tau).any():
        lacking = [joints[k].name for k in used if np.isnan(tau[..., joints[k].v]).any()]
        raise DynamicsError(f'no effort of {", ".join(lacking)}: not in the request, and no joint '
                            'state has been received that has it')
    stamps = [stamp for stamp in (case.stamp, desk.stamp_of(used, 'effort')) if stamp is not None]
    return case._replace(stamp=min(stamps, default=None)), tau


def mask(case, request):
    """Return which degrees of freedom have their acceleration given, (nv,) booleans."""
    choice, joints = case.choice, case.robot.model.joints
    said = list(request.acceleration_given) or [False] * len(choice.named)
    if len(said) != len(choice.named):
        raise DynamicsError(f'acceleration_given has {len(said)} entries; expected '
                            f'{len(choice.named)}, one per named joint, or none')
    given = np.ones(case.robot.nv, dtype=bool)
    for k, value in zip(choice.named, said):
        given[joints[k].v] = value
    return given
