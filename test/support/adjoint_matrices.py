"""Return the 4 x 4 and 6 x 6 forms of poses and twists, which the package avoids; random poses."""

import numpy as np

from dynamics_node.spatial import se3, so3


def random_pose(rng):
    return se3.Pose(so3.exp(rng.normal(size=3)), rng.normal(size=3))


def Ad_matrix(T):
    """Return the 6 x 6 matrix of Ad_T (Kim 2012, eq. 7), which the package avoids."""
    return np.block([[T.R, np.zeros((3, 3))], [so3.skew(T.p) @ T.R, T.R]])


def ad_matrix(V):
    """Return the 6 x 6 matrix of ad_V (Kim 2012, eq. 27)."""
    w, v = so3.skew(V[:3]), so3.skew(V[3:])
    return np.block([[w, np.zeros((3, 3))], [v, w]])


def hat(V):
    """Return the 4 x 4 form of a twist (Kim 2012, eq. 5)."""
    return np.block([[so3.skew(V[:3]), np.reshape(V[3:], (3, 1))], [np.zeros((1, 4))]])
