"""Test the operational space and the manipulability of closed mechanisms."""

import numpy as np
import pytest
from support.bundled_mechanisms import standing
from support.differences import relative
from support.linkage_closed_forms import SliderCrank
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.errors import SingularModel
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.spatial.inertia import Inertia

# mechanism -> (frame, axes in which it moves freely)
FRAMES = {'five_bar': ('tool', ('x', 'z')), 'stewart': ('platform', None),
          'delta': ('platform', ('x', 'y', 'z'))}


def robot_of(name, **options):
    bundled = MECHANISMS[name]
    return Robot.from_urdf(bundled.urdf, loops=bundled.loops, compile=False, **options)


@pytest.fixture(params=FRAMES, scope='module')
def moving(request):
    """(robot, q, v, frame, axes, entries of v with a motor) of a mechanism without friction."""
    robot = robot_of(request.param, friction=False)
    q, v, _ = standing(robot.model, robot.loops.constraints, 1)
    motors = [robot.model.joint(name).v.start for name in robot.joint_names
              if name not in robot.loops.passive]
    return robot, q, v, *FRAMES[request.param], motors


def rows_of(axes):
    return slice(None) if axes is None else ['xyz'.index(axis) for axis in axes]


def test_forces_accelerate_the_frame(moving):
    """Inertia w' + bias + gravity = F, with J' F at the motors: constrained forward dynamics."""
    robot, q, v, frame, axes, motors = moving
    found = robot.operational_space(q, v, frame, axes, closed=True)
    assert not found.lost.any() and not found.damping.any()
    F = np.arange(1.0, 1.0 + len(found.bias))
    tau = np.zeros(robot.nv)
    tau[motors] = found.jacobian.T @ F
    a = robot.constrained_forward_dynamics(q, v, tau).a
    w = robot.frame_acceleration(q, v, a, frame)[rows_of(axes)]
    assert relative(found.inertia @ w + found.bias + found.gravity, F) < SOLVED


def test_the_mobility_is_that_by_multipliers(moving):
    """J (da/dtau) J' of the constrained tree."""
    robot, q, v, frame, axes, _ = moving
    mobility = robot.constrained_forward_dynamics_derivatives(q, v, np.zeros(robot.nv)).dtau
    J = robot.jacobian(q, frame)[rows_of(axes)]
    found = robot.manipulability(q, frame, axes, closed=True)
    assert relative(found.mobility, J @ mobility @ J.T) < SOLVED
    inertia = robot.operational_space(q, v, frame, axes, closed=True).inertia
    assert relative(inertia @ found.mobility, np.eye(len(inertia))) < SOLVED
    speeds = robot.closed_jacobian(q, v, frame).jacobian[rows_of(axes)]
    assert relative(found.velocity_radii, np.linalg.svd(speeds, compute_uv=False)) < EXACT_MATHS


def test_the_slider_of_a_slider_crank_has_the_mass_of_the_textbook():
    """I(t) / x'(t)^2, and the force of gravity V'(t) / x'(t)."""
    robot, t = robot_of('slider_crank', friction=False), 0.8
    linkage = SliderCrank().at(t)
    q, first = SliderCrank().coordinates(t), linkage.slopes[2].first
    found = robot.operational_space(q, np.zeros(3), 'slider', ['x'], closed=True)
    assert relative(found.inertia, linkage.I / first ** 2) < SOLVED
    assert relative(found.gravity, linkage.V_slope / first) < SOLVED


def test_platform_and_legs_give_the_same_inertia():
    """It does not depend on the coordinates; batches have the rows of single states."""
    robot = robot_of('stewart')
    q, v = map(np.array, zip(*(standing(robot.model, robot.loops.constraints, seed)[:2]
                               for seed in range(2))))
    legs = robot.operational_space(q, v, 'platform', closed=True)
    twist = robot.operational_space(q, v, 'platform', closed=True, coordinates=['platform_joint'])
    for field in ('inertia', 'bias', 'gravity'):
        assert relative(getattr(legs, field), getattr(twist, field)) < SOLVED
    single = robot.operational_space(q[1], v[1], 'platform', closed=True)
    assert relative(legs.inertia[1], single.inertia) < EXACT_MATHS


def test_what_has_no_answer_is_refused_by_name():
    """Coordinates of the open tree, open loops, motions without inertia."""
    robot = robot_of('five_bar')
    q, v, _ = standing(robot.model, robot.loops.constraints, 0)
    with pytest.raises(DynamicsError, match='coordinates are given, but .* closed=True'):
        robot.operational_space(q, v, 'tool', coordinates=['left_elbow'])
    with pytest.raises(DynamicsError, match='closed'):
        robot.manipulability(q, 'tool', closed='yes')
    with pytest.raises(DynamicsError, match='the loops are open by'):
        robot.operational_space(q + 0.1, v, 'tool', closed=True)
    nothing = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    empty = Robot(robot.model.with_(inertias=(nothing,) * len(robot.model.inertias)),
                  compile=False)
    with pytest.raises(SingularModel, match='no inertia'):
        empty.operational_space(q, v, 'tool', closed=True)
