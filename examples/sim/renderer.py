"""Render a MuJoCo scene without a screen: a tiled floor, light, lines and arrows.

Needs OpenGL: libEGL, or libOSMesa, with Mesa's software renderer is enough.
"""

import importlib

import mujoco
import numpy as np

LINE_WIDTH = 2.5   # [pixels]
SKY, HORIZON = (1.0, 1.0, 1.0), (0.86, 0.90, 0.95)
TILES = (0.93, 0.94, 0.96), (0.89, 0.90, 0.93)


class Renderer:
    """Looks at a model; close() it.

    :ivar model, data: what is drawn; write data.qpos, then render().
    """

    def __init__(self, spec, size, azimuth, elevation, aim, distance, floor=0.0):
        """Look at a MjSpec, to which a floor and light are added.

        :param size: (width, height) of a picture [pixels].
        :param azimuth, elevation: where the camera looks [degrees]; aim: at which point, (3,).
        :param distance: from there; floor: its height [m].
        """
        _set_stage(spec, floor)
        spec.visual.global_.offwidth, spec.visual.global_.offheight = size
        self.size, self.model = size, spec.compile()
        self.data = mujoco.MjData(self.model)
        camera = self._camera = mujoco.MjvCamera()
        camera.azimuth, camera.elevation, camera.distance = azimuth, elevation, distance
        camera.lookat[:] = aim
        self._scene = mujoco.MjvScene(self.model, maxgeom=4000)
        self._option = mujoco.MjvOption()
        self._context = _context(*size)
        self._context.make_current()
        self._gpu = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._gpu)

    def render(self, groups=(1, 0, 0, 0, 0, 0), lines=(), arrows=()):
        """Return the picture of data.qpos, (height, width, 3) uint8.

        :param groups: which groups of geoms are seen.
        :param lines: (points (N, 3), colour) each; arrows: (from, to, radius, colour) each.
        """
        model, data = self.model, self.data
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)   # lights and cameras may follow centres of mass
        mujoco.mj_camlight(model, data)
        self._option.geomgroup[:] = groups
        mujoco.mjv_updateScene(model, data, self._option, None, self._camera,
                               mujoco.mjtCatBit.mjCAT_ALL.value, self._scene)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION.value] = 0
        for points, colour in lines:
            for start, end in zip(points[:-1], points[1:]):
                self._connect(mujoco.mjtGeom.mjGEOM_LINE, LINE_WIDTH, start, end, colour)
        for start, end, radius, colour in arrows:
            self._connect(mujoco.mjtGeom.mjGEOM_ARROW, radius, start, end, colour)
        self._context.make_current()
        image = np.empty((self.size[1], self.size[0], 3), dtype=np.uint8)
        viewport = mujoco.MjrRect(0, 0, *self.size)
        mujoco.mjr_render(viewport, self._scene, self._gpu)
        mujoco.mjr_readPixels(image, None, viewport, self._gpu)
        return image[::-1]

    def _connect(self, kind, width, start, end, colour):
        """Add a line or an arrow to the scene, if there is room."""
        if self._scene.ngeom < self._scene.maxgeom:
            geom = self._scene.geoms[self._scene.ngeom]
            mujoco.mjv_initGeom(geom, kind, np.zeros(3), np.zeros(3), np.zeros(9),
                                np.array(colour, dtype=np.float32))
            mujoco.mjv_connector(geom, kind, width, start, end)
            self._scene.ngeom += 1

    def close(self):
        """Free the resources of OpenGL, in the order that it requires."""
        self._gpu.free()
        self._context.free()


def _context(width, height):
    """Return an OpenGL context without a window, for any MUJOCO_GL."""
    try:
        return importlib.import_module('mujoco.egl').GLContext(width, height)
    except Exception:
        return importlib.import_module('mujoco.osmesa').GLContext(width, height)


def _set_stage(spec, height):
    """Add the sky, a tiled floor, and light."""
    spec.add_texture(name='sky', type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=384,
                     builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, rgb1=SKY, rgb2=HORIZON)
    spec.add_texture(name='tiles', type=mujoco.mjtTexture.mjTEXTURE_2D, width=128, height=128,
                     builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER, rgb1=TILES[0], rgb2=TILES[1])
    tiles = spec.add_material(name='tiles', texrepeat=[5, 5], texuniform=True)
    tiles.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = 'tiles'
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[8, 8, 0.1], pos=[0, 0, height],
                            material='tiles')
    spec.worldbody.add_light(pos=[1.0, -1.5, 4.0], dir=[-0.25, 0.35, -0.9], diffuse=[0.5] * 3,
                             specular=[0.2] * 3, type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL)
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.35] * 3, [0.35] * 3
    spec.visual.headlight.specular = [0.1] * 3
    # a software renderer counts every triangle and every pixel of a shadow
    quality = spec.visual.quality
    quality.shadowsize, quality.numslices, quality.numstacks = 1024, 20, 10
    spec.visual.map.fogstart, spec.visual.map.fogend = 3.0, 6.0
    spec.visual.rgba.fog = [*HORIZON, 1.0]
