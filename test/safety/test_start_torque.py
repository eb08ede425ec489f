"""Test the torque at which the ramp on enable starts: no measured effort flings the arm."""

import numpy as np
import pytest
from support.gate_bench import GRAVITY, Bench
from support.safe_arm import EFFORT, gate_limits

from dynamics_node.safety import Refused
from dynamics_node.safety.start_torque import start_torque

LIMITS = gate_limits()   # gravity 12, -4, 30; limits 40, 20, 100; start_tolerance 0.2


@pytest.mark.parametrize('effort', [
    np.zeros(3), GRAVITY, 0.5 * GRAVITY, [20.0, 4.0, 50.0], [-8.0, -8.0, -20.0]],
    ids=['idle', 'holds', 'friction holds half', 'most', 'least'])
def test_a_torque_of_an_arm_at_rest_is_the_start(effort):
    """From zero to gravity, and a fifth of the limit more."""
    assert start_torque(LIMITS, GRAVITY, np.array(effort)) == pytest.approx(effort)


@pytest.mark.parametrize('joint, effort, text', [
    (0, 20.1, "joint 'shoulder' 20.1, expected -8 to 20"),
    (0, -8.1, "joint 'shoulder' -8.1, expected -8 to 20"),
    (1, 4.1, "joint 'elbow' 4.1, expected -8 to 4"),
    (2, 3400.0, "joint 'slide' 3400, expected -20 to 50")])
def test_another_effort_is_refused_with_its_numbers(joint, effort, text):
    measured = GRAVITY.copy()
    measured[joint] = effort
    with pytest.raises(Refused, match='not a torque of this arm at rest') as refusal:
        start_torque(LIMITS, GRAVITY, measured)
    assert text in str(refusal.value) and refusal.value.kind == 'start'
    assert 'start_tolerance, 0.2,' in str(refusal.value)


def test_every_joint_that_is_refused_is_named():
    with pytest.raises(Refused, match="'shoulder' 3000.*'elbow' -1500.*'slide' 2000"):
        start_torque(LIMITS, GRAVITY, np.array([3000.0, -1500.0, 2000.0]))


@pytest.mark.parametrize('unknown, expected', [('gravity', GRAVITY), ('zero', np.zeros(3))])
def test_an_unknown_effort_is_replaced_as_declared(unknown, expected):
    """Absent, or not finite in some entries."""
    limits = gate_limits(unknown_start=unknown)
    assert list(start_torque(limits, GRAVITY, None)) == pytest.approx(expected)
    some = start_torque(limits, GRAVITY, np.array([1.0, np.nan, -np.inf]))
    assert some == pytest.approx([1.0, *expected[1:]])


def test_the_start_is_within_the_effort_limits():
    """Gravity near the limit, and the tolerance beyond it."""
    gravity = 0.95 * EFFORT
    start = start_torque(gate_limits(start_tolerance=1.0), gravity, 1.1 * EFFORT)
    assert start == pytest.approx(EFFORT)


def test_a_gate_that_refuses_its_start_stays_disabled():
    """And can be enabled once the effort is plausible."""
    bench = Bench(ramp_in_time=1.0)
    bench.effort = 1000.0 * GRAVITY
    assert '12000' in bench.refuses('start').replace('1.2e+04', '12000')
    assert not len(bench.run(20))
    bench.effort = GRAVITY
    bench.enable()
    assert bench.step() is not None


def test_a_ramp_out_is_resumed_from_the_last_torque_whatever_effort_is_measured():
    bench = Bench(ramp_out_time=0.3).up()
    bench.disable()
    before = bench.run(5)[-1]
    bench.effort = 1000.0 * GRAVITY
    bench.enable()
    assert np.abs(bench.step(0.0).effort - before).max() < 1e-9
