"""How do the torques that hold the robot against gravity change with its position?"""

import numpy as np

from dynamics_node.algorithms.inverse_dynamics_derivatives import inverse_dynamics_derivatives


def gravity_stiffness(model, q):
    r"""Return dg/dq along the tangent of q, (nv, nv) [N m/rad and alike].

    g = dU/dq: where v = dq/dt this is the Hessian of the potential energy, symmetric. The rows of
    a floating joint are not: turning it turns the axes in which its force is counted.
    """
    still = np.zeros(model.nv)
    return inverse_dynamics_derivatives(model, q, still, still).dq
