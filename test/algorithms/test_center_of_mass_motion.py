"""Test the motion of the centre of mass on random trees of every joint type."""

from support.differences import along, relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES


def test_center_of_mass_velocity_is_momentum_over_mass(tree):
    """J v = linear momentum / mass."""
    robot, _, q, v, *_ = tree
    motion = robot.center_of_mass_motion(q, v)
    assert relative(motion.position, robot.center_of_mass(q)) < EXACT_MATHS
    assert relative(robot.total_mass * motion.jacobian @ v, robot.momentum(q, v)[:3]) < EXACT_MATHS


def test_jacobian_columns_are_differences_of_the_position(tree):
    """Against differences of the position along each coordinate."""
    robot, rng, q, v, *_ = tree
    w = rng.normal(size=robot.nv)
    rate = along(robot, robot.center_of_mass, q, w)
    assert relative(robot.center_of_mass_motion(q, v).jacobian @ w, rate) < RATE_BY_DIFFERENCES


def test_bias_acceleration_is_the_rate_of_the_jacobian(tree):
    """dJ/dt v by differences."""
    robot, _, q, v, *_ = tree
    rate = along(robot, lambda x: robot.center_of_mass_motion(x, v).jacobian @ v, q, v)
    bias = robot.center_of_mass_motion(q, v).bias_acceleration
    assert relative(bias, rate) < RATE_BY_DIFFERENCES
