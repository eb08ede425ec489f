"""Test the greatest step for soft contacts."""

import numpy as np
import pytest

from dynamics_node import DynamicsError, Robot, RobotLink, SoftContact

MASS, K = 2.0, 8000.0


@pytest.fixture
def mass():
    """A mass that moves along z only."""
    return Robot.from_links([RobotLink('base'), RobotLink('body', 'base', 'prismatic', mass=MASS)])


def test_the_step_is_that_of_the_oscillator(mass):
    """sqrt(k / m) = 63 /s needs 16 ms; a damper of c / m = 100 /s needs 10 ms."""
    for damping, what, longest in ((0.0, 'stiffness', np.sqrt(MASS / K)), (200.0, 'damping', 0.01)):
        ground = [SoftContact('foot', 'body', K, damping)]
        mass.simulate([0.0], [0.0], [0.0], [0.0, longest], step=0.999 * longest, contacts=ground)
        with pytest.raises(DynamicsError, match=f'the {what} of the contacts has a rate of'):
            mass.simulate([0.0], [0.0], [0.0], [0.0, 0.1], step=1.001 * longest, contacts=ground)


def test_contacts_of_one_body_add_up(mass):
    """Four springs of a quarter are as stiff as one."""
    ground = [SoftContact(f'foot{k}', 'body', K / 4, point=(k, 0, 0)) for k in range(4)]
    with pytest.raises(DynamicsError, match='a rate of 63.2 /s'):
        mass.simulate([0.0], [0.0], [0.0], [0.0, 0.1], step=0.02, contacts=ground)


def test_an_implicit_method_needs_no_short_step(mass):
    """A spring of 1e8 N/m with 20 ms: at rest at m g / k."""
    ground = [SoftContact('foot', 'body', 1e8, 1e5)]
    motion = mass.simulate([0.001], [0.0], [0.0], [0.0, 0.1], step=0.02, contacts=ground,
                           method='radau')
    assert motion.contact_force[-1, 0, 2] == pytest.approx(MASS * 9.81, rel=1e-3)
