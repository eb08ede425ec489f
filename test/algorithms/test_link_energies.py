"""Test energies of single links on random trees of every joint type."""

import numpy as np
from support.differences import relative
from support.tolerances import EXACT_MATHS


def test_links_and_rotors_have_all_the_energy(tree):
    """Their sums are the robot's; a link fixed to the world has potential energy only."""
    robot, _, q, v, *_ = tree
    robot = robot.with_payload('load', 'l9', 2.0, (0.1, 0.2, 0.3))
    found = robot.link_energies(q, v)
    rotors = 0.5 * robot.model.armature @ v ** 2
    assert relative(found.kinetic.sum() + rotors, robot.kinetic_energy(q, v)) < EXACT_MATHS
    ground = -robot.gravity @ robot.model.base_inertia.moment
    assert relative(found.potential.sum() + ground, robot.potential_energy(q)) < EXACT_MATHS


def test_a_link_has_the_energy_of_a_robot_of_that_link_alone(tree):
    """The other links without mass: the rest of the energy is theirs."""
    robot, _, q, v, *_ = tree
    model, found = robot.model, robot.link_energies(q, v)
    massless = model.inertias[0]._replace(mass=0.0, moment=np.zeros(3), tensor=np.zeros((3, 3)))
    for k in range(len(model.bodies)):
        alone = tuple(inertia if i == k else massless for i, inertia in enumerate(model.inertias))
        one = type(robot)(model.with_(inertias=alone, armature=np.zeros(model.nv)), compile=False)
        assert relative(found.kinetic[k], one.kinetic_energy(q, v)) < EXACT_MATHS
        assert relative(found.potential[k], one.potential_energy(q)) < EXACT_MATHS
