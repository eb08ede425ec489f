"""Draw a run: errors and torques as plots, the arm as an image strip or a GIF.

All are made of Phases; a picture of the arm takes its URDF too. No screen is needed.
"""

from contextlib import closing
from typing import NamedTuple

import numpy as np
from camera import open_camera
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFont

INK, QUIET, RED, ORANGE = '#1f2933', '#7b8794', '#c62828', '#f28e1c'
MILLI = 1e3
LEAST = 1e-6   # [rad]: nothing smaller is drawn on a logarithmic axis


class Phase(NamedTuple):
    """A stretch of a run, N samples of n joints."""

    name: str
    t: np.ndarray            # (N,) [s], increasing
    q: np.ndarray            # (N, n) measured
    target: np.ndarray       # (N, n) where it should have been
    torque: np.ndarray       # (N, n)
    loaded: np.ndarray = None   # (N,) bool: carrying the payload; None: never
    bar: float = None        # RMS error that it must stay below [rad], or None

    @property
    def errors(self):
        """|q - target|, (N, n)."""
        return np.abs(np.asarray(self.q) - np.asarray(self.target))

    @property
    def rms(self):
        """Root of the mean squared error over samples and joints [rad]."""
        return float(np.sqrt(np.mean(self.errors ** 2)))

    @property
    def burden(self):
        """Whether it carries the payload, (N,) bool."""
        return np.zeros(len(self.t), bool) if self.loaded is None else np.asarray(self.loaded, bool)


# Plots -----------------------------------------------------------------------------------------

def plot_errors(path, phases):
    """Draw the error over time, phase after phase, and its RMS beside its bar."""
    figure = Figure(figsize=(11, 4.6), layout='constrained')
    axes, bars = figure.subplots(1, 2, width_ratios=(2.6, 1))
    _title(figure, 'Tracking error (thick: the worst joint, thin: each joint)')
    for _, phase, t in _one_after_the_other(phases):
        errors = np.maximum(phase.errors, LEAST) * MILLI
        axes.plot(t, errors, color=QUIET, linewidth=0.6, alpha=0.6)
        axes.plot(t, errors.max(axis=1), color=INK, linewidth=1.4)
    axes.set(yscale='log', xlabel='time [s]', ylabel='|q - target| [mrad]')
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.15)
    _mark(axes, phases)
    _bars(bars, phases)
    _save(figure, path)


def _bars(axes, phases):
    rms = np.array([max(phase.rms, LEAST) for phase in phases]) * MILLI
    rows = np.arange(len(phases))
    met = [phase.bar is None or phase.rms <= phase.bar for phase in phases]
    axes.barh(rows, rms, color=[INK if good else RED for good in met], height=0.45)
    limits = [phase.bar * MILLI if phase.bar else np.nan for phase in phases]
    for row, value, limit in zip(rows, rms, limits):
        less = '<' if value <= LEAST * MILLI else ''
        axes.text(np.fmax(value, limit), row, f'  {less}{value:.3g}', va='center', fontsize=9,
                  color=INK)
        if np.isfinite(limit):
            axes.plot([limit] * 2, [row - 0.3, row + 0.3], color=RED, linewidth=2)
    ends = np.concatenate([rms, [limit for limit in limits if np.isfinite(limit)]])
    axes.set(xscale='log', xlim=(0.3 * ends.min(), 20.0 * ends.max()), yticks=rows,
             yticklabels=[phase.name for phase in phases], ylim=(len(phases) - 0.4, -0.6),
             xlabel='RMS error [mrad]' + (', red: its bar' if np.isfinite(limits).any() else ''))
    _bare(axes)
    axes.tick_params(axis='y', length=0)


def plot_torques(path, phases, joint_names, limits):
    """Draw every joint's torque over time between its limits; nan and inf are no limit."""
    limits = np.asarray(limits, dtype=float)
    figure = Figure(figsize=(11, 1.1 * len(joint_names) + 1.2), layout='constrained')
    rows = figure.subplots(len(joint_names), 1, sharex=True, squeeze=False)[:, 0]
    _title(figure, 'Torque against limits')
    for k, (axes, name, limit) in enumerate(zip(rows, joint_names, limits)):
        peak = 0.0
        for _, phase, t in _one_after_the_other(phases):
            torque = np.asarray(phase.torque)[:, k]
            axes.plot(t, torque, color=INK, linewidth=1.0)
            peak = max(peak, float(np.abs(torque).max()))
        label = f'{name}\npeak {peak:.3g}'
        if np.isfinite(limit):
            axes.axhspan(limit, 2 * limit, color=RED, alpha=0.15, linewidth=0)
            axes.axhspan(-2 * limit, -limit, color=RED, alpha=0.15, linewidth=0)
            axes.set(ylim=(-1.2 * limit, 1.2 * limit), yticks=(-limit, 0.0, limit))
            label += f' = {peak / limit:.0%}'
        axes.set_ylabel(label, rotation=0, ha='right', va='center', fontsize=9)
        axes.tick_params(labelsize=8)
        _mark(axes, phases, named=k == 0)
    rows[-1].set_xlabel('time [s], torque [N m], red: beyond the limit')
    _save(figure, path)


