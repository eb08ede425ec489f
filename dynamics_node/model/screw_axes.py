"""Set the geometry of links by screw axes and home poses (Lynch and Park, Modern Robotics, ch. 8).

M_i is the home pose of link i in the base frame {0}: its pose when all joints are at zero. The
screw axis of its joint is A_i in the link frame {i}, or S_i in the base frame, at home:

    T_{i-1,i}(q_i) = M_{i-1,i} e^{[A_i] q_i},   M_{i-1,i} = M_{i-1}^-1 M_i,   A_i = Ad_{M_i^-1} S_i

A screw axis is an angular part w and a linear part v. For a revolute joint w is a unit vector and
v = -w x r, with r any point on the axis; for a prismatic joint w = 0 and v is a unit vector.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import choice, finite
from dynamics_node.errors import ModelError
from dynamics_node.model.links import RobotLink, pose_of, with_joints
from dynamics_node.spatial import se3, so3

FORMS = ('space', 'body')
UNIT = 1e-6  # a unit vector and a right angle are this exact


def links_from_screws(links: Sequence[RobotLink], home: ArrayLike, angular: ArrayLike,
                      linear: ArrayLike, form: str = 'space') -> list[RobotLink]:
    """Return the links with placement, axis and anchor from screw axes and home poses.

    The links form any tree. A parent that is not among them is at the base frame.

    :param links: RobotLinks with parents; their placement, axis and anchor are replaced.
    :param home: M_i of each link in the base frame, (n, 4, 4).
    :param angular: w of each screw axis, (n, 3); zero for a prismatic or a fixed joint.
    :param linear: v of each screw axis, (n, 3); zero for a fixed joint.
    :param form: 'space', the axes S_i in the base frame; or 'body', A_i in the link frames.
    """
    links = with_joints(links)
    form = choice('form', form, FORMS)
    n = len(links)
    home = finite('home', home, (n, 4, 4))
    angular, linear = finite('angular', angular, (n, 3)), finite('linear', linear, (n, 3))
    poses: dict[str | None, se3.Pose] = {
        link.name: pose_of(f'home[{k}]', home[k]) for k, link in enumerate(links)}
    made = []
    for k, link in enumerate(links):
        A = np.concatenate([angular[k], linear[k]])
        if form == 'space':
            A = se3.Ad_inv(poses[link.name], A)
        _check_screw(k, link, A[:3], A[3:])
        placement = poses.get(link.parent, se3.IDENTITY).inverse() @ poses[link.name]
        made.append(replace(link, placement=placement.matrix(), **_joint_axis(link, A[:3], A[3:])))
    return made


def _joint_axis(link: RobotLink, w: np.ndarray, v: np.ndarray) -> dict[str, Any]:
    """Return axis and anchor of a screw in the link frame."""
    if link.joint == 'fixed':
        return {}
    if link.joint == 'prismatic':
        return {'axis': v}
    return {'axis': w, 'anchor': so3.cross(w, v) / (w @ w)}  # w x (-w x r) = r, but along w


def _check_screw(k: int, link: RobotLink, w: np.ndarray, v: np.ndarray) -> None:
    """Raise if the screw is not that of the type of the joint; lengths do not depend on frames."""
    where = f"the screw of links[{k}], '{link.name}',"
    turn, slide = float(np.linalg.norm(w)), float(np.linalg.norm(v))
    if link.joint == 'fixed' and (turn or slide):
        raise ModelError(f'{where} is of a fixed joint; expected angular = linear = 0')
    if link.joint == 'prismatic' and (turn > UNIT or abs(slide - 1.0) > UNIT):
        raise ModelError(f'{where} is of a prismatic joint; expected angular = 0 and a linear unit '
                         f'vector, got lengths {turn:.6g} and {slide:.6g}')
    if link.joint in ('revolute', 'continuous'):
        if abs(turn - 1.0) > UNIT:
            raise ModelError(f'{where} is of a {link.joint} joint; expected an angular unit '
                             f'vector, got the length {turn:.6g}')
        if abs(w @ v) > UNIT * max(1.0, slide):
            raise ModelError(f'{where} has the pitch {w @ v:.6g} m/rad; expected angular and '
                             'linear at a right angle: no joint type is helical')
