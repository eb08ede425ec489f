"""Test identification with every law of friction: values within their stated deviations."""

import numpy as np
import pytest
from support.moving_mechanisms import mechanism
from support.rough_recordings import NOISE, per_joint, recorded, three_joints

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.fitted_layout import fitted_layout
from dynamics_node.identification.friction_file import friction_yaml
from dynamics_node.identification.identifiable_parameters import base_parameters
from dynamics_node.identification.parameters import parameter_layout
from dynamics_node.identification.robot_fit import IdentificationOptions, identify
from dynamics_node.yaml_text import load_yaml

SIGMAS = 4.0   # of 20 values


@pytest.fixture(scope='module')
def robot(kernels):
    """Three joints with viscous and Coulomb friction."""
    return three_joints()


def assert_found(found, kind, expected, joints=slice(None)):
    """Assert that values of a kind are within their deviations, which are small."""
    at = np.arange(found.layout.size)[found.layout.each(kind)][joints]
    np.testing.assert_array_less(np.abs(found.values[at] - np.array(expected)[joints]),
                                 SIGMAS * found.spread.sigma[at])
    assert (found.spread.sigma[at] < 0.05).all()


def test_stribeck_friction_is_identified_and_taken_by_the_robot(robot):
    """Also viscous and Coulomb friction beside it; the residual is the noise."""
    other = robot.with_friction(stribeck=per_joint(robot, 0.8, 0.5, 0.0),
                                stribeck_speed=per_joint(robot, 0.2, 0.3, 0.1))
    found = identify(robot, recorded(other, 0, 4000))
    assert_found(found, 'stribeck', (0.8, 0.5, 0.0), slice(2))
    assert_found(found, 'coulomb', (1.5, 1.0, 0.8))
    assert_found(found, 'viscous', (0.5, 0.4, 0.3))
    assert found.residuals.validation_after == pytest.approx(NOISE, rel=0.1)
    terms = found.robot.model.friction_terms
    assert terms.stribeck == pytest.approx([0.8, 0.5, 0.0], abs=0.05)
    v = np.array([0.1, -0.2, 0.3])
    np.testing.assert_allclose(found.robot.friction_torque(v), other.friction_torque(v), atol=0.02)
    assert 'stribeck_speed' in found.friction


def test_asymmetric_friction_is_identified_and_taken_by_the_robot(robot):
    """The joint has no offset; friction never drives it."""
    other = robot.with_friction(friction_asymmetry=per_joint(robot, 0.4, 0.0, -0.3),
                                damping_asymmetry=per_joint(robot, 0.1, 0.0, 0.2))
    found = identify(robot, recorded(other, 0, 4000))
    assert [law.asymmetric for law in found.layout.laws] == [True, False, True]
    assert_found(found, 'coulomb_asymmetry', (0.4, 0.0, -0.3), [0, 2])
    assert_found(found, 'viscous_asymmetry', (0.1, 0.0, 0.2), [0, 2])
    assert not found.values[found.layout.each('offset')][[0, 2]].any()
    assert not found.values[found.layout.each('coulomb_asymmetry')][1]
    assert found.values[found.layout.each('offset')][1] != 0.0
    v = np.array([0.5, -0.2, -0.3])
    np.testing.assert_allclose(found.robot.friction_torque(v), other.friction_torque(v), atol=0.02)


def test_an_asymmetry_is_at_most_as_large_as_friction(robot):
    """Torques of a joint that friction drives in one direction are not of friction alone."""
    def more(time, v):
        return np.array([2.0, 0.0, 0.0]) * np.ones_like(v)   # a constant torque above Coulomb's
    found = identify(robot, recorded(robot, 0, more=more),
                     IdentificationOptions(friction='asymmetric'))
    coulomb, half = (found.values[found.layout.each(kind)]
                     for kind in ('coulomb', 'coulomb_asymmetry'))
    assert (np.abs(half) <= coulomb).all() and half[0] > 1.0


def test_friction_in_proportion_to_the_load_is_identified(robot):
    """The prediction has it; the robot has it at the mean load."""
    def more(time, v):
        return 0.15 * load * v / np.sqrt(v * v + 0.01 ** 2)
    bare = robot.with_friction(*[dict.fromkeys(robot.joint_names, 0.0)] * 2)
    motion = recorded(robot, 0, 4000, noise=0.0)
    load = np.abs(bare.inverse_dynamics(motion.q, motion.v, motion.a))
    recording = recorded(robot, 0, 4000, more=more)
    found = identify(robot, recording, IdentificationOptions(friction='load'))
    assert_found(found, 'load', (0.15, 0.15, 0.15))
    state = recording.q, recording.v, recording.a
    for torque, error in ((found.predict(*state), 0.01),
                          (found.predict(*state, coupled_motors=False), 3.0)):
        assert np.sqrt(np.mean((torque - motion.tau - more(None, recording.v)) ** 2)) < error
    mean = load[:3200].mean(axis=0)
    np.testing.assert_allclose(found.robot.model.friction, (1.5, 1.0, 0.8) + 0.15 * mean, rtol=0.05)
    assert 'in proportion to the load' in found.friction
    assert any('at the mean load' in text for text in found.warnings)


def test_plain_friction_keeps_the_friction_speed_of_the_robot(robot):
    """As the only law."""
    other = robot.with_friction(friction_speed=per_joint(robot, 0.1, 0.1, 0.1))
    found = identify(robot, recorded(other, 0, 1500), IdentificationOptions(friction='plain'))
    assert found.robot.model.friction_terms is None
    assert found.friction == 'viscous and Coulomb friction; friction_speed 0.01'


