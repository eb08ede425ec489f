"""Test the derivatives of closed mechanisms: differences, closed forms, other formulas."""

import numpy as np
import pytest
from scipy.linalg import null_space, qr
from support.bundled_mechanisms import standing
from support.differences import STEP, relative, some_directions
from support.linkage_closed_forms import FourBar, SliderCrank
from support.opaque_numbers import hide, show
from support.tolerances import RATE_BY_DIFFERENCES, SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.constrained.closed_derivatives import closed_forward_derivatives
from dynamics_node.constrained.rows import constraint_matrix
from dynamics_node.errors import SingularModel
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.spatial.inertia import Inertia

LINKAGES = {'four_bar': FourBar(), 'slider_crank': SliderCrank()}
CASES = [('four_bar', None), ('five_bar', ['left_elbow', 'right_elbow']), ('gripper', None),
         ('stewart', ['platform_joint'])]


def robot_of(name, **options):
    bundled = MECHANISMS[name]
    return Robot.from_urdf(bundled.urdf, loops=bundled.loops, compile=False, **options)


@pytest.fixture(params=CASES, ids=str, scope='module')
def closed(request):
    """(robot, q, v, a, coordinates, their entries of v) of a mechanism in a state."""
    name, coordinates = request.param
    robot = robot_of(name)
    q, v, a = standing(robot.model, robot.loops.constraints, 3)
    names = coordinates or [name for name in robot.joint_names if name not in robot.loops.passive]
    entries = [k for name in names for k in range(robot.nv)[robot.model.joint(name).v]]
    return robot, q, v, a, names, entries


def test_inverse_derivatives_are_those_of_differences(closed):
    """Of the torques of the coordinates, under a wrench; the loops are closed after each step."""
    robot, q, v, a, names, entries = closed
    push = {robot.frame_names[-1]: np.array([3.0, -1.0, 2.0, 0.2, 0.4, -0.3])}

    def torques(x, u, u_rate):
        """Return the torques after deviations of the coordinates, of u and of du/dt."""
        there = robot.integrate(q, G @ x)
        if x.any():
            there = robot.project_configuration(there, fixed=names)
        moved = np.zeros(robot.nv)
        moved[entries] = v[entries] + u
        at = robot.closed_dynamics(there, moved, coordinates=names)
        speed = at.transmission @ moved[entries]
        acceleration = (at.transmission @ (a[entries] + u_rate)
                        + at.transmission_rate @ moved[entries])
        return at.transmission.T @ robot.inverse_dynamics(there, speed, acceleration, push)

    G = robot.closed_dynamics(q, v, coordinates=names).transmission
    found = robot.closed_inverse_derivatives(q, v, a, coordinates=names, wrenches=push)
    rest, k = np.zeros((3, len(entries))), len(entries)
    assert relative(found.tau, torques(*rest)) < SOLVED
    for number, slopes in enumerate((found.dq, found.dv, found.da)):
        for direction in some_directions(k).T:
            step = rest.copy()
            step[number] = STEP * direction
            change = (torques(*step) - torques(*-step)) / (2 * STEP)
            assert relative(slopes @ direction, change) < RATE_BY_DIFFERENCES


def test_forward_and_inverse_derivatives_belong_together(closed):
    """The one is the other, solved for the accelerations, if only the coordinates have torques."""
    robot, q, v, a, names, entries = closed
    inverse = robot.closed_inverse_derivatives(q, v, a, coordinates=names)
    tau = np.zeros(robot.nv)
    tau[entries] = inverse.tau
    forward = robot.closed_forward_derivatives(q, v, tau, coordinates=names)
    assert relative(forward.a, a[entries]) < SOLVED
    assert relative(inverse.da @ forward.dq, -inverse.dq) < SOLVED
    assert relative(inverse.da @ forward.dv, -inverse.dv) < SOLVED
    assert relative(inverse.da @ forward.dtau[:, entries], np.eye(len(entries))) < SOLVED


