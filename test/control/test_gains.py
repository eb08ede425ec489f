"""Test gains: one number or one per joint, and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError
from dynamics_node.control.gains import Gains

NAN = float('nan')


def test_a_single_number_is_used_for_every_joint():
    """A vector is used as it is."""
    gains = Gains.per_joint(3, 100, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(gains.kp, [100.0] * 3)
    np.testing.assert_array_equal(gains.kd, [1.0, 2.0, 3.0])
    assert gains.kp.dtype == gains.kd.dtype == float
    assert Gains.per_joint(0, 1.0, []).kp.shape == (0,)


def test_gains_are_read_only_copies():
    """A controller shares them between threads."""
    given = np.ones(2)
    gains = Gains.per_joint(2, given, given)
    given[:] = 7.0
    np.testing.assert_array_equal(gains.kp, [1.0, 1.0])
    for part in (*gains, *Gains.from_frequency(2, 1.0)):
        with pytest.raises(ValueError, match='read-only'):
            part[0] = 9.0


@given(st.floats(0.1, 100.0), st.floats(0.0, 3.0))
def test_the_error_has_the_given_frequency_and_damping(w, D):
    """The roots of s^2 + kd s + kp: |s| = w and, below critical, Re s = - D w."""
    gains = Gains.from_frequency(2, w, [D, 1.0])
    roots = np.roots([1.0, gains.kd[0], gains.kp[0]])
    assert abs(np.prod(roots)) == pytest.approx(w * w, rel=EXACT_MATHS)
    assert -roots.sum().real / 2 == pytest.approx(D * w, rel=EXACT_MATHS)
    assert gains.kd[1] ** 2 == pytest.approx(4 * gains.kp[1], rel=EXACT_MATHS)


def test_three_hertz_and_critical_damping_give_350_and_37():
    """The example of Hutter 2017, after eq. 3.79."""
    gains = Gains.from_frequency(1, 2 * np.pi * 3.0)
    assert (gains.kp[0], gains.kd[0]) == pytest.approx((350, 37), rel=0.02)


@pytest.mark.parametrize('make, message', [
    (lambda: Gains.per_joint(3, -1.0, 1.0), r'kp is -1.0; expected zero or a positive number'),
    (lambda: Gains.per_joint(3, 1.0, [1, 2, -3]), r'kd\[2\] is -3.0; expected zero or a positive'),
    (lambda: Gains.per_joint(3, [1, NAN, 1], 1.0), r'kp\[1\] is nan; every entry must be finite'),
    (lambda: Gains.per_joint(3, 1.0, np.inf), r'kd is inf; every entry must be finite'),
    (lambda: Gains.per_joint(3, [1, 2], 1.0), r'kp must have shape \(\) or \(3,\), got \(2,\)'),
    (lambda: Gains.per_joint(3, [5.0], 1.0), r'kp must have shape \(\) or \(3,\), got \(1,\)'),
    (lambda: Gains.per_joint(3, 'stiff', 1.0), r"kp must hold real numbers, got 'stiff'"),
    (lambda: Gains.from_frequency(3, [1, 2]), r'frequency must have shape'),
    (lambda: Gains.from_frequency(3, -1), r'frequency is -1.0; expected zero or a positive'),
    (lambda: Gains.from_frequency(3, 1, -0.5), r'damping_ratio is -0.5; expected zero or'),
    (lambda: Gains.from_frequency(3, 1e200), r'kp\[0\] is inf; every entry must be finite'),
])
def test_bad_gains_are_refused_by_name(make, message):
    """Negative stiffness is unstable; a wrong size must not be broadcast."""
    with pytest.raises(DynamicsError, match=message):
        make()
