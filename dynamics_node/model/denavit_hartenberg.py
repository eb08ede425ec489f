"""Set the geometry of links by Denavit-Hartenberg parameters, in either convention.

    standard           T_{i-1,i} = Rz(theta) Tz(d) Tx(a) Rx(alpha)    joint i moves about z_{i-1}
    modified (Craig)   T_{i-1,i} = Rx(alpha) Tx(a) Rz(theta) Tz(d)    joint i moves about z_i

q_i adds to theta for a revolute joint and to d for a prismatic one. In the modified convention a
and alpha of row i are those that Craig writes a_{i-1} and alpha_{i-1}.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import choice, finite
from dynamics_node.model.links import RobotLink, with_joints
from dynamics_node.spatial import se3

CONVENTIONS = ('standard', 'modified')
Z = np.array([0.0, 0.0, 1.0])


def links_from_dh(links: Sequence[RobotLink], a: ArrayLike, alpha: ArrayLike, d: ArrayLike,
                  theta: ArrayLike, convention: str = 'standard') -> list[RobotLink]:
    """Return the links with placement, axis and anchor from Denavit-Hartenberg parameters.

    Each row is of a link in its parent's frame, so links may branch.

    :param links: RobotLinks with parents; their placement, axis and anchor are replaced.
    :param a: lengths along x, (n,) [m].
    :param alpha: angles about x, (n,) [rad].
    :param d: lengths along z, (n,) [m]; of a prismatic joint at q = 0.
    :param theta: angles about z, (n,) [rad]; of a revolute joint at q = 0.
    :param convention: 'standard', or 'modified' as in Craig's book.
    """
    links = with_joints(links)
    convention = choice('convention', convention, CONVENTIONS)
    n = len(links)
    rows = np.stack([finite(name, values, (n,)) for name, values in (
        ('a', a), ('alpha', alpha), ('d', d), ('theta', theta))], axis=1)
    return [_placed(link, row, convention) for link, row in zip(links, rows)]


def _placed(link: RobotLink, row: np.ndarray, convention: str) -> RobotLink:
    a, alpha, d, theta = row
    about_x = se3.from_xyz_rpy((a, 0.0, 0.0), (alpha, 0.0, 0.0))
    about_z = se3.from_xyz_rpy((0.0, 0.0, d), (0.0, 0.0, theta))
    if convention == 'modified':
        return replace(link, placement=(about_x @ about_z).matrix(), axis=Z, anchor=np.zeros(3))
    T = about_z @ about_x
    return replace(link, placement=T.matrix(), axis=T.R.T @ Z, anchor=T.inverse().p)
