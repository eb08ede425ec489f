"""Compute the greatest fixed step that friction permits.

Smoothed dry friction is a strong damper at rest, f / v_s: a light joint then slows down at rates of
10,000 /s. With longer steps the velocity alternates between +f and -f; it stays bounded, so that
the error would not be seen.
"""

import numpy as np

from dynamics_node.algorithms.friction import friction_slope
from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Model

# Greatest step x rate. RK4 is stable up to 2.78; the rest is left for configurations in which the
# inertia is less than in the first one.
STABLE = 1.0


def check_friction(model: Model, mass_matrix_inverse: np.ndarray, step: float,
                   remedy: str = '') -> None:
    """Raise if a fixed step is too long for the friction of a joint.

    The rates are the eigenvalues of M^-1 D, D the slope of friction at rest.

    :param mass_matrix_inverse: inverse mass matrices of the initial states, (.., nv, nv).
    :param remedy: what the caller offers besides a shorter step, for the message.
    """
    slope = friction_slope(model, np.zeros(model.nv))
    root = np.sqrt(slope)
    rates = np.linalg.eigvalsh(root[:, None] * mass_matrix_inverse * root)
    greatest = float(rates.max(initial=0.0))
    if step * greatest > STABLE:
        alone = (slope * np.diagonal(mass_matrix_inverse, axis1=-2, axis2=-1)).reshape(
            -1, model.nv).max(axis=0)
        dof = int(np.argmax(alone))
        name = next(joint.name for joint in model.joints if dof < joint.v.stop)
        raise DynamicsError(
            f"step is {step:.6g} s; friction stops joint '{name}' at a rate of {greatest:.3g} /s, "
            f'for which the step may be {STABLE / greatest:.2g} s or less: use that, '
            f'{remedy and remedy + ", "}a greater friction_speed, or a robot without dry friction')
