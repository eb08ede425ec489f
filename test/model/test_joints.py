"""Test the joint types: the rate of the motion subspace, and that shared arrays are read-only."""

import numpy as np
import pytest

from dynamics_node.model.joints import KINDS
from dynamics_node.spatial import so3

AXIS = np.array([0.6, 0.0, -0.8])
STEP = 1e-6


def joint_and_state(kind):
    """Return a joint, a configuration of it with a unit quaternion if it has one, a velocity."""
    joint, rng = KINDS[kind](AXIS), np.random.default_rng(4)
    q = rng.normal(size=joint.nq)
    if kind == 'floating':
        q[3:] /= np.linalg.norm(q[3:])
    return joint, q, rng.normal(size=joint.nv)


def moved(joint, q, change):
    """Return q after a small motion; of a floating joint, whose v is a body twist."""
    if joint.nq == joint.nv:
        return q + change
    turned = so3.quaternion_product(q[3:], so3.quaternion_exp(change[3:]))
    return np.concatenate([q[:3] + so3.from_quaternion(q[3:]) @ change[:3], turned])


@pytest.mark.parametrize('kind', KINDS)
def test_a_constant_subspace_has_no_rate_and_another_has_its_own(kind):
    joint, q, v = joint_and_state(kind)
    rate = joint.subspace_rate(q, v)
    assert joint.subspace_is_constant == (not rate.any())
    differences = (joint.subspace(moved(joint, q, STEP * v))
                   - joint.subspace(moved(joint, q, -STEP * v))) / (2.0 * STEP)
    np.testing.assert_allclose(rate, differences, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize('kind', KINDS)
def test_a_subspace_that_all_callers_share_cannot_be_changed(kind):
    joint, q, _ = joint_and_state(kind)
    if joint.subspace(q) is joint.subspace(q):
        with pytest.raises(ValueError, match='read-only'):
            joint.subspace(q)[0] = 1.0