def test_the_parameter_file_has_the_chosen_terms(robot):
    """Read back, they give the friction of the identified robot, to the written digits."""
    other = robot.with_friction(stribeck={'shoulder': 0.8}, stribeck_speed={'shoulder': 0.2},
                                friction_asymmetry={'elbow': 0.4}, friction_speed={'wrist': 0.08})
    found = identify(robot, recorded(other, 0, 4000),
                     IdentificationOptions(friction='stribeck,asymmetric'))
    written = load_yaml(friction_yaml(found.layout, found.values), 1000)[
        '/**/dynamics_node']['ros__parameters']
    again = robot.with_friction(*(written[key] for key in (
        'damping', 'dry_friction', 'stribeck_friction', 'stribeck_speed', 'friction_asymmetry',
        'damping_asymmetry', 'friction_speeds')))
    v = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(again.friction_torque(v), found.robot.friction_torque(v), rtol=1e-7)


# A robot that has further terms -----------------------------------------------------------------

@pytest.fixture(scope='module')
def rough(robot):
    """Return a robot with Stribeck friction at each joint, one of them asymmetric."""
    return robot.with_friction(stribeck=per_joint(robot, 0.8, 0.5, 0.4),
                               stribeck_speed=per_joint(robot, 0.2, 0.3, 0.2),
                               friction_asymmetry={'elbow': 0.4})


@pytest.mark.parametrize('friction', ['auto', 'plain'])
def test_errors_before_are_those_of_the_robot_itself(rough, friction):
    """Its own motion: before, only the noise is left. Without its terms, the verdict is no."""
    found = identify(rough, recorded(rough, 0, 4000), IdentificationOptions(friction=friction))
    assert found.residuals.train_before == pytest.approx(NOISE, rel=0.1)
    assert found.residuals.validation_before == pytest.approx(NOISE, rel=0.1)
    assert found.verdict.success is (friction == 'auto')
    if friction == 'auto':
        assert found.layout.laws == parameter_layout(rough).laws
        assert found.residuals.validation_after == pytest.approx(NOISE, rel=0.1)


def test_springs_are_part_of_the_robot_before(robot):
    """Its own motion with a spring: before, only the noise is left."""
    springy = robot.with_springs([{'name': 'spring', 'joint': 'elbow', 'stiffness': 5.0}])
    found = identify(springy, recorded(springy, 0, 1500), IdentificationOptions(friction='plain'))
    assert found.residuals.validation_before == pytest.approx(NOISE, rel=0.15)


@pytest.mark.parametrize('friction', ['auto', 'plain', 'load'])
def test_a_joint_without_effort_keeps_its_friction(rough, friction):
    """All terms, in the robot and in the parameter file."""
    recording = recorded(rough, 0, 3000)._replace(no_effort=('elbow',))
    found = identify(rough, recording, IdentificationOptions(friction=friction))
    assert found.layout.laws[1] == parameter_layout(rough).laws[1]
    v = np.linspace(-1.0, 1.0, 21)[:, None] * np.ones(3)
    np.testing.assert_allclose(found.robot.friction_torque(v)[:, 1], rough.friction_torque(v)[:, 1],
                               rtol=1e-12)
    written = load_yaml(friction_yaml(found.layout, found.values), 1000)[
        '/**/dynamics_node']['ros__parameters']
    assert written['stribeck_friction']['elbow'] == 0.5
    assert written['friction_asymmetry']['elbow'] == 0.4


# Loops --------------------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def looped():
    """(robot, BaseParameters) of a mechanism."""
    robot = mechanism('five_bar')
    return robot, base_parameters(robot, parameter_layout(robot))


def test_nothing_is_chosen_with_loops(looped):
    """Asymmetric friction and a given stribeck_speed are taken."""
    robot, base = looped
    layout, text = fitted_layout(robot, base, None, 'auto', None, None, 1.0, 1)
    assert layout.laws == base.layout.laws and 'friction_speed 0.01' in text
    layout, _ = fitted_layout(robot, base, None, 'asymmetric', 0.2, None, 1.0, 1)
    assert {(law.stribeck_speed, law.asymmetric) for law in layout.laws} == {(0.2, True)}


def test_loops_keep_the_law_of_the_robot(looped):
    """Unless plain friction is asked for."""
    robot, _ = looped
    first = robot.dof_names[0]
    robot = robot.with_friction(stribeck={first: 0.2}, stribeck_speed={first: 0.3})
    base = base_parameters(robot, parameter_layout(robot))
    layout, text = fitted_layout(robot, base, None, 'auto', None, None, 1.0, 1)
    assert layout.laws == base.layout.laws and layout.laws[0].stribeck_speed == 0.3
    assert f'{first}: friction_speed 0.01, stribeck_speed 0.3; ' in text
    layout, text = fitted_layout(robot, base, None, 'plain', None, None, 1.0, 1)
    assert not layout.with_stribeck.any() and text.endswith('; friction_speed 0.01')


@pytest.mark.parametrize('friction', ['load', 'stribeck', 'auto,load'])
def test_terms_that_loops_do_not_permit_are_refused(looped, friction):
    """The error has the valid ones."""
    robot, base = looped
    with pytest.raises(DynamicsError, match='expected auto, plain or asymmetric'):
        fitted_layout(robot, base, None, friction, None, None, 1.0, 1)
