"""Compute quantities of the links of a robot: reactions, accelerations, energies, points."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.algorithms.base_velocity import BaseVelocity, base_velocity
from dynamics_node.algorithms.joint_reactions import JointReactions
from dynamics_node.algorithms.link_energies import LinkEnergies
from dynamics_node.algorithms.point_jacobian import point_jacobian, relative_jacobian
from dynamics_node.algorithms.wrenches import wrench_at_frame
from dynamics_node.checks import batch_size, finite, flag
from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.result_types import JointReactionsDerivatives
from dynamics_node.model.model import WORLD, Frame
from dynamics_node.model.subtree import links_of_subtree, only_subtree
from dynamics_node.robot.argument_types import Wrenches
from dynamics_node.robot.arguments import check_configuration, check_wrenches
from dynamics_node.robot.dispatch import Dispatcher


class LinkQuantities:
    """The methods of a Robot for quantities of its links and joints one by one."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher, self._model = dispatcher, dispatcher.model
        self._subtrees: dict[str, Dispatcher] = {}  # link -> Dispatcher of its subtree

    # Reactions -------------------------------------------------------------------------------

    def joint_reactions(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                        wrenches: Wrenches = None, local: bool = True) -> JointReactions:
        """Return (wrenches, accelerations) of the moving links, (bodies, 6) each, linear first.

        Rows as in body_names, at the link's origin. The wrench is that of the joint on the link,
        which carries all links beyond it: at rest it points against gravity. The accelerations do
        not include gravity. For a robot with loops the wrenches are those of the open tree, without
        the forces that close the loops.

        :param wrenches: external ones, {frame: (fx, fy, fz, tx, ty, tz)} as for inverse_dynamics.
        :param local: in the axes of each link; else in the world's.
        """
        found = self._dispatcher.call('joint_reactions', wrenches, q=q, v=v, a=a)
        if flag('local', local):
            return found
        R = self.body_poses(q)[..., :3, :3]
        return JointReactions(*(_turned(R, rows) for rows in found))

    def joint_reactions_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                                    wrenches: Wrenches = None) -> JointReactionsDerivatives:
        """Return (dq, dv, da) of the wrenches of joint_reactions, (bodies, 6, nv) each.

        In the axes of the links. External wrenches are constant in their frames.
        """
        return self._dispatcher.call('joint_reactions_derivatives', wrenches, q=q, v=v, a=a)

    def sensor_wrench(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, link: str,
                      frame: str | None = None, wrenches: Wrenches = None,
                      local: bool = True) -> np.ndarray:
        """Return the (force, torque) that a sensor between a link and its parent link transmits.

        It acts on `link`, which it carries with all links and payloads beyond, (6,) [N, N m]. The
        joint between the two may be fixed. Many sensors show the opposite, the load on the parent.
        Loops are open, as for joint_reactions.

        :param link: first link beyond the sensor.
        :param frame: link at whose origin the wrench is given, fixed to `link`; None for `link`.
        :param wrenches: external ones; those that act on links beyond the sensor count.
        :param local: in the axes of `frame`; else in the world's.
        """
        where, local = self._sensor_frame(link, frame), flag('local', local)
        self._check_springs(link)
        external = {} if wrenches is None else check_wrenches(self._model, wrenches)
        subtree = links_of_subtree(self._model, link) if external else ()
        found = self._carried_by(link).call(
            'joint_reactions', {name: F for name, F in external.items() if name in subtree},
            q=q, v=v, a=a)
        wrench = wrench_at_frame(found.wrenches[..., where.body, :], where.pose)
        if local:
            return wrench
        name = link if frame is None else frame
        return _turned(self._dispatcher.positional('frame_pose', (name,))(q)[..., :3, :3], wrench)

    def _carried_by(self, link: str) -> Dispatcher:
        """Return the Dispatcher of the model in which only the subtree of a link has mass."""
        found = self._subtrees.get(link)
        if found is None:
            compiles = self._dispatcher.kernels is not None
            found = self._subtrees[link] = Dispatcher(only_subtree(self._model, link),
                                                      compile=compiles)
        return found

    def _check_springs(self, link: str) -> None:
        """Raise an error if a spring ends at the body of a link, but outside of its subtree."""
        body, subtree = self._model.frame(link).body, links_of_subtree(self._model, link)
        for spring in self._model.springs:
            for end in (spring.frame, spring.to):
                frame = self._model.frames.get(end)
                if frame is not None and frame.body == body and end not in subtree:
                    raise DynamicsError(
                        f"spring '{spring.name}' ends at '{end}', which is fixed to '{link}' by "
                        f"the sensor; expected '{link}' or another body")

    def _sensor_frame(self, link: str, frame: str | None) -> Frame:
        """Return the Frame where a sensor's wrench is given."""
        body = self._model.frame(link).body
        if body == WORLD:
            raise DynamicsError(f"link '{link}' does not move; expected a link that a joint moves")
        where = self._model.frame(link if frame is None else frame)
        if where.body != body:
            raise DynamicsError(f"frame '{frame}' moves relative to link '{link}'; expected a "
                                'link that is fixed to it')
        return where

    # Poses, motion, energy --------------------------------------------------------------------

    def body_poses(self, q: ArrayLike) -> np.ndarray:
        """Return the homogeneous matrix of each moving link in the world, (bodies, 4, 4)."""
        return self._dispatcher.call('body_poses', q=q)

    def frame_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str,
                           local: bool = False) -> np.ndarray:
        """Return J a + dJ/dt v, the (linear, angular) acceleration of a frame's origin, (6,).

        :param local: in the frame's axes instead of the world's. Gravity is not included.
        """
        return self._dispatcher.positional('frame_acceleration', (frame, flag('local', local)))(
            q, v, a)

    def link_energies(self, q: ArrayLike, v: ArrayLike) -> LinkEnergies:
        """Return (kinetic, potential) energy of each moving link, (bodies,) each [J].

        Rows as in body_names; rotors (armature) and links fixed to the world are not included.
        """
        return self._dispatcher.call('link_energies', q=q, v=v)

    # Points, axes of the world --------------------------------------------------------------------

    def point_jacobian(self, q: ArrayLike, frame: str, point: ArrayLike = (0.0, 0.0, 0.0),
                       relative_to: str | None = None) -> np.ndarray:
        """Return J, (linear, angular) velocity of a point of a link = J v, (6, nv).

        :param point: in the axes of `frame`, from its origin [m].
        :param relative_to: None for the world and its axes; a link for the velocity as seen from
            that link, in its axes.
        """
        place = finite('point', point, (3,))
        pose, J = self._pose_and_jacobian(q, frame)
        J = point_jacobian(pose, J, place)
        if relative_to is None:
            return J
        pose = pose.copy()
        pose[..., :3, 3] += pose[..., :3, :3] @ place
        return relative_jacobian(pose, J, *self._pose_and_jacobian(q, relative_to))

    def _pose_and_jacobian(self, q: ArrayLike, frame: str) -> tuple[np.ndarray, np.ndarray]:
        return (self._dispatcher.positional('frame_pose', (frame,))(q),
                self._dispatcher.positional('jacobian', (frame, False))(q))

    def link_wrenches(self, q: ArrayLike, wrenches: Mapping[str, ArrayLike]
                      ) -> dict[str, np.ndarray]:
        """Return wrenches given in world axes as `wrenches` of other methods, in link axes.

        :param wrenches: {frame: (fx, fy, fz, tx, ty, tz)} on the robot at that frame's origin, in
            world axes [N, N m].
        """
        known = check_wrenches(self._model, wrenches)
        batch_size({'q': check_configuration(self._model, q)}, wrenches=known)
        result = {}
        for frame, F in known.items():
            R = self._dispatcher.positional('frame_pose', (frame,))(q)[..., :3, :3]
            result[frame] = _turned(R.swapaxes(-1, -2), F)
        return result

    def base_velocity(self, q: ArrayLike, v: ArrayLike) -> BaseVelocity:
        """Return (matrix E, bias): u = E v has the base's linear velocity in world axes.

        du/dt = E a + bias. E is orthogonal: v = E' u, and forces on u are E tau.
        """
        return BaseVelocity(*self._dispatcher.call_numpy(
            lambda *state: tuple(base_velocity(*state)), q=q, v=v))


def _turned(R: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return pairs of vectors, (.., 6), each of the two multiplied by a rotation, (.., 3, 3)."""
    pairs = vectors.reshape(*vectors.shape[:-1], 2, 3) @ R.swapaxes(-1, -2)
    return pairs.reshape(*pairs.shape[:-2], 6)
