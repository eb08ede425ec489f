"""Print the results as text."""

from engines import THREADS
from race import MATRICES, PARALLEL

SHORT = {'inverse_dynamics': 'inverse', 'forward_dynamics': 'forward', 'mass_matrix': 'mass matrix',
         'inverse_dynamics_derivatives': 'd inverse', 'forward_dynamics_derivatives': 'd forward',
         'constrained_forward_dynamics': 'constrained', 'whole_body': 'whole body'}
SHORT.update({f'{quantity}{how}': f'{SHORT[quantity]}{how}' for quantity in MATRICES
              for how in (', out', f', out, {THREADS} threads')})
LEGEND = ('Times in ns per state, the fastest of all turns; x is time(peer) / time(ours), in '
          'brackets the\nbar to reach, ! where it is missed; "out": results in given arrays.')


def ratios(rows, states):
    """Return the table of single states or of batches."""
    peers = ['pinocchio', 'mujoco'] if states == 1 else ['pinocchio', PARALLEL, 'mujoco']
    calls = {'pinocchio': 'pin' if states == 1 else 'pin loop', PARALLEL: f'pin {THREADS} threads',
             'mujoco': 'MuJoCo' if states == 1 else 'MuJoCo loop'}
    lines = ['One state per call' if states == 1 else
             f'{states} states: ours one call, on one thread where it does not say {THREADS}; '
             f'theirs a loop, and for\nPinocchio also {THREADS} threads of rneaInParallel and '
             'abaInParallel']
    wide = 17 if states == 1 else 26
    lines.append(f'  {"robot":10}{"quantity":{wide}}{"ours":>7}'
                 + ''.join(f'{calls[peer]:>15}{"x":>9} {"":6}' for peer in peers).rstrip())
    found = {(row.robot, row.quantity, row.peer): row for row in rows if row.states == states}
    for robot, quantity in dict.fromkeys(key[:2] for key in found):
        ours = found[robot, quantity, 'pinocchio'].ours
        cells = [_cell(found.get((robot, quantity, peer))) for peer in peers]
        lines.append(f'  {robot:10}{SHORT[quantity]:{wide}}{ours:7.0f}{"".join(cells)}'
                     .rstrip())
    return '\n'.join(lines)


def native(rows, skipped=()):
    """Return the table of our calls from Python beside peers in C++, and why some are absent."""
    lines = []
    if rows:
        lines = ["One state per call: ours from Python; Pinocchio's functions in C++, compiled "
                 'with -O3 -march=native,\nand steps of tsid from Python',
                 f'  {"robot":10}{"quantity":17}{"ours":>7}{"peer":>15}{"x":>9}']
    lines += [f'  {row.robot:10}{SHORT[row.quantity]:17}{row.ours:7.0f}{_cell(row):31} {row.peer}'
              for row in rows]
    return '\n'.join([*lines, *skipped])


def _cell(row):
    if row is None:
        return f'{"-":>15}{"":16}'
    bar = '' if row.bar is None else f'({row.bar:g}){"" if row.met else "!"}'
    return f'{row.theirs:15.0f}{row.ratio:9.3g} {bar:6}'


def costs(rows, title='Start-up (each in a fresh process)'):
    """Return the table of start-up costs, or of other costs with a title."""
    lines = [title]
    for row in rows:
        bar = '' if row.bar is None else f'   under {row.bar:g} {row.unit}{"" if row.met else " !"}'
        lines.append(f'  {row.what:55}{row.value:8.3g} {row.unit:3}{bar}')
    return '\n'.join(lines)


def quantities(rows):
    """Return the table of further quantities; - where Pinocchio has none."""
    lines = ['Further quantities (ns per state; Pinocchio one state per call)',
             f'  {"robot":10}{"quantity":36}{"one state":>10}{"in a batch":>12}{"operations":>12}'
             f'{"pin":>8}']
    for row in rows:
        peer = '-' if row.peer is None else f'{row.peer:.0f}'
        lines.append(f'  {row.robot:10}{row.what:36}{row.single:10.0f}{row.batch:12.0f}'
                     f'{row.operations:12}{peer:>8}')
    return '\n'.join(lines) if rows else ''


def solutions(rows):
    """Return the table of inverse kinematics, with the least values to reach."""
    if not rows:
        return ''
    lines = ['Inverse kinematics of random poses from random starts, against the same Newton loop '
             'written\nwith Pinocchio from Python']
    for row in rows:
        bar = '' if row.bar is None else f'   at least {row.bar:g}{"" if row.met else " !"}'
        lines.append(f'  {row.what:58}{row.value:8.4g} {row.unit:3}{bar}'.rstrip())
    return '\n'.join(lines)


def scaling(points, exponents):
    """Return the table of chains, and how the cost grows."""
    lines = ['A chain of links (ns; forward dynamics by the algorithm with fewer operations)',
             f'  {"":10}{"links":>8}{"operations":>12}{"one state":>12}{"in a batch":>12}'
             f'{"per link":>10}']
    for quantity, found in exponents.items():
        mine = [point for point in points if point.quantity == quantity]
        lines += [f'  {SHORT[quantity] if point is mine[0] else "":10}{point.links:8}'
                  f'{point.operations:12}{point.single:12.0f}{point.batch:12.0f}'
                  f'{point.batch / point.links:10.1f}' for point in mine]
        half = mine[len(mine) // 2].links
        for k, label in enumerate(('exponent', f'  from {half} on')):
            lines.append(f'  {"":4}{label:14}' + ''.join(f'{slopes[k]:12.2f}'
                                                         for slopes in found.values()))
    return '\n'.join(lines)


def verdict(rows):
    """Return how many bars are met, and those that are not."""
    barred = [row for row in rows if row.bar is not None]
    missed = [row for row in barred if not row.met]
    return '\n'.join([f'{len(barred) - len(missed)} of {len(barred)} bars are met.',
                      *(f'  missed: {row.what}: {row.value:.3g} {row.unit}, bar {row.bar:g}'
                        for row in missed)])
