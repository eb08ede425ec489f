"""Test that the law of friction is found which made the torques, and no other."""

import tracemalloc

import numpy as np
import pytest
from support.rough_recordings import per_joint, recorded, three_joints

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.friction_choice import (
    AUTO,
    FrictionChoice,
    candidates,
    choose_friction,
    friction_terms,
)
from dynamics_node.identification.friction_law import FrictionLaw
from dynamics_node.identification.identifiable_parameters import base_parameters
from dynamics_node.identification.parameters import parameter_layout, parameter_values


@pytest.fixture(scope='module')
def robot(kernels):
    """Three joints with viscous and Coulomb friction."""
    return three_joints()


@pytest.fixture(scope='module')
def base(robot):
    return base_parameters(robot, parameter_layout(robot))


@pytest.fixture
def chosen(robot, base):
    """Return the choice for a recording of another robot."""
    start = base.values(parameter_values(robot, base.layout))

    def choose(other, seed, terms=(AUTO,), stribeck_speed=None, **options):
        return choose_friction(robot, base, recorded(other, seed, **options), start, terms,
                               stribeck_speed)
    return choose


@pytest.fixture
def chosen_of():
    """Return the choice for a robot and a recording of its own."""
    def choose(own, terms=(AUTO,), stribeck_speed=None):
        base = base_parameters(own, parameter_layout(own))
        return choose_friction(own, base, recorded(own, 0), base.values(
            parameter_values(own, base.layout)), terms, stribeck_speed)
    return choose


def test_no_term_is_chosen_that_the_data_lack(robot, chosen):
    """In eight motions of three joints: the law of the robot."""
    for seed in range(8):
        found = chosen(robot, seed)
        assert set(found.laws) == {FrictionLaw(0.01)}
        np.testing.assert_array_equal(found.after, found.before)
    assert 'all joints: as before' in found.text(robot.joint_names)


def test_torques_without_noise_leave_the_law_as_it_is(robot, chosen):
    """Rounding errors are no gain."""
    assert set(chosen(robot, 1, noise=0.0).laws) == {FrictionLaw(0.01)}


def test_friction_speeds_are_found(robot, chosen):
    """Of each joint its own, within 10 %."""
    found = chosen(robot.with_friction(friction_speed=per_joint(robot, 0.05, 0.01, 0.1)), 0)
    assert found.laws[0].friction_speed == pytest.approx(0.05, rel=0.1)
    assert found.laws[1] == FrictionLaw(0.01)
    assert found.laws[2].friction_speed == pytest.approx(0.1, rel=0.1)
    assert not any(law.stribeck_speed or law.asymmetric for law in found.laws)
    text = found.text(robot.joint_names)
    assert text.count('error on unseen blocks') == 2 and 'other joints: as before' in text


def test_stribeck_friction_is_found(robot, chosen):
    """At the joints that have it, with its speed within 15 %."""
    other = robot.with_friction(stribeck=per_joint(robot, 0.8, 0.5, 0.0),
                                stribeck_speed=per_joint(robot, 0.2, 0.3, 0.1))
    found = chosen(other, 0)
    assert [law.stribeck_speed is not None for law in found.laws] == [True, True, False]
    speeds = [law.stribeck_speed for law in found.laws[:2]]
    np.testing.assert_allclose(speeds, (0.2, 0.3), rtol=0.15)
    assert not any(law.asymmetric for law in found.laws)
    assert found.after[0] < 0.5 * found.before[0]


def test_asymmetric_friction_is_found(robot, chosen):
    """At the joint that has it."""
    other = robot.with_friction(friction_asymmetry={'shoulder': 0.4},
                                damping_asymmetry={'shoulder': 0.1})
    found = chosen(other, 0)
    assert [law.asymmetric for law in found.laws] == [True, False, False]
    assert not any(law.stribeck_speed for law in found.laws)


