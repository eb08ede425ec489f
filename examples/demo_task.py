"""Simulate task-space control: an arm draws, a quadruped shifts its weight (`make demo-task`).

    python examples/demo_task.py [--out build/demo-task] [--axes 5]

Both are moved by MuJoCo, without a screen, in lockstep with their controllers: the arm by the real
node in mode task_space (drawing.py), the quadruped by Robot.whole_body (weight_shift.py). Ends with
a table of bars, plots and image strips; the exit code is 0 only if every bar is met.
"""

import argparse
import importlib.util
import signal
import sys
import time
from pathlib import Path

from demo import MISSING, NEEDED


def main():
    """Run both scenes; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--out', type=Path, default=Path('build/demo-task'),
                        help='folder for pictures')
    parser.add_argument('--axes', type=int, choices=(7, 6, 5, 3), default=7,
                        help='of the arm that draws; some of its seven joints are fixed')
    arguments = parser.parse_args()
    out = arguments.out
    missing = [what for module, what in NEEDED.items() if not importlib.util.find_spec(module)]
    if missing:
        print(f'demo-task: {", ".join(missing)} is not installed here. `make demo-task` sets up '
              'everything', file=sys.stderr)
        return MISSING
    for number in (signal.SIGTERM, signal.SIGHUP):   # end as Ctrl-C does: in order
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        return show(out, arguments.axes)
    except KeyboardInterrupt:
        print('\ndemo-task: interrupted', file=sys.stderr)
        return 130
    except (RuntimeError, TimeoutError) as error:
        print(f'\ndemo-task: {error}', file=sys.stderr)
        return 1


def show(out, axes=7):
    """Play both scenes, print their bars and save the pictures; return the exit code."""
    from bars import print_bars
    from drawing import draw, drawing_bars
    from processes import own_domain
    from weight_shift import shift_weight, stand_bars
    begin = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    print('1/2 the arm draws, through the node', flush=True)
    with own_domain():
        drawing = draw(out, axes=axes)
    print('2/2 the quadruped shifts its weight, by the whole-body QP', flush=True)
    stand = shift_weight()
    met = [print_bars('the arm draws a star and presses', drawing_bars(drawing)),
           print_bars('the quadruped shifts its weight', stand_bars(stand))]
    print('\n' + '\n'.join(str(path) for path in save_pictures(out, drawing, stand)))
    print(f'{"all bars met" if all(met) else "NOT all bars met"}, {time.monotonic() - begin:.0f} s')
    return 0 if all(met) else 1


def save_pictures(folder, drawing, stand):
    """Save plots, and image strips where OpenGL works; return their paths."""
    from task_plots import plot_drawing, plot_stand
    from task_strips import save_drawing_strip, save_stand_strip
    paths = [folder / 'drawing.png', folder / 'stand.png']
    plot_drawing(paths[0], drawing)
    plot_stand(paths[1], stand)
    strips = [folder / 'drawing_strip.png', folder / 'stand_strip.png']
    try:
        save_drawing_strip(strips[0], drawing)
        save_stand_strip(strips[1], stand)
    except Exception as error:  # no library, no device: they fail in every kind of way
        print(f'\nno image strips, since OpenGL does not work here: {error}')
        return paths
    return paths + strips


if __name__ == '__main__':
    sys.exit(main())
