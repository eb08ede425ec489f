"""Draw the arm as a stick figure with matplotlib, for machines without headless OpenGL."""

import mujoco
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from mujoco_model import read_spec


class StickCamera:
    """Draws links as lines between the origins of their frames; the calls of MujocoCamera."""

    def __init__(self, urdf, size=(480, 480), tip=None, azimuth=125.0, elevation=-14.0,
                 aim=None):
        self.size = size
        self.model = read_spec(urdf).compile()
        self.data = mujoco.MjData(self.model)
        self._tip = self.model.body(tip).id if tip else self.model.nbody - 1
        mujoco.mj_kinematics(self.model, self.data)
        height = max(0.2, float(np.abs(self.data.xpos).max()))
        figure = Figure(figsize=(size[0] / 100, size[1] / 100), dpi=100)
        self._canvas = FigureCanvasAgg(figure)
        self._axes = figure.add_axes((-0.1, -0.12, 1.2, 1.24), projection='3d')
        # MuJoCo's azimuth is where the camera looks, matplotlib's where it stands
        self._axes.view_init(elev=-elevation, azim=azimuth + 180.0)
        x, y, _ = (0.0, 0.0, 0.0) if aim is None else aim
        self._limits = [(centre - 0.62 * height, centre + 0.62 * height) for centre in (x, y)]
        self._limits.append((0.0, 1.24 * height))

    def tip(self, q):
        """Return where the tip is, (3,)."""
        return self._points(q)[self._tip]

    def picture(self, q, ghost=None, loaded=False, path=(), ghost_path=()):
        """Return the picture, (height, width, 3) uint8."""
        axes, (xlim, ylim, zlim) = self._axes, self._limits
        axes.cla()
        axes.set(xlim=xlim, ylim=ylim, zlim=zlim, xticklabels=[], yticklabels=[],
                 zticklabels=[])
        axes.set_box_aspect((1, 1, 1))
        if ghost is not None:
            self._draw(ghost, '#1a9850', 7, 0.35)
        self._draw(q, '#2b5fa8', 6, 1.0)
        for points, colour in ((path, '#d7301f'), (ghost_path, '#1a9850')):
            if len(points):
                axes.plot(*np.transpose(points), color=colour, linewidth=1.5)
        if loaded:
            axes.scatter(*self.tip(q)[:, None], s=160, color='#f28e1c', depthshade=False)
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[..., :3].copy()

    def _points(self, q):
        """Return the origins of all links, the world first."""
        self.data.qpos[:] = q
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.xpos.copy()

    def _draw(self, q, colour, width, alpha):
        points, parent = self._points(q), self.model.body_parentid
        for body in range(1, len(points)):
            ends = np.transpose([points[parent[body]], points[body]])
            self._axes.plot(*ends, color=colour, linewidth=width, alpha=alpha,
                            solid_capstyle='round')
        moving = points[self.model.jnt_bodyid]
        floor = moving * [1.0, 1.0, 0.0]
        self._axes.plot(*floor.T, color='0.6', linewidth=2, alpha=0.4 * alpha)
        self._axes.scatter(*moving.T, s=4 * width, color='white', edgecolor=colour, alpha=alpha,
                           depthshade=False, zorder=3)

    def close(self):
        """Do nothing: no resource is held."""
