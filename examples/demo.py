"""Simulate gravity compensation, tracking and a payload with the node (`make demo`).

    python examples/demo.py [--out build/demo]

A simulated arm (MuJoCo, examples/sim) and the dynamics node run as two processes, on a ROS domain
of their own, in lockstep: what you see does not depend on how fast your machine is. Ends with a
table, plots and a film; the exit code is 0 only if every phase met its bar.

The arm has friction and rotors (`armature`), both known to the node. For numbers without motion,
see examples/arm_dynamics.py.
"""

import argparse
import importlib.util
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent / 'sim'))
MISSING = 2      # exit code: something is not installed
NEEDED = {'rclpy': 'ROS 2', 'dynamics_node': 'this package', 'mujoco': 'mujoco',
          'matplotlib': 'matplotlib', 'PIL': 'pillow'}

ROTORS = {f'armature.joint_{k}': armature for k, armature in enumerate(
    (0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1), start=1)}   # [kg m^2]
GRAVITY = {'torque.mode': 'gravity'}
# The same two numbers in both: a spring and a damper per joint.
GAINS = {'torque.gains': 'kp_kd', 'torque.kp.default': 225.0, 'torque.kd.default': 30.0}
PD = {**GAINS, 'torque.mode': 'impedance', 'torque.gravity_scale.default': 0.0,
      'torque.friction_scale.default': 0.0}
COMPUTED = {**GAINS, 'torque.mode': 'computed_torque', 'torque.gravity_scale.default': 1.0,
            'torque.friction_scale.default': 1.0}
LOAD = 'tool0', 1.5                # frame, mass [kg]
OUT, BACK = 1.8, 3.0               # [s] the motion; the load comes between
RAMP_IN = 0.5                      # [s] of the torques, from what the brakes held
LEAD = 0.8                         # [s] from enable to the motion
HOLD = 3.0                         # [s]

MAX_DRIFT = 1e-3                   # [rad]
SANE = 0.2                         # [rad] RMS of a spring that is bent by the weight of the arm
BETTER = 20.0                      # computed torque over PD alone, and a known load over another


class Act(NamedTuple):
    """The settings of one phase of the demo."""

    name: str
    parameters: dict
    moves: bool = True
    load: str = ''     # '', 'unknown' or 'known' to the node


ACTS = (Act('gravity hold', GRAVITY, moves=False), Act('PD alone', PD),
        Act('computed torque', COMPUTED), Act('load unknown', COMPUTED, load='unknown'),
        Act('load known', COMPUTED, load='known'))


def main():
    """Run the demo; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--out', type=Path, default=Path('build/demo'), help='folder for pictures')
    out = parser.parse_args().out
    missing = [what for module, what in NEEDED.items() if not importlib.util.find_spec(module)]
    if missing:
        print(f'demo: {", ".join(missing)} is not installed here. `make demo` sets up everything; '
              'otherwise: pip install mujoco matplotlib, and source install/setup.sh',
              file=sys.stderr)
        return MISSING
    for number in (signal.SIGTERM, signal.SIGHUP):   # end as Ctrl-C does: in order
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        return show(out)
    except KeyboardInterrupt:
        print('\ndemo: interrupted', file=sys.stderr)
        return 130
    except (RuntimeError, TimeoutError) as error:
        print(f'\ndemo: {error}', file=sys.stderr)
        return 1


def show(out):
    """Play all acts, print the table and save the pictures; return the exit code."""
    from processes import own_domain
    from stage import Progress, print_table, save_pictures
    begin = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    with Progress(len(ACTS)) as progress, own_domain():
        progress.say('starting the arm and the node')
        phases = play(out, progress)
        judged = judge(phases)
        progress.say('drawing')
        paths = save_pictures(out, [phase for phase, _ in judged])
    met = print_table(judged)
    print('\n' + '\n'.join(str(path) for path in paths))
    if not met:
        print(f'logs: {out / "arm.log"} {out / "node.log"}')
    print(f'{"all bars met" if met else "NOT all bars met"}, {time.monotonic() - begin:.0f} s')
    return 0 if met else 1


def play(out, progress):
    """Return the Phase of each act."""
    from closed_loop import ClosedLoop
    from fast_motion import fast_motion
    motion, phases = fast_motion(OUT, BACK), []
    with ClosedLoop(out, arm=ROTORS,
                    node={**ROTORS, 'safety.ramp_in_time': RAMP_IN}) as loop:
        for act in ACTS:
            progress.begin(act.name, LEAD + OUT + BACK if act.moves else HOLD)
            phases.append(perform(loop, act, motion, progress.at))
            progress.end(phases[-1])
    return phases


def perform(loop, act, motion, glance):
    """Return the Phase of an act."""
    import numpy as np
    from pictures import Phase
    home = motion.positions[0]
    loop.place(home)
    loop.enable(act.parameters)
    if not act.moves:
        t, q, torque = loop.run(HOLD, glance)
        return Phase(act.name, t, q, np.tile(home, (len(t), 1)), torque)
    loop.follow(motion, start=LEAD)
    loop.run(LEAD + OUT, glance)
    if act.load:
        loop.attach(*LOAD, known=act.load == 'known')
    run = loop.run(BACK, glance)
    moving = run.t >= LEAD
    t = run.t[moving] - LEAD
    return Phase(act.name, t, run.q[moving], motion.at(t).q, run.torque[moving],
                 loaded=(t >= OUT) & bool(act.load))


def judge(phases):
    """Return (Phase with its bar, what the bar means) for each."""
    hold, pd, computed, unknown, known = phases
    return [(hold._replace(bar=MAX_DRIFT), 'drifts by less, at worst'),
            (pd._replace(bar=SANE), 'bent by its weight, not more'),
            (computed._replace(bar=pd.rms / BETTER), f'PD alone / {BETTER:g}'),
            (unknown._replace(bar=pd.rms), 'better than PD without load'),
            (known._replace(bar=unknown.rms / BETTER), f'load unknown / {BETTER:g}')]


if __name__ == '__main__':
    sys.exit(main())
