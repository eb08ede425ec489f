"""Make exactly known motions, with or without an external wrench."""

from typing import NamedTuple

import numpy as np


class Motion(NamedTuple):
    """Samples of a motion."""

    time: np.ndarray  # (N,)
    q: np.ndarray     # (N, n)
    v: np.ndarray
    a: np.ndarray


def swing(time, n, seed=0, amplitude=0.4, middle=0.3):
    """Return joints that swing, each as a sum of three sines of 0.5 to 4 rad/s."""
    rng = np.random.default_rng(seed)
    time = np.asarray(time)[:, None]
    q, v, a = (np.zeros((len(time), n)) for _ in range(3))
    q += middle
    for _ in range(3):
        w, phase = rng.uniform(0.5, 4.0, n), rng.uniform(0.0, 2.0 * np.pi, n)
        q += amplitude / 3.0 * np.sin(w * time + phase)
        v += amplitude / 3.0 * w * np.cos(w * time + phase)
        a -= amplitude / 3.0 * w * w * np.sin(w * time + phase)
    return Motion(time[:, 0], q, v, a)


def low_pass(time, x, bandwidth):
    """Return the solution of dr/dt = K (x - r), r(0) = 0, x linear between samples, (N, n).

    Exact for such an x: for x_0 + s t the solution is r = x_0 + s (t - 1/K) + c exp(-K t).
    """
    r, dt = np.zeros_like(x), np.diff(time)
    for k in range(len(dt)):
        slope, decay = (x[k + 1] - x[k]) / dt[k], np.exp(-bandwidth * dt[k])
        settled = x[k] - slope / bandwidth
        r[k + 1] = settled + slope * dt[k] + (r[k] - settled) * decay
    return r
