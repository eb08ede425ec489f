"""Render the arm in a configuration, without a screen.

MuJoCo's renderer where OpenGL works headless, else a stick figure by matplotlib: `open_camera`
finds out.
"""

import mujoco
import numpy as np
from mujoco_model import read_spec
from renderer import Renderer

BODY = (0.92, 0.93, 0.95, 1.0), (0.20, 0.45, 0.78, 1.0)   # links, alternately
GHOST = (0.10, 0.65, 0.30, 0.35)
LOAD = (0.95, 0.50, 0.10, 1.0)
ROUND = mujoco.mjtGeom.mjGEOM_CYLINDER
ACTUAL_PATH, GHOST_PATH = (0.9, 0.2, 0.15, 1.0), (0.1, 0.6, 0.3, 1.0)


def open_camera(urdf, size=(480, 480), **kwargs):
    """Return a MujocoCamera if this machine can, else a StickCamera."""
    try:
        return MujocoCamera(urdf, size, **kwargs)
    except Exception:  # no library, no device: they fail in every kind of way
        from stick_camera import StickCamera
        return StickCamera(urdf, size, **kwargs)


class MujocoCamera:
    """Draws the arm as MuJoCo's renderer does; close() it.

    A ghost is a second, transparent arm: where the first should be.
    """

    def __init__(self, urdf, size=(480, 480), tip=None, azimuth=125.0, elevation=-14.0,
                 aim=None):
        """Look at the robot of a URDF, text or path.

        :param size: (width, height) of a picture.
        :param tip: the link whose path is drawn and that carries the load; None: the last one.
        :param azimuth, elevation: where the camera looks [degrees].
        :param aim: the point in the middle of the picture, (3,); None: half way up the arm.
        """
        self._tip = tip or read_spec(urdf).bodies[-1].name
        spec = _scene(urdf, self._tip)
        length = _length(spec)
        self._renderer = Renderer(spec, size, azimuth, elevation,
                                  [0.0, 0.0, 0.48 * length] if aim is None else aim, 1.5 * length)
        self.model, self.data = self._renderer.model, self._renderer.data

    def tip(self, q):
        """Return where the tip is, (3,)."""
        self.data.qpos[:self.model.nq // 2] = q
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.body(self._tip).xpos.copy()

    def picture(self, q, ghost=None, loaded=False, path=(), ghost_path=()):
        """Return the picture, (height, width, 3) uint8.

        :param q: configuration in the order of the joints in the URDF's tree.
        :param ghost: configuration of the ghost, or None.
        :param path: points (3,) to be joined by a line; ghost_path: of the ghost.
        """
        model, n = self.model, self.model.nq // 2
        self.data.qpos[:n] = q
        self.data.qpos[n:] = q if ghost is None else ghost
        model.geom('load').rgba[3] = float(loaded)
        groups = [1, 0, 0, ghost is not None, 0, 0]
        return self._renderer.render(groups, lines=[(path, ACTUAL_PATH), (ghost_path, GHOST_PATH)])

    def close(self):
        """Free the resources of OpenGL."""
        self._renderer.close()


def _scene(urdf, tip):
    """Return the spec of the robot, its ghost, the floor and light."""
    # a ghost a little thinner is hidden where the arm is where it should be
    spec, ghost = coloured(urdf, BODY, 0), coloured(urdf, (GHOST, GHOST), 3, 0.96)
    radius = 0.045 * _length(spec)
    spec.body(tip).add_geom(name='load', type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0],
                            rgba=LOAD)
    spec.attach(ghost, prefix='ghost ', frame=spec.worldbody.add_frame())
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    return spec


def coloured(urdf, colours, group, scale=1.0):
    """Return the robot with shapes: its own primitives, else capsules from joint to joint."""
    spec = read_spec(urdf, shapes=True)
    length = _length(spec)
    bare = not any(body.geoms for body in spec.bodies)
    for k, body in enumerate(spec.bodies[1:]):
        if bare:
            for child in body.bodies:
                if np.linalg.norm(child.pos) > 0.01 * length:
                    body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0, 0, 0, *child.pos],
                                  size=[0.03 * 0.98 ** k * length, 0, 0])
        elif scale == 1.0 and body.joints and body.geoms and body.geoms[0].type == ROUND:
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=body.geoms[0].size)  # a knuckle
        for geom in body.geoms:
            geom.rgba, geom.group = colours[k % len(colours)], group
            geom.size = scale * np.asarray(geom.size)
    return spec


def _length(spec):
    """Return how long the stretched arm is at most [m]: the longest way from joint to joint."""
    def below(body):
        return max((np.linalg.norm(child.pos) + below(child) for child in body.bodies),
                   default=0.0)
    return max(0.1, float(below(spec.worldbody)))
