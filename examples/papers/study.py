"""Run the study of a paper: print its bars, save a picture of each topic."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))   # for bars.py

import numpy as np  # noqa: E402
from bars import Bar, print_bars  # noqa: E402
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

EXACT = 1e-10   # relative: the same number computed in two ways, in double precision


def run(description, topics, argv=None):
    """Print the bars of all topics and save their pictures; return the exit code.

    :param topics: functions that return (bars, figure); a picture has the name of its function.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument('folder', nargs='?', type=Path, default=Path('build/papers'),
                        help='where the pictures are saved (%(default)s)')
    folder = parser.parse_args(argv).folder
    folder.mkdir(parents=True, exist_ok=True)
    met = True
    for topic in topics:
        bars, figure = topic()
        met = print_bars(topic.__name__.replace('_', ' '), bars) and met
        path = folder / f'{topic.__name__}.png'
        FigureCanvasAgg(figure).print_png(path)
        print(f'  {path}')
    print('all bars met' if met else 'NOT all bars met')
    return 0 if met else 1


def difference(name, found, expected, limit=EXACT, meaning=''):
    """Return the Bar of the greatest difference, relative to the greatest expected value."""
    found, expected = np.asarray(found), np.asarray(expected)
    scale = np.abs(expected).max()
    return Bar(name, float(np.abs(found - expected).max() / (scale or 1.0)), limit, '', meaning)


def panels(title, columns, size=(11.0, 3.8), **options):
    """Return a figure and its panels, side by side."""
    figure = Figure(figsize=size, dpi=100, layout='constrained')
    figure.suptitle(title, x=0.01, ha='left', fontweight='bold', fontsize=11)
    axes = np.ravel(figure.subplots(1, columns, squeeze=False, **options))
    for panel in axes:
        panel.spines[['top', 'right']].set_visible(False)
    return figure, axes