def _one_after_the_other(phases):
    """Yield the start of each phase on the common time axis, itself, and its times there."""
    start = 0.0
    for phase in phases:
        t = np.asarray(phase.t, dtype=float)
        yield start, phase, start + t - t[0]
        start += t[-1] - t[0]


def _mark(axes, phases, named=True):
    """Part the phases by lines, name them, and show when the payload is there."""
    for row, (start, phase, t) in enumerate(_one_after_the_other(phases)):
        if start > 0.0:
            axes.axvline(start, color=QUIET, linewidth=0.8)
        if named:
            axes.annotate(phase.name, (start, 1.0), (4, -2 - 11 * (row % 2)), va='top',
                          fontsize=9, color=INK, xycoords=('data', 'axes fraction'),
                          textcoords='offset points')
        loaded = phase.burden
        if loaded.any():
            since = t[loaded.argmax()]
            axes.axvspan(since, t[-1], color=ORANGE, alpha=0.12, linewidth=0)
            if named:
                axes.annotate('payload', (since, 0.0), (4, 4), va='bottom', fontsize=8,
                              color='#b45f06', xycoords=('data', 'axes fraction'),
                              textcoords='offset points')
        axes.set_xlim(0.0, t[-1])
    _bare(axes)


def _title(figure, text):
    figure.suptitle(text, x=0.01, ha='left', color=INK, fontweight='bold', fontsize=11)


def _bare(axes):
    axes.spines[['top', 'right']].set_visible(False)
    axes.tick_params(colors=INK)


def _save(figure, path):
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=110)


# The arm ---------------------------------------------------------------------------------------

def save_strip(path, urdf, phases, columns=5, size=(300, 340), camera=open_camera):
    """Save one row of pictures per phase, at even times; green: where the arm should be."""
    with closing(camera(urdf, size)) as view:
        rows = []
        for phase in phases:
            samples = np.linspace(0, len(phase.t) - 1, columns).astype(int)
            rows.append(np.hstack([_frame(view, phase, k) for k in samples]))
    Image.fromarray(np.vstack(rows)).save(path)


def save_film(path, urdf, phases, seconds=6.0, fps=12, size=(400, 400), camera=open_camera):
    """Save a GIF of that length that plays all phases; green: where the arm should be."""
    total = sum(phase.t[-1] - phase.t[0] for phase in phases)
    speed = total / seconds
    frames = []
    with closing(camera(urdf, size)) as view:
        for phase in phases:
            times = np.arange(phase.t[0], phase.t[-1], speed / fps)
            frames += [Image.fromarray(_frame(view, phase, k))
                       for k in np.searchsorted(phase.t, times)]
    # one palette for all, or it flickers; MAXCOVERAGE keeps what is rare, as a thin red line
    some = np.vstack([frames[k] for k in np.linspace(0, len(frames) - 1, 12).astype(int)])
    colours = Image.fromarray(some).quantize(256, Image.Quantize.MAXCOVERAGE)
    frames = [frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=round(1000 / fps),
                   loop=0, optimize=False)


def _frame(view, phase, k, points=50):
    """Return the captioned picture of the k-th sample of a phase."""
    q, target = np.asarray(phase.q), np.asarray(phase.target)
    trail = np.unique(np.linspace(0, k, points).astype(int))
    whole = np.unique(np.linspace(0, len(q) - 1, points).astype(int))
    image = Image.fromarray(np.ascontiguousarray(view.picture(
        q[k], target[k], bool(phase.burden[k]), path=[view.tip(q[i]) for i in trail],
        ghost_path=[view.tip(target[i]) for i in whole])))
    pen, unit = ImageDraw.Draw(image), image.width / 30
    fonts = [ImageFont.load_default(size) for size in (1.5 * unit, 1.15 * unit)]
    worst = phase.errors[k].max()
    pen.text((unit, 0.8 * unit), phase.name, fill=INK, font=fonts[0])
    pen.text((unit, 2.8 * unit), f'{phase.t[k] - phase.t[0]:.1f} s   off by {_angle(worst)}',
             fill=_colour(worst), font=fonts[1])
    return np.asarray(image)


def _angle(x):
    return f'{x:.2f} rad' if x > 0.1 else f'{x * MILLI:.2f} mrad'


def _colour(error):
    """Return a colour from quiet (1 mrad and less) to red (100 mrad and more)."""
    strength = 0.6 * np.clip(0.5 * np.log10(error * MILLI + LEAST), 0.0, 1.0)
    return tuple(int(255 * part) for part in colormaps['inferno'](strength)[:3])
