"""Determine the units of the entries of v and tau, for revolute and prismatic joints."""

from dynamics_node.robot.robot import Robot

# joint kind -> for each of its degrees of freedom, whether it is linear
_LINEAR = {'prismatic': (True,), 'planar': (True, True, False),
           'floating': (True,) * 3 + (False,) * 3}


def is_linear(robot: Robot) -> list[bool]:
    """Return for each degree of freedom whether it is a length."""
    return [linear for joint in robot.model.joints for linear in _LINEAR.get(joint.kind, (False,))]


def effort_units(robot: Robot) -> list[str]:
    """Return the unit of each entry of tau."""
    return ['N' if linear else 'N m' for linear in is_linear(robot)]


def speed_units(robot: Robot) -> list[str]:
    """Return the unit of each entry of v."""
    return ['m/s' if linear else 'rad/s' for linear in is_linear(robot)]
