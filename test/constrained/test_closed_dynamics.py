"""Test M and h of closed mechanisms in independent coordinates."""

import re

import numpy as np
import pytest
from scipy.linalg import qr
from support.bundled_mechanisms import standing
from support.differences import along, relative
from support.legged_robots import load_legged
from support.linkage_closed_forms import FourBar, SliderCrank
from support.opaque_numbers import hide, show
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES, SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.constrained.closed_dynamics import closed_dynamics
from dynamics_node.constrained.forward import constrained_forward_dynamics
from dynamics_node.constrained.row_decomposition import null_space
from dynamics_node.constrained.rows import constraint_matrix
from dynamics_node.example_robots import MECHANISMS

LINKAGES = {'four_bar': FourBar(), 'slider_crank': SliderCrank()}
# mechanism -> joints that are other coordinates than its motors
OTHERS = {'four_bar': ['rocker_joint'], 'slider_crank': ['slider_joint'],
          'five_bar': ['left_elbow', 'right_elbow'], 'stewart': ['platform_joint'],
          'gripper': ['left_finger_joint']}
CASES = [*((name, None) for name in MECHANISMS), *OTHERS.items()]


@pytest.fixture(params=CASES, ids=str)
def closed(request):
    """A mechanism, a state of it, and the names of its coordinates."""
    name, coordinates = request.param
    robot = robot_of(name)
    return robot, *standing(robot.model, robot.loops.constraints, 4), coordinates


def robot_of(name, **options):
    return Robot.from_urdf(MECHANISMS[name].urdf, loops=MECHANISMS[name].loops, compile=False,
                           **options)


def entries_of(robot, coordinates):
    """Return the entries of v of the coordinates."""
    names = coordinates or [name for name in robot.joint_names if name not in robot.loops.passive]
    return [k for name in names for k in range(robot.nv)[robot.model.joint(name).v]]


def accelerations(found, u, tau):
    """Return the accelerations of all joints by the closed form."""
    force = found.transmission.T @ tau - found.coriolis - found.gravity - found.friction
    return found.transmission @ np.linalg.solve(found.mass_matrix, force) + (
        found.transmission_rate @ u)


def test_the_closed_form_gives_the_constrained_forward_dynamics(closed):
    """The same accelerations of all joints, by multipliers."""
    robot, q, v, tau, coordinates = closed
    found = robot.closed_dynamics(q, v, coordinates=coordinates)
    u = v[entries_of(robot, coordinates)]
    expected = robot.constrained_forward_dynamics(q, v, tau)
    assert found.mass_matrix.shape == (len(u), len(u))
    assert relative(found.transmission @ u, v) < SOLVED
    assert relative(accelerations(found, u, tau), expected.a) < SOLVED


def test_random_trees_with_loops_move_as_by_multipliers(looped):
    """Every kind of constraint; the coordinates are those of a QR decomposition with pivots."""
    free = null_space(constraint_matrix(looped.model, looped.q, looped.constraints))
    independent = qr(free.T, pivoting=True)[2][:free.shape[1]]
    found, margin = closed_dynamics(looped.model, looped.q, looped.v, looped.constraints,
                                    independent)
    assert (margin > 0.0).all()
    expected = constrained_forward_dynamics(looped.model, looped.q, looped.v, looped.tau,
                                            looped.constraints)
    assert relative(accelerations(found, looped.v[independent], looped.tau), expected.a) < SOLVED


def test_no_number_is_read(looped):
    """The same results on numbers without comparison, so that it can be compiled."""
    free = null_space(constraint_matrix(looped.model, looped.q, looped.constraints))
    independent = qr(free.T, pivoting=True)[2][:free.shape[1]]
    (one, margin), (other, same) = (
        closed_dynamics(looped.model, kind(looped.q), kind(looped.v), looped.constraints,
                        independent) for kind in (np.asarray, hide))
    for want, got in zip((*one, margin), (*other, same), strict=True):
        assert relative(show(got), np.ravel(want)) < SOLVED