def test_at_rest_they_are_those_by_multipliers(closed):
    """da/dq along the motions that keep the loops, with torques at all joints."""
    robot, q, _, tau, names, entries = closed
    rest = np.zeros(robot.nv)
    G = robot.closed_dynamics(q, rest, coordinates=names).transmission
    expected = robot.constrained_forward_dynamics_derivatives(q, rest, tau)
    found = robot.closed_forward_derivatives(q, rest, tau, coordinates=names)
    assert relative(found.dq, (expected.dq @ G)[entries]) < SOLVED
    assert relative(found.dtau, expected.dtau[entries]) < SOLVED


@pytest.mark.parametrize('name', LINKAGES)
def test_linkages_have_the_slopes_of_the_textbook(name):
    """Of I(t) alpha + I'(t) w^2 / 2 + V'(t)."""
    t, w, alpha, linkage = 0.7, -3.0, 5.0, LINKAGES[name]
    robot = robot_of(name, friction=False)
    first = np.array(linkage.at(t).slopes)[:, 0]
    found = robot.closed_inverse_derivatives(linkage.coordinates(t), first * w, first * alpha)
    at = linkage.at(t)
    before, after = (linkage.at(t + h).torque(w, alpha) for h in (-STEP, STEP))
    assert relative(found.tau, at.torque(w, alpha)) < SOLVED
    assert relative(found.dq, (after - before) / (2 * STEP)) < RATE_BY_DIFFERENCES
    assert relative(found.dv, at.I_slope * w) < SOLVED
    assert relative(found.da, at.I) < SOLVED


def test_redundant_rows_change_nothing():
    """A spherical closure repeats the two rows of the pin, and has a third that is zero."""
    robot = robot_of('four_bar')
    q, v, tau = standing(robot.model, robot.loops.constraints, 0)
    pin = robot.loops.constraints[0]
    again = [*robot.loops.constraints, {'name': 'pin', 'kind': 'spherical', 'frame': pin.frame,
                                        'to': pin.to, 'pose': pin.pose, 'to_pose': pin.to_pose}]
    for method in (robot.closed_forward_derivatives, robot.closed_inverse_derivatives):
        for one, other in zip(method(q, v, tau), method(q, v, tau, again), strict=True):
            assert relative(one, other) < SOLVED


def test_no_number_is_read(looped):
    """The same results on numbers without comparison, so that it can be compiled."""
    free = null_space(constraint_matrix(looped.model, looped.q, looped.constraints))
    independent = qr(free.T, pivoting=True)[2][:free.shape[1]]
    (one, margin), (other, same) = (
        closed_forward_derivatives(looped.model, kind(looped.q), kind(looped.v), kind(looped.tau),
                                   looped.constraints, independent)
        for kind in (np.asarray, hide))
    assert (margin > 0.0).all()
    for want, got in zip((*one, margin), (*other, same), strict=True):
        assert relative(show(got), np.ravel(want)) < SOLVED


def test_batches_give_the_results_of_single_states():
    """Row by row, also of none."""
    robot = robot_of('five_bar')
    states = [standing(robot.model, robot.loops.constraints, seed) for seed in range(3)]
    q, v, tau = map(np.array, zip(*states))
    for method in (robot.closed_forward_derivatives, robot.closed_inverse_derivatives):
        batch = method(q, v, tau)
        for k, state in enumerate(states):
            for many, one in zip(batch, method(*state), strict=True):
                assert np.array_equal(many[k], one)
    assert robot.closed_forward_derivatives(q[:0], v[:0], tau[:0]).dtau.shape == (0, 2, 4)


def test_what_has_no_derivatives_is_refused_by_name():
    """Open loops, too few coordinates, motions without inertia."""
    robot = robot_of('five_bar')
    q, v, tau = standing(robot.model, robot.loops.constraints, 0)
    for method in (robot.closed_forward_derivatives, robot.closed_inverse_derivatives):
        with pytest.raises(DynamicsError, match='the loops are open by'):
            method(q + 0.1, v, tau)
        with pytest.raises(DynamicsError, match='left_elbow do not determine the motion'):
            method(q, v, tau, coordinates=['left_elbow'])
    model = robot.model
    nothing = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    empty = Robot(model.with_(inertias=(nothing,) * len(model.inertias)), compile=False)
    with pytest.raises(SingularModel, match='no inertia'):
        empty.closed_forward_derivatives(q, v, tau)
