"""Show what events did to the arms: table, bars that are met, picture of before and after."""

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt  # noqa: E402

PAUSE = 'no joint states for 100 ms'
MOST_DISPLACEMENT = 5.0   # [mrad] after that pause
MOST_SPEED = 1.05         # of the velocity limits
MOST_STOP = 1.1           # of the shortest stop that effort and slew limits allow
LEGEND = f"""\
Within 1 s after the event, in MuJoCo without friction, end stops and brakes. driver: holds the last
torque for ever, times out to zero torque after 100 ms without one; either: the same for both.
tool, joint: greatest distance from where they should be: as without the event and, once torques no
longer follow the law, on the shortest stop. v: greatest joint speed over its limit. jump: between
two torque messages, over the effort limit. stop: travel over the shortest stop within effort and
slew limits (in brackets: within effort limits alone). !: beyond a bar, {MOST_DISPLACEMENT:g} mrad
after a pause of 100 ms, {MOST_STOP:g} of the shortest stop, {MOST_SPEED:g} of a velocity limit."""


def table(rows):
    """Return the table, one part per robot."""
    lines = [LEGEND]
    for robot in dict.fromkeys(row.robot for row in rows):
        lines += ['', f'{robot:54}{"motion":11}{"driver":10}{"tool mm":>8}{"joint mrad":>11}'
                  f'{"v":>8} {"jump":>6} {"stop":>14}  end']
        lines += [_line(row) for row in rows if row.robot == robot]
    return '\n'.join(lines)


def _line(row):
    late, fast, far = (mark and '!' for mark in (
        PAUSE in row.event and row.joint >= MOST_DISPLACEMENT, row.speed > MOST_SPEED,
        row.stop is not None and row.stop > MOST_STOP))
    stop = '' if row.stop is None else f'{_number(row.stop)}{far or ""} ({_number(row.hard_stop)})'
    words = row.fault or (row.refused and f'refused: {row.refused}')
    return (f'  {row.event:52}{row.motion:11}{row.driver:10}{_number(row.tool):>8}'
            f'{_number(row.joint):>10}{late or " "}{_number(row.speed):>8}{fast or " "}'
            f'{row.jump:6.2f} {stop:>14}  {row.state}{": " if words else ""}{words[:60]}')


def _number(x):
    """Return three digits, or all before the point."""
    return '0' if x < 0.005 else f'{x:.3g}' if x < 100.0 else f'{x:.0f}'


def verdict(rows):
    """Return how many events meet each bar."""
    bars = {
        f'pause of 100 ms: less than {MOST_DISPLACEMENT:g} mrad': [
            row.joint < MOST_DISPLACEMENT for row in rows if PAUSE in row.event],
        f'disable at speed: at most {MOST_STOP:g} of the shortest stop': [
            row.stop <= MOST_STOP for row in rows if row.stop is not None],
        f'joint speeds at most {MOST_SPEED:g} of their limits': [
            row.speed <= MOST_SPEED for row in rows]}
    return '\n'.join(['', *(f'{sum(met):4} of {len(met):3}  {what}'
                            for what, met in bars.items() if met)])


def markdown(rows, before):
    """Return the table of docs/torque_events.md: one line per event and motion."""
    robots = list(dict.fromkeys(row.robot for row in rows))
    lines = ['| event | motion | ' + ' | '.join(
        f'{robot}: joint [mrad] | speed / limit' for robot in robots) + ' | end |',
             '|---' * (3 + 2 * len(robots)) + '|']
    for event, motion in dict.fromkeys((row.event, row.motion) for row in rows):
        cells = [_change(before, rows, event, motion, robot, field)
                 for robot in robots for field in ('joint', 'speed')]
        last = next(row for row in rows if (row.event, row.motion) == (event, motion))
        words = last.fault or (last.refused and f'refused: {last.refused}')
        end = f'{last.state}{": " if words else ""}{words[:60].strip()}'
        lines.append(f'| {event} | {motion} | {" | ".join(cells)} | {end} |')
    return '\n'.join(lines)


def _change(before, rows, *key):
    """Return a figure now, with the one before if that is another."""
    old, new = _figure(before, *key), _figure(rows, *key)
    return new if old in ('', new) else f'{old} -> {new}'


def _figure(rows, event, motion, robot, field):
    """Return 'x / y' of the driver that holds and the one that times out, or one for both."""
    return ' / '.join(_number(getattr(row, field)) for row in rows
                      if (row.event, row.motion, row.robot) == (event, motion, robot))


def draw(rows, before, path):
    """Write the PNG: displacements for both drivers and speeds, worst of robots and motions."""
    names = list(dict.fromkeys(row.event for row in rows))
    figure, sides = plt.subplots(1, 3, figsize=(17, 2.0 + 0.24 * len(names)), sharey=True,
                                 layout='constrained')
    panels = (('the driver holds the last torque', 'times out', 'joint', 'mrad'),
              ('the driver times out to zero torque', 'holds', 'joint', 'mrad'),
              ('either driver', '', 'speed', 'share of its limit'))
    for axes, (title, other, field, unit) in zip(sides, panels):
        for label, some, colour, shift in (('before', before, '0.75', -0.2),
                                           ('now', rows, '#2a6f97', 0.2)):
            worst = [max((getattr(row, field) for row in some
                          if row.event == name and row.driver != other), default=0.0)
                     for name in names]
            axes.barh([k + shift for k in range(len(names))], worst, 0.4, color=colour,
                      label=label)
        axes.set_xscale('log')
        axes.set_xlim(left=0.1 if field == 'joint' else 0.01)
        bar = MOST_DISPLACEMENT if field == 'joint' else MOST_SPEED
        axes.axvline(bar, color='#c1121f', lw=1.0)
        axes.set_title(title, fontsize=11)
        axes.set_xlabel(f'greatest {"displacement of a joint" if field == "joint" else "speed"} '
                        f'[{unit}]; line: {bar:g}')
        axes.grid(axis='x', color='0.88', lw=0.6)
        axes.set_axisbelow(True)
    sides[0].set_yticks(range(len(names)), names, fontsize=8)
    sides[0].invert_yaxis()
    sides[0].set_ylim(len(names) - 0.5, -0.5)
    handles, labels = sides[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc='outside upper center', ncols=2, frameon=False,
                  title='Within 1 s after an event: the worse of both robots and motions',
                  title_fontsize=13)
    figure.savefig(path, dpi=110)
    plt.close(figure)
