"""One picture of the arm in a configuration, without a screen.

MuJoCo's renderer where OpenGL works headless (libEGL or libOSMesa with Mesa's software renderer is
enough), else a stick figure by matplotlib: `open_camera` finds out.
"""

import importlib

import mujoco
import numpy as np
from mujoco_model import read_spec

LINE_WIDTH = 2.5   # [pixels]
BODY = (0.92, 0.93, 0.95, 1.0), (0.20, 0.45, 0.78, 1.0)   # links, alternately
GHOST = (0.10, 0.65, 0.30, 0.35)
LOAD = (0.95, 0.50, 0.10, 1.0)
SKY, HORIZON = (1.0, 1.0, 1.0), (0.86, 0.90, 0.95)
TILES = (0.93, 0.94, 0.96), (0.89, 0.90, 0.93)
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
        self.size = size
        self._tip = tip or read_spec(urdf).bodies[-1].name
        spec = _scene(urdf, self._tip)
        spec.visual.global_.offwidth, spec.visual.global_.offheight = size
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self._camera = mujoco.MjvCamera()
        self._camera.azimuth, self._camera.elevation = azimuth, elevation
        length = _length(spec)
        self._camera.lookat[:] = [0.0, 0.0, 0.48 * length] if aim is None else aim
        self._camera.distance = 1.5 * length
        self._scene = mujoco.MjvScene(self.model, maxgeom=4000)
        self._option = mujoco.MjvOption()
        self._context = _context(*size)
        self._context.make_current()
        self._gpu = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._gpu)

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
        mujoco.mj_kinematics(model, self.data)
        mujoco.mj_comPos(model, self.data)   # lights and cameras may follow centres of mass
        mujoco.mj_camlight(model, self.data)
        model.geom('load').rgba[3] = float(loaded)
        self._option.geomgroup[:] = [1, 0, 0, ghost is not None, 0, 0]
        mujoco.mjv_updateScene(model, self.data, self._option, None, self._camera,
                               mujoco.mjtCatBit.mjCAT_ALL.value, self._scene)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION.value] = 0
        self._draw(path, ACTUAL_PATH)
        self._draw(ghost_path, GHOST_PATH)
        self._context.make_current()
        image = np.empty((self.size[1], self.size[0], 3), dtype=np.uint8)
        viewport = mujoco.MjrRect(0, 0, *self.size)
        mujoco.mjr_render(viewport, self._scene, self._gpu)
        mujoco.mjr_readPixels(image, None, viewport, self._gpu)
        return image[::-1]

    def _draw(self, path, colour):
        """Add a line through points to the scene."""
        for start, end in zip(path[:-1], path[1:]):
            if self._scene.ngeom == self._scene.maxgeom:
                return
            geom = self._scene.geoms[self._scene.ngeom]
            mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_LINE, np.zeros(3), np.zeros(3),
                                np.zeros(9), np.array(colour, dtype=np.float32))
            mujoco.mjv_connector(geom, mujoco.mjtGeom.mjGEOM_LINE, LINE_WIDTH, start, end)
            self._scene.ngeom += 1

    def close(self):
        """Free what OpenGL holds, in the order it needs."""
        self._gpu.free()
        self._context.free()


def _context(width, height):
    """Return an OpenGL context without a window, whatever MUJOCO_GL says."""
    try:
        return importlib.import_module('mujoco.egl').GLContext(width, height)
    except Exception:
        return importlib.import_module('mujoco.osmesa').GLContext(width, height)


def _scene(urdf, tip):
    """Return the spec of the robot, its ghost, the floor and light."""
    # a ghost a little thinner is hidden where the arm is where it should be
    spec, ghost = _coloured(urdf, BODY, 0), _coloured(urdf, (GHOST, GHOST), 3, 0.96)
    radius = 0.045 * _length(spec)
    spec.body(tip).add_geom(name='load', type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0],
                            rgba=LOAD)
    spec.attach(ghost, prefix='ghost ', frame=spec.worldbody.add_frame())
    _stage(spec)
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    return spec


def _stage(spec):
    """Add the sky, a tiled floor, and light."""
    spec.add_texture(name='sky', type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=384,
                     builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, rgb1=SKY, rgb2=HORIZON)
    spec.add_texture(name='tiles', type=mujoco.mjtTexture.mjTEXTURE_2D, width=128, height=128,
                     builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER, rgb1=TILES[0], rgb2=TILES[1])
    tiles = spec.add_material(name='tiles', texrepeat=[5, 5], texuniform=True)
    tiles.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = 'tiles'
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[8, 8, 0.1], material='tiles')
    spec.worldbody.add_light(pos=[1.0, -1.5, 4.0], dir=[-0.25, 0.35, -0.9], diffuse=[0.5] * 3,
                             specular=[0.2] * 3, type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL)
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.35] * 3, [0.35] * 3
    spec.visual.headlight.specular = [0.1] * 3
    # a software renderer counts every triangle and every pixel of a shadow
    quality = spec.visual.quality
    quality.shadowsize, quality.numslices, quality.numstacks = 1024, 20, 10
    spec.visual.map.fogstart, spec.visual.map.fogend = 3.0, 6.0
    spec.visual.rgba.fog = [*HORIZON, 1.0]


def _coloured(urdf, colours, group, scale=1.0):
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
