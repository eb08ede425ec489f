"""Draw the results of identify.py: torques on unseen motion, errors before and after."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from unknown_arm import PERIOD

INK, QUIET, RED, BLUE = '#1f2933', '#7b8794', '#c62828', '#2b5fa8'
MILLI = 1e3
WIDE = 8.0     # standard deviations that are drawn; what is beyond is drawn at the edge


def plot_torques(path, story, rate):
    """Draw the torque residuals of each model on unseen motion, sampled at a rate [Hz]."""
    names = story.robot.joint_names
    figure = Figure(figsize=(11, 9), layout='constrained')
    rows = figure.subplots(len(names), 1, sharex=True)
    figure.suptitle('Torque that the model does not explain, on unseen motion', x=0.01, ha='left')
    left = {name: story.unseen['measured'] - story.unseen[name] for name in ('before', 'after')}
    t = np.arange(len(left['after'])) / rate
    for k, (axes, name) in enumerate(zip(rows, names)):
        axes.axhline(0.0, color=QUIET, linewidth=0.6)
        axes.plot(t, left['before'][:, k], color=RED, linewidth=1.2, label='by the URDF')
        axes.plot(t, left['after'][:, k], color=BLUE, linewidth=1.2, label='identified')
        axes.set_ylabel(f'{name}\n[N m]', rotation=0, ha='right', va='center', fontsize=9)
        _bare(axes)
    rows[0].legend(loc='upper right', ncols=2, frameon=False, fontsize=9)
    rows[-1].set_xlabel('time [s]')
    _save(figure, path)


def plot_tracking(path, story, deviations):
    """Draw tracking errors of all four runs, and how far base parameters are from the truth."""
    found = story.identified.result
    figure = Figure(figsize=(11, 6.5), layout='constrained')
    above, below = figure.subplots(2, 1, height_ratios=(1.4, 1))
    runs = {'by the URDF': (story.before, RED), 'identified': (story.after, BLUE),
            'with an unknown load': (story.loaded, '#f28e1c'),
            'with the load identified': (story.known, '#1a9850')}
    for name, (run, colour) in runs.items():
        error = np.maximum(np.abs(run.error).max(axis=1), 1e-6)
        above.plot(PERIOD * np.arange(len(error)), MILLI * error, color=colour, linewidth=1.2,
                   label=f'{name}: {MILLI * run.rms:.3g} mrad RMS')
    above.set(yscale='log', xlabel='time [s]', ylabel='worst joint [mrad]')
    above.set_title('Error of a fast motion under computed torque', loc='left')
    above.legend(frameon=False, fontsize=9, ncols=2)
    _bare(above)
    below.axhspan(-3.0, 3.0, color=BLUE, alpha=0.1, linewidth=0)
    places = np.arange(len(deviations))
    far = np.abs(deviations) > 3.0
    for chosen, colour in ((~far, INK), (far, RED)):
        below.plot(places[chosen], np.clip(deviations[chosen], -WIDE, WIDE), 'o', markersize=4,
                   color=colour)
    inertial = int(np.sum(found.base.kept < found.layout.inertial))
    below.axvline(inertial - 0.5, color=QUIET, linewidth=0.8)
    for place, text in ((0, 'inertias'), (inertial, 'rotors, friction, offsets')):
        below.text(place, WIDE, text, fontsize=9, color=QUIET, va='top')
    below.set(xlabel='base parameter', ylabel='off by [sigma]', ylim=(-WIDE - 0.5, WIDE + 0.5))
    below.set_title('Base parameters against the truth, in stated standard deviations',
                    loc='left')
    _bare(below)
    _save(figure, path)


def _bare(axes):
    axes.spines[['top', 'right']].set_visible(False)
    axes.tick_params(labelsize=8)


def _save(figure, path):
    FigureCanvasAgg(figure).print_png(str(path))