def test_rates_are_those_of_differences(closed):
    """Of the transmission along the motion; dM/dt - 2 C is skew; gravity is the slope of V."""
    robot, q, v, _, coordinates = closed

    def at(q):
        return robot.closed_dynamics(q, v, coordinates=coordinates)
    found = at(q)
    G_rate = along(robot, lambda q: at(q).transmission, q, v)
    assert relative(found.transmission_rate, G_rate) < RATE_BY_DIFFERENCES
    rest = along(robot, lambda q: at(q).mass_matrix, q, v) - 2.0 * found.coriolis_matrix
    assert relative(rest, -rest.T) < RATE_BY_DIFFERENCES
    slope = [along(robot, robot.potential_energy, q, column) for column in found.transmission.T]
    assert relative(found.gravity, slope) < RATE_BY_DIFFERENCES


def test_energies_are_those_of_all_links(closed):
    """And the power of the torques less friction is the rate of their sum, by differences."""
    robot, q, v, tau, coordinates = closed
    found = robot.closed_dynamics(q, v, coordinates=coordinates)
    assert relative(found.kinetic_energy, robot.kinetic_energy(q, v)) < EXACT_MATHS
    assert relative(found.potential_energy, robot.potential_energy(q)) < EXACT_MATHS
    u = v[entries_of(robot, coordinates)]
    a = accelerations(found, u, tau)
    step = np.finfo(float).eps ** (1 / 3)
    before, after = (robot.kinetic_energy(p, v + h * a) + robot.potential_energy(p)
                     for h in (-step, step) for p in [robot.integrate(q, v + 0.5 * h * a, h)])
    power = u @ (found.transmission.T @ tau - found.friction)
    assert relative((after - before) / (2.0 * step), power) < RATE_BY_DIFFERENCES


@pytest.mark.parametrize('name', LINKAGES)
@pytest.mark.parametrize('t', np.linspace(0.1, 2.0 * np.pi + 0.1, 8, endpoint=False))
def test_linkages_have_the_terms_of_the_textbook(name, t):
    """I(t) alpha + I'(t) w^2 / 2 + V'(t), by complex numbers."""
    found, w = LINKAGES[name].at(t), -3.0
    first, second = np.transpose(found.slopes)
    robot = robot_of(name, friction=False)
    closed = robot.closed_dynamics(LINKAGES[name].coordinates(t), first * w)
    assert relative(closed.transmission[:, 0], first) < SOLVED
    assert relative(closed.transmission_rate[:, 0], second * w) < SOLVED
    assert relative(closed.mass_matrix, found.I) < SOLVED
    assert relative(closed.coriolis, found.I_slope / 2.0 * w ** 2) < SOLVED
    assert relative(closed.gravity, found.V_slope) < SOLVED


def test_legs_and_platform_of_a_stewart_platform_are_equivalent():
    """M and gravity of the one are those of the other by the Jacobian between them."""
    robot = robot_of('stewart')
    q, v, _ = standing(robot.model, robot.loops.constraints, 1)
    legs = robot.closed_dynamics(q, v)
    platform = robot.closed_dynamics(q, v, coordinates=['platform_joint'])
    J = platform.transmission[entries_of(robot, None)]  # twist of the platform -> speeds of legs
    assert relative(platform.mass_matrix, J.T @ legs.mass_matrix @ J) < SOLVED
    assert relative(platform.gravity, J.T @ legs.gravity) < SOLVED


def test_redundant_rows_change_nothing():
    """A spherical closure repeats the two rows of the pin, and has a third that is zero."""
    robot = robot_of('four_bar')
    q, v, _ = standing(robot.model, robot.loops.constraints, 0)
    pin = robot.loops.constraints[0]
    again = [*robot.loops.constraints, {'name': 'pin', 'kind': 'spherical', 'frame': pin.frame,
                                        'to': pin.to, 'pose': pin.pose, 'to_pose': pin.to_pose}]
    for one, other in zip(robot.closed_dynamics(q, v), robot.closed_dynamics(q, v, again),
                          strict=True):
        assert relative(one, other) < SOLVED


def test_without_constraints_it_is_the_tree():
    """All joints are independent."""
    robot = robot_of('five_bar').with_loops(None)
    q, v = np.full(4, 0.2), np.array([1.0, -0.5, 0.3, 0.7])
    found = robot.closed_dynamics(q, v)
    assert np.array_equal(found.transmission, np.eye(4))
    assert relative(found.mass_matrix, robot.mass_matrix(q)) < EXACT_MATHS
    assert relative(found.coriolis + found.gravity, robot.bias_torque(q, v)) < EXACT_MATHS


