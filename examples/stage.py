"""Show the progress and the results of demo.py: a table and pictures."""

import os
import sys
import time
from functools import partial

import numpy as np

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7

WIDTH = 24     # of the progress bar
MILLI = 1e3
AIM = 0.25, 0.1, 0.42   # [m] the middle of what the arm reaches
CLEAR = '\r\x1b[K'


class Progress:
    """One line that is written over and over on a terminal; elsewhere one line per phase."""

    def __init__(self, number, stream=sys.stdout):
        """Take the number of phases."""
        self._number, self._stream, self._index = number, stream, 0
        self._live = stream.isatty() and os.environ.get('TERM') != 'dumb'
        self._name, self._duration, self._since = '', 1.0, time.monotonic()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._live:
            print(CLEAR, end='', file=self._stream, flush=True)

    def say(self, text):
        """Show a step that belongs to no phase."""
        if self._live:
            print(f'{CLEAR}{text} ...', end='', file=self._stream, flush=True)

    def begin(self, name, duration):
        """Begin a phase of that many simulated seconds."""
        self._index += 1
        self._name, self._duration = name, duration
        self.at(0.0)

    def at(self, t):
        """Show that the phase is at a time [s]."""
        if self._live:
            done = min(1.0, t / self._duration)
            bar = '#' * round(WIDTH * done) + '.' * round(WIDTH * (1.0 - done))
            print(f'{CLEAR}{self._index}/{self._number} [{bar:.{WIDTH}}] {self._name}: '
                  f'{t:.1f} of {self._duration:.1f} s', end='', file=self._stream, flush=True)

    def end(self, phase):
        """End the phase."""
        text = (f'{self._index}/{self._number} {phase.name:<21} RMS error '
                f'{phase.rms * MILLI:8.3f} mrad   [{time.monotonic() - self._since:4.1f} s]')
        print(f'{CLEAR if self._live else ""}{text}', file=self._stream, flush=True)


def figure_of_merit(phase):
    """Return the error to compare with the limit [rad]: RMS in motion, the largest at rest."""
    still = not np.ptp(phase.target, axis=0).any()
    return float(phase.errors.max()) if still else phase.rms


def print_table(judged):
    """Print one row per (Phase, what its bar means); return whether all bars were met."""
    limits = effort_limits()
    print(f'\n{"phase":<21}{"RMS":>9}{"worst":>9}{"bar":>9}   {"":6}  {"torque":>6}  the bar is\n'
          f'{"":21}{"[mrad]":>9}{"[mrad]":>9}{"[mrad]":>9}   {"":6}  {"of max":>6}')
    met = True
    for phase, meaning in judged:
        good = figure_of_merit(phase) <= phase.bar   # nan is not
        met = met and good
        peak = (np.abs(phase.torque).max(axis=0) / limits).max()
        print(f'{phase.name:<21}{phase.rms * MILLI:9.3f}{phase.errors.max() * MILLI:9.3f}'
              f'{phase.bar * MILLI:9.3f}   {"ok" if good else "FAILED":<6}  {peak:6.0%}  {meaning}')
    return met


def effort_limits():
    """Return the limits of the bundled arm, (n,) [N m]."""
    return np.array([joint.max_effort for joint in Robot.from_urdf(ARM7).model.joints])


def save_pictures(folder, phases):
    """Save plots, a strip of pictures and a film; return their paths."""
    from camera import open_camera
    from pictures import plot_errors, plot_torques, save_film, save_strip
    names = Robot.from_urdf(ARM7).joint_names
    paths = [folder / name for name in ('errors.png', 'torques.png', 'arm.png', 'arm.gif')]
    plot_errors(paths[0], phases)
    plot_torques(paths[1], phases, names, effort_limits())
    moving, camera = phases[1:], partial(open_camera, aim=AIM)
    save_strip(paths[2], ARM7, moving, columns=6, size=(240, 260), camera=camera)
    save_film(paths[3], ARM7, moving, seconds=8.0, fps=8, size=(340, 340), camera=camera)
    return paths
