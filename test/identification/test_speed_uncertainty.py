"""Test that deviations include the speeds of friction, which are chosen from the same data."""

import numpy as np
import pytest
from support.rough_recordings import per_joint, recorded, three_joints

from dynamics_node.identification.friction_law import FrictionLaw
from dynamics_node.identification.parameters import parameter_layout, parameter_values
from dynamics_node.identification.speed_uncertainty import speed_factors

STRIBECK = 0.8     # [N m]


@pytest.fixture(scope='module')
def robot(kernels):
    """Three joints, the first with Stribeck friction."""
    plain = three_joints()
    return plain.with_friction(stribeck={'shoulder': STRIBECK},
                               stribeck_speed=per_joint(plain, 0.3, 0.3, 0.3))


def test_speeds_of_the_robot_add_nothing(robot):
    layout = parameter_layout(robot, laws=[FrictionLaw(0.01)] * 3)
    assert (speed_factors(layout, parameter_values(robot, layout), recorded(robot, 0)) == 1).all()


def test_the_factor_is_that_of_a_fit_with_the_speed(robot):
    """By SciPy's nonlinear least squares, with the speed as one more unknown."""
    from scipy.optimize import least_squares

    laws = [FrictionLaw(0.01, 0.3), FrictionLaw(0.01), FrictionLaw(0.01)]
    layout = parameter_layout(robot, laws=laws)
    recording = recorded(robot, 0, noise=0.0)
    factors = speed_factors(layout, parameter_values(robot, layout), recording)[layout.of_joint(0)]
    v, a = recording.v[:, 0], recording.a[:, 0]
    sign = v / np.sqrt(v * v + 1e-4)

    def torque(x):
        return (x[0] * a + x[1] * v + x[2] * sign + x[3]
                + x[4] * sign / (1.0 + (v / x[5]) ** 2))
    truth = np.array([0.0, 0.5, 1.5, 0.0, STRIBECK, 0.3])
    J = least_squares(lambda x: torque(x) - torque(truth), truth, jac='3-point').jac
    with_, without = (np.sqrt(np.diag(np.linalg.inv(A.T @ A))) for A in (J, J[:, :5]))
    np.testing.assert_allclose(factors, with_[:5] / without, rtol=1e-3)
    assert factors[2] > 1.5     # Coulomb friction depends on the speed
