"""Return the tool path that draws a star on a table: down, along the star, and up again."""

import numpy as np
from fast_motion import PROGRESS
from task_loop import Aim

CENTRE, SIZE = np.array([0.58, 0.0]), 0.12   # [m] on the table
DOWN = (0.0, 1.0, 0.0, 0.0)                  # the tool's orientation
PUSH = 10.0                                  # [N]
ABOVE, HOVER = 0.10, 0.01                    # [m] where it begins, and where it feels its way down
LEAD, APPROACH, TOUCH, LIFT = 0.5, 1.0, 0.7, 0.8   # [s]
# A star with five round tips: two arrows, turning by 3 and by -2 turns, are added (hypotrochoid).
ARROWS, TURNS = np.array([2.0, 5.0]) / 7.0, 2.0 * np.pi * np.array([3.0, -2.0])


class StarPlan:
    """The Aim at any time since the brakes opened.

    :ivar begin: where the tool waits, (3,).
    :ivar drawing: (from, to) when it draws [s]; end: when all is done.
    """

    def __init__(self, height, seconds, free=(), away=0.0):
        """Plan a star.

        :param height: at which the tool touches [m]; seconds: that the star takes.
        :param free: axes of the tool that are not controlled.
        :param away: how much further from the base than CENTRE it is drawn [m].
        """
        self._height, self._seconds, self._free, self._away = height, seconds, free, away
        touched = LEAD + APPROACH + TOUCH
        self.begin = self._over(star(0.0)[0], ABOVE)
        self.drawing = touched, touched + seconds
        self.end = self.drawing[1] + LIFT

    def __call__(self, t):
        begin, end = self.drawing
        if t < begin - TOUCH:
            return self._descending((t - LEAD) / APPROACH, APPROACH, ABOVE, HOVER)
        if t > end:
            return self._descending((t - end) / LIFT, LIFT, 0.0, ABOVE)
        s, ds, dds = progress((t - begin) / self._seconds, self._seconds)
        point, slope, curvature = star(s)
        return Aim(self._over(point), DOWN, (*slope * ds, 0.0),
                   (*slope * dds + curvature * ds * ds, 0.0), push=PUSH, free=self._free)

    def _descending(self, share, seconds, start, stop):
        s, ds, dds = progress(share, seconds)
        way = stop - start
        return Aim(self._over(star(0.0)[0], start + way * s), DOWN, (0.0, 0.0, way * ds),
                   (0.0, 0.0, way * dds), free=self._free)

    def _over(self, point, height=0.0):
        return point[0] + self._away, point[1], self._height + height


def star(s):
    """Return the point where s in [0, 1] goes once round, its slope and curvature by s, (2,)."""
    angles = TURNS * s
    point = SIZE * (ARROWS @ np.transpose([np.cos(angles), np.sin(angles)]))
    slope = SIZE * ((ARROWS * TURNS) @ np.transpose([-np.sin(angles), np.cos(angles)]))
    curvature = -SIZE * ((ARROWS * TURNS ** 2) @ np.transpose([np.cos(angles), np.sin(angles)]))
    return CENTRE + point, slope, curvature


def progress(share, seconds):
    """Return s from 0 to 1 with its rates [1/s, 1/s^2], at rest before and after."""
    if not 0.0 < share < 1.0:
        return float(share > 0.5), 0.0, 0.0
    return [PROGRESS.deriv(k)(share) / seconds ** k for k in range(3)]
