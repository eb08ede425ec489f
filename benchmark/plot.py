"""Plot the ratios."""

import matplotlib
from derivatives import BATCH as FEWER
from engines import THREADS
from features import NOTE
from race import BATCH, PARALLEL
from table import SHORT

matplotlib.use('Agg')
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {'pinocchio': '#2a6f97', PARALLEL: '#89c2d9', 'mujoco': '#e9a23b'}
LABELS = {'pinocchio': 'Pinocchio', PARALLEL: f'Pinocchio, {THREADS} threads', 'mujoco': 'MuJoCo'}
HEIGHT = 0.28  # of a bar; questions are 1 apart


def draw(rows, path):
    """Write the PNG: single states on the left, batches on the right."""
    groups = list(dict.fromkeys((row.robot, row.question) for row in rows))
    position = _positions(groups)
    size = (13, 2.2 + 0.5 * len(groups))
    figure, sides = plt.subplots(1, 2, figsize=size, sharey=True, layout='constrained')
    titles = ('One state per call',
              f'Batch of {BATCH} states (derivatives, loops: {FEWER}), ours on one thread')
    for axes, batch, title in zip(sides, (False, True), titles):
        _side(axes, [row for row in rows if (row.states > 1) is batch], position)
        axes.set_title(title, fontsize=12)
        axes.set_xlabel('time of the peer / time of dynamics_node   (log)')
    sides[0].set_yticks(list(position.values()), [SHORT[question] for _, question in groups])
    sides[0].invert_yaxis()
    for robot in dict.fromkeys(robot for robot, _ in groups):
        mine = [position[group] for group in groups if group[0] == robot]
        sides[0].annotate(robot, (0, sum(mine) / len(mine)), (-92, 0), rotation=90, weight='bold',
                          fontsize=12, ha='center', va='center', textcoords='offset points',
                          xycoords=('axes fraction', 'data'))
    handles, labels = sides[1].get_legend_handles_labels()
    known = dict(zip(labels, handles))
    figure.legend(known.values(), known.keys(), loc='outside upper center', ncols=4, frameon=False,
                  title='How many times faster than its peers dynamics_node answers',
                  title_fontsize=15, fontsize=11)
    figure.supxlabel('\n' + NOTE, fontsize=9, color='0.35')
    figure.savefig(path, dpi=130, bbox_inches='tight', pad_inches=0.15)
    plt.close(figure)


def _positions(groups):
    """Return the height of each bar group, with a gap before another robot."""
    found, at, before = {}, 0.0, None
    for robot, question in groups:
        at += 0.0 if before is None else 1.0 if robot == before else 1.5
        found[robot, question] = at
        before = robot
    return found


def _side(axes, rows, position):
    peers = [peer for peer in COLOURS if any(row.peer == peer for row in rows)]
    for row in rows:
        mine = [peer for peer in peers if any(
            other.peer == peer and other[:2] == row[:2] for other in rows)]
        y = position[row.robot, row.question] + HEIGHT * (
            mine.index(row.peer) - (len(mine) - 1) / 2)
        axes.barh(y, row.ratio, height=0.92 * HEIGHT, color=COLOURS[row.peer],
                  label=LABELS[row.peer])
        if row.bar is not None:
            axes.plot([row.bar] * 2, [y - 0.5 * HEIGHT, y + 0.5 * HEIGHT], color='black', lw=2.5,
                      solid_capstyle='butt', label='to reach')
        edge = max(row.ratio, row.bar or 0.0)
        axes.annotate(f'{row.ratio:.3g}', (edge, y), (4, 0), textcoords='offset points',
                      va='center', fontsize=8, color='black' if row.met else '#c1121f',
                      weight='normal' if row.met else 'bold')
    axes.set_xscale('log')
    axes.set_xlim(1.0, 1.5 * max(row.ratio for row in rows))
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500) if tick < axes.get_xlim()[1]]
    axes.set_xticks(ticks, [f'{tick}x' for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis='x', color='0.85', lw=0.8)
    axes.set_axisbelow(True)
    axes.spines[['top', 'right']].set_visible(False)