def test_batches_give_the_results_of_single_states():
    """Row by row."""
    robot = robot_of('five_bar')
    states = [standing(robot.model, robot.loops.constraints, seed)[:2] for seed in range(3)]
    q, v = map(np.array, zip(*states))
    batch = robot.closed_dynamics(q, v)
    assert type(batch).__name__ == 'ClosedDynamics'
    for k, state in enumerate(states):
        for many, one in zip(batch, robot.closed_dynamics(*state), strict=True):
            assert np.array_equal(many[k], one)
    assert robot.closed_dynamics(q[:0], v[:0]).transmission.shape == (0, 4, 2)


REFUSED = {
    'too few': ('five_bar', ['left_shoulder'],
                'coordinates: left_shoulder do not determine the motion here: '),
    'too many': ('five_bar', ['left_shoulder', 'right_shoulder', 'left_elbow'],
                 'left_elbow have 3 degrees of freedom, the mechanism has 2 here'),
    'unknown': ('five_bar', ['knee'], "coordinates: no joint 'knee'; the robot has: "),
    'twice': ('five_bar', ['left_elbow'] * 2, 'name each joint once'),
    'none': ('five_bar', [], 'coordinates are empty; name at least one joint'),
    'a text': ('five_bar', 'left_elbow', "coordinates is 'left_elbow'; expected a list"),
}


@pytest.mark.parametrize('what', REFUSED)
def test_bad_coordinates_are_refused_by_name(what):
    """The message says which, and what would be valid."""
    name, coordinates, message = REFUSED[what]
    robot = robot_of(name)
    q, v, _ = standing(robot.model, robot.loops.constraints, 0)
    with pytest.raises(DynamicsError, match=re.escape(message)):
        robot.closed_dynamics(q, v, coordinates=coordinates)


def test_a_singular_choice_of_coordinates_is_refused():
    """At its dead centre the slider rests while the crank turns."""
    robot, linkage = robot_of('slider_crank'), LINKAGES['slider_crank']
    q = linkage.coordinates(0.0)
    v = np.zeros(3)
    assert robot.closed_dynamics(q, v).mass_matrix[0, 0] > 0.0
    with pytest.raises(DynamicsError, match='slider_joint do not determine the motion here: '
                                            'crank_joint, rod_joint can move'):
        robot.closed_dynamics(q, v, coordinates=['slider_joint'])


def test_open_loops_are_refused():
    """With the row, and the function that closes them."""
    robot = robot_of('four_bar')
    with pytest.raises(DynamicsError, match="open by .* at row 'tip_.*project_configuration"):
        robot.closed_dynamics(np.array([0.4, 0.0, 0.0]), np.zeros(3))


def test_a_robot_of_many_joints_has_a_short_message():
    """TALOS on its feet, with every joint as a coordinate."""
    model, contacts = load_legged('talos')
    robot = Robot(model, compile=False)
    q, v, _ = standing(model, contacts, 0)
    with pytest.raises(DynamicsError, match='degrees of freedom, the mechanism has') as caught:
        robot.closed_dynamics(q, v, contacts, robot.joint_names)
    assert len(str(caught.value)) < 400


def test_a_legged_robot_on_its_feet_has_the_dynamics_of_its_base():
    """Solo12: four feet leave six degrees of freedom."""
    model, contacts = load_legged('solo12')
    robot = Robot(model, compile=False)
    q, v, tau = standing(model, contacts, 1)
    base = [joint for joint in model.joints if joint.kind == 'floating']
    found = robot.closed_dynamics(q, v, contacts, [base[0].name])
    expected = robot.constrained_forward_dynamics(q, v, tau, contacts)
    assert relative(accelerations(found, v[base[0].v], tau), expected.a) < SOLVED


def test_a_robot_without_motors_needs_names():
    """All joints are passive."""
    robot = robot_of('four_bar')
    robot = robot.with_loops({'constraints': list(robot.loops.constraints),
                              'passive': list(robot.joint_names)})
    with pytest.raises(DynamicsError, match='no joint has a motor; name other joints'):
        robot.closed_dynamics(np.zeros(3), np.zeros(3))


@pytest.mark.parametrize('size', [1e100, 1e200, 1e300])
def test_huge_velocities_give_finite_results_or_are_refused(size):
    """Never NaN, never another kind of error."""
    robot = robot_of('delta')
    q, v, _ = standing(robot.model, robot.loops.constraints, 0)
    try:
        found = robot.closed_dynamics(q, v * size)
    except DynamicsError:
        return
    assert all(np.isfinite(part).all() for part in found)