def test_terms_on_request_are_taken_in_any_case(robot, chosen):
    """Stribeck friction with the best speed, or the given one."""
    found = chosen(robot, 0, ('stribeck', 'asymmetric'), samples=1500)
    assert all(law.stribeck_speed and law.asymmetric for law in found.laws)
    found = chosen(robot, 0, (AUTO,), 0.25, samples=1500)
    assert {law.stribeck_speed for law in found.laws} == {0.25}


def test_the_first_candidate_is_the_law_of_the_robot():
    """Stribeck speeds are at least twice the friction_speed."""
    laws = candidates(FrictionLaw(0.01), 1.0, (AUTO,))
    assert laws[0] == FrictionLaw(0.01) and len(set(laws)) == len(laws)
    assert all(law.stribeck_speed is None or law.stribeck_speed >= 2.0 * law.friction_speed
               for law in laws)


@pytest.mark.parametrize('friction', ['', 'quadratic', 'plain,load', 'auto;load', None, ['load']])
def test_other_words_are_refused(friction):
    """The error has the valid ones."""
    with pytest.raises(DynamicsError, match=r'friction is .*expected auto, plain, or some of auto, '
                       'stribeck, asymmetric, load'):
        friction_terms(friction)


def test_words_may_have_blanks():
    assert friction_terms('auto, load') == ('auto', 'load')


def test_the_law_of_the_robot_is_kept(robot, chosen_of):
    """Where its own motion made the torques, whatever the speeds are."""
    own = robot.with_friction(stribeck={'shoulder': 0.8}, stribeck_speed={'shoulder': 0.017},
                              friction_asymmetry={'elbow': 0.3}, friction_speed={'wrist': 0.03})
    laws = (FrictionLaw(0.01, 0.017), FrictionLaw(0.01, None, True), FrictionLaw(0.03))
    found = chosen_of(own)
    assert found.laws == laws
    np.testing.assert_array_equal(found.after, found.before)


def test_terms_of_the_robot_that_are_not_asked_for_are_left_out(robot, chosen_of):
    """With its own error as that before."""
    own = robot.with_friction(stribeck={'shoulder': 0.8}, stribeck_speed={'shoulder': 0.2})
    found = chosen_of(own, ('asymmetric',))
    assert all(law.asymmetric and law.stribeck_speed is None for law in found.laws)
    assert found.after[0] > 2.0 * found.before[0]
    assert {law.stribeck_speed for law in chosen_of(own, (AUTO,), 0.3).laws} == {0.3}


def test_the_choice_can_be_stopped(robot, base):
    """Shares of the work grow to 1 at most; an exception from the function ends it."""
    start, shares = base.values(parameter_values(robot, base.layout)), []
    choose_friction(robot, base, recorded(robot, 0, 1500), start, (AUTO,), tick=shares.append)
    assert len(shares) >= 10 and shares == sorted(shares) and 0.0 < shares[0] < shares[-1] <= 1.0

    def stop(share):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        choose_friction(robot, base, recorded(robot, 0, 1500), start, (AUTO,), tick=stop)


def test_one_block_of_regressors_is_in_memory(robot, base):
    """The greatest use of memory is less than all regressors, which are ten blocks."""
    recording = recorded(robot, 0, 20_000)
    start = base.values(parameter_values(robot, base.layout))
    tracemalloc.start()
    try:
        choose_friction(robot, base, recording, start, ('asymmetric',), 0.2)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 0.7 * 8 * 20_000 * robot.nv * base.layout.inertial


def test_the_text_names_joints_whose_law_differs():
    """Also where its error is greater; joints without an effort are not measured."""
    own = FrictionLaw(0.01), FrictionLaw(0.01), FrictionLaw(0.01, 0.2)
    found = FrictionChoice((FrictionLaw(0.01, None, True), *own[1:]), np.array([0.1, 0.1, np.nan]),
                           np.array([0.2, 0.1, np.nan]), own)
    text = found.text(('a', 'b', 'c'))
    assert 'a: friction_speed 0.01, asymmetric (error on unseen blocks 0.1 -> 0.2)' in text
    assert 'other joints: as before' in text and text.endswith('; c: as before, not measured')
