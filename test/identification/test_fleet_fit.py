"""Test the identification of a fleet: truth within its deviations, outliers, drift, refusals."""

import numpy as np
import pytest
from support.recorded_fleet import RecordedFleet

from dynamics_node import DynamicsError
from dynamics_node.identification import identify_fleet, is_consistent, summarize
from dynamics_node.identification.recording_summary import summary_base

ARMS = 20


@pytest.fixture(scope='module')
def fleet(kernels):
    return RecordedFleet(ARMS)


@pytest.fixture(scope='module')
def base(fleet):
    return summary_base(fleet.robot)


@pytest.fixture(scope='module')
def summaries(fleet, base):
    """One recording of each arm."""
    return {name: [summarize(fleet.robot, fleet.recorded(values, 100 + k), base=base)]
            for k, (name, values) in enumerate(fleet.arms.items())}


@pytest.fixture(scope='module')
def found(fleet, summaries):
    return identify_fleet(fleet.robot, summaries)


def test_common_parameters_and_deviations_are_within_their_uncertainty(fleet, base, found):
    """Errors over standard deviations have an RMS of about one; it was 0.85 for both."""
    common = base.values(fleet.values)
    z = (found.base_values - common) / found.base_sigma
    assert 0.5 < np.sqrt(np.mean(z ** 2)) < 1.3 and np.abs(z).max() < 4.0
    errors = np.array([(each.deviation - (base.values(fleet.arms[each.name]) - common))
                       / each.sigma for each in found.robots])
    assert 0.5 < np.sqrt(np.mean(errors ** 2)) < 1.3 and np.abs(errors).max() < 4.5


def test_the_spread_of_the_fleet_is_estimated(fleet, found):
    """Within the accuracy that 20 robots permit: 16 %, times three."""
    assert found.variation['inertia'] == pytest.approx(0.05, rel=0.4)
    for name in ('shoulder.viscous', 'elbow.coulomb', 'wrist.viscous'):
        k = fleet.layout.names.index(name)
        true = np.std([values[k] for values in fleet.arms.values()])
        assert found.variation[name] == pytest.approx(true, rel=0.5)


def test_the_fleet_helps_each_robot(fleet, base, found):
    """Its base parameters are nearer to the truth than the common ones and the URDF."""
    for each in found.robots:
        own, common, urdf = (
            np.linalg.norm((base.values(x) - base.values(fleet.arms[each.name])) / each.sigma)
            for x in (each.values, found.values, found.before))
        assert own < common < urdf
        assert all(is_consistent(each.values[found.layout.of_body(i)])
                   for i in range(len(found.layout.bodies)))


def test_all_robots_are_usual(found):
    assert all(each.distance < 4.0 for each in found.robots)
    assert all(each.drifts == () and each.recordings == 1 for each in found.robots)


def test_an_unusual_robot_is_first(fleet, base, summaries):
    """A gear with three times the friction."""
    values = fleet.arms['arm_07'].copy()
    values[fleet.layout.names.index('elbow.coulomb')] *= 3.0
    own = summarize(fleet.robot, fleet.recorded(values, 7), base=base)
    others = {**summaries, 'arm_07': [own]}
    ranked = identify_fleet(fleet.robot, others).robots
    assert (ranked[0].name, ranked[0].unusual) == ('arm_07', 'elbow.coulomb')
    assert ranked[0].distance > 6.0 and ranked[1].distance < 4.0
    assert ranked[0].torque_change.argmax() == 1


def test_a_change_over_time_is_named(fleet, base, summaries):
    """Friction that grows within 30 days; another robot that stays as it is."""
    grown = fleet.arms['arm_03'].copy()
    grown[fleet.layout.names.index('wrist.viscous')] += 0.3
    later = {**summaries}
    for name, values in (('arm_03', grown), ('arm_04', fleet.arms['arm_04'])):
        later[name] = [summarize(fleet.robot, fleet.recorded(values, 55, day=30.0), base=base),
                       *summaries[name]]   # in any order
    members = {each.name: each for each in identify_fleet(fleet.robot, later).robots}
    (drift,) = members['arm_03'].drifts
    assert drift.days == pytest.approx(30.0) and next(iter(drift.changed)) == 'wrist.viscous'
    assert drift.changed['wrist.viscous'] > 5.0 and drift.torque_change.argmax() == 2
    (still,) = members['arm_04'].drifts
    assert still.changed == {} and still.share < 0.2 * drift.share


def test_recordings_without_dates_are_not_compared(fleet, base, summaries):
    """Time from zero: which one was first is not known."""
    raw = fleet.recorded(fleet.arms['arm_03'], 55, duration=8.0)
    later = summarize(fleet.robot, raw, base=base)
    undated = {**summaries, 'arm_03': [each._replace(begin=0.0)
                                       for each in (*summaries['arm_03'], later)]}
    member = next(each for each in identify_fleet(fleet.robot, undated).robots
                  if each.name == 'arm_03')
    assert member.recordings == 2 and member.drifts == ()


def test_the_order_of_robots_and_recordings_has_no_effect(fleet, base, summaries, found):
    """To rounding."""
    turned = identify_fleet(fleet.robot, dict(reversed(summaries.items())))
    assert [each.name for each in turned.robots] == [each.name for each in found.robots]
    np.testing.assert_allclose(turned.values, found.values, rtol=1e-9, atol=1e-12)
    more = summarize(fleet.robot, fleet.recorded(fleet.arms['arm_03'], 55, day=1.0), base=base)
    one, other = (identify_fleet(fleet.robot, {**summaries, 'arm_03': both}).values
                  for both in ([*summaries['arm_03'], more], [more, *summaries['arm_03']]))
    np.testing.assert_array_equal(one, other)


def test_summaries_of_another_robot_are_refused(fleet, base, summaries):
    name, (own,) = next(iter(summaries.items()))
    with pytest.raises(DynamicsError, match=f'a recording of {name} was summarised with another'):
        identify_fleet(fleet.robot, {**summaries, name: [own._replace(model='other')]})
    with pytest.raises(DynamicsError, match=f'no recording of {name}'):
        identify_fleet(fleet.robot, {**summaries, name: []})
    with pytest.raises(DynamicsError, match='has 1 robots; the spread of a fleet needs 3'):
        identify_fleet(fleet.robot, {name: [own]})
    with pytest.raises(DynamicsError, match='prior_weight'):
        identify_fleet(fleet.robot, summaries, prior_weight=0.0)
