"""Plot the two scenes of demo_task.py: paths, forces and errors over time."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from pictures import INK, ORANGE, QUIET, RED
from star import PUSH
from weight_shift import BELIEVED, FREED, LEGS

GREEN = '#1a9850'
COLOURS = (RED, '#2b5fa8', ORANGE, '#6a51a3')
MILLI = 1e3


def plot_drawing(path, run):
    """Draw the star over the wanted one, the force, the error along the table and the elbow."""
    figure, left, (force, error, elbow) = _panels('The arm draws: path, force, elbow')
    drawn, wanted = (MILLI * points[run.drawing, :2] for points in (run.tip, run.wanted))
    left.plot(*wanted.T, color=GREEN, linewidth=4.0, alpha=0.45, label='wanted')
    left.plot(*drawn.T, color=INK, linewidth=0.9, label='drawn')
    left.set(aspect='equal', xlabel='x [mm]', ylabel='y [mm]')
    left.legend(frameon=False, loc='upper right')
    force.axhline(PUSH, color=GREEN, linewidth=3.0, alpha=0.45)
    force.plot(run.t, run.force[:, 2], color=INK, linewidth=0.9)
    force.set(ylabel='normal force [N]', ylim=(-0.5, 2.2 * PUSH))
    off = MILLI * np.linalg.norm((run.tip - run.wanted)[:, :2], axis=1)
    error.plot(run.t, off, color=INK, linewidth=0.9)
    error.set(ylabel='path error [mm]', ylim=(0.0, None))
    elbow.plot(run.t, MILLI * run.sunk, color=INK, linewidth=1.2)
    elbow.set(ylabel='elbow below\nits highest [mm]', xlabel='time [s]', ylim=(0.0, None))
    begin, end = run.t[run.drawing.start], run.t[run.drawing.stop - 1]
    _finish(figure, path, left, (force, error, elbow), run.t, (begin, end, 'draws'))


def plot_stand(path, run):
    """Draw the centre of mass from above, the forces of the feet, and their share of friction."""
    figure, left, (force, error, friction) = _panels('The quadruped shifts its weight')
    feet = MILLI * run.feet[-1, :, :2]
    left.fill(*feet[[0, 1, 3, 2]].T, color=QUIET, alpha=0.12, linewidth=0)
    left.plot(*(MILLI * run.wanted[:, :2]).T, color=GREEN, linewidth=4.0, alpha=0.45,
              label='wanted')
    left.plot(*(MILLI * run.com[:, :2]).T, color=INK, linewidth=0.9, label='centre of mass')
    for leg, foot, colour in zip(LEGS, feet, COLOURS):
        left.plot(*foot, 'o', color=colour, markersize=8)
        left.annotate(leg, foot, (0, 9), textcoords='offset points', ha='center', color=colour)
    left.set(aspect='equal', xlabel='x [mm]', ylabel='y [mm]', ylim=(-190.0, 200.0))
    left.legend(frameon=False, loc='upper center', ncols=2)
    for k, (leg, colour) in enumerate(zip(LEGS, COLOURS)):
        force.plot(run.t, run.force[:, k, 2], color=colour, linewidth=1.1, label=leg)
        loaded = run.command[:, k, 2] > 0.2
        used = np.linalg.norm(run.command[:, k, :2], axis=1) / np.where(
            loaded, run.command[:, k, 2], np.inf)
        friction.plot(run.t, used, color=colour, linewidth=1.0)
    force.set(ylabel='foot force [N]', ylim=(-0.5, 13.0))
    force.legend(frameon=False, ncols=4, fontsize=8, loc='upper left')
    error.plot(run.t, MILLI * np.linalg.norm(run.com - run.wanted, axis=1), color=INK,
               linewidth=0.9)
    error.set(ylabel='centre of mass\nerror [mm]', ylim=(0.0, 0.1))
    friction.axhline(BELIEVED, color=RED, linewidth=1.2, linestyle='--')
    friction.set(ylabel='share of friction', xlabel='time [s]', ylim=(0.0, 1.15 * BELIEVED))
    begin, end = run.t[run.freed.start], run.t[-1]
    _finish(figure, path, left, (force, error, friction), run.t,
            (begin, end, f'{LEGS[FREED]} is free'))


def _panels(title):
    """Return the figure, one panel on the left and three on the right."""
    figure = Figure(figsize=(11, 5.4), layout='constrained')
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.35))
    figure.suptitle(title, x=0.01, ha='left', color=INK, fontweight='bold', fontsize=11)
    return figure, left.subplots(), right.subplots(3, 1, sharex=True)


def _finish(figure, path, left, panels, t, span):
    begin, end, name = span
    for axes in (left, *panels):
        axes.spines[['top', 'right']].set_visible(False)
        axes.tick_params(colors=INK, labelsize=8)
    for axes in panels:
        axes.axvspan(begin, end, color=GREEN, alpha=0.08, linewidth=0)
        axes.set_xlim(t[0], t[-1])
    panels[0].annotate(name, (begin, 1.0), (4, -2), va='top', fontsize=8, color=GREEN,
                       xycoords=('data', 'axes fraction'), textcoords='offset points')
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=100)
