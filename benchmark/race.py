"""Compare all engines on one robot: agreement and speed."""

from statistics import median
from typing import NamedTuple

import numpy as np
from engines import ARGUMENTS, DERIVATIVES, THREADS, MuJoCo, Ours, Pinocchio
from robots import urdf
from timing import at_once, over_rows, over_states, take_turns

AGREEMENT = 1e-9  # of two engines, relative to the largest number
SINGLES = 256     # states in the loop over single states
BATCH = 4096
# Our batches per turn, one after another: a single one would take a fiftieth of the peer's time,
# much of it for cache misses, since the peer has just evicted our data.
PASSES = 8
PARALLEL = f'pinocchio, {THREADS} threads'
# Ours with `out`: a row of its own for matrices, whose fresh memory takes longer than the rest.
OUT = 'ours, out'
# The same on all cores, as users have it: elsewhere ours runs on one thread.
OUT_THREADS = f'ours, out, {THREADS} threads'
MATRICES = ('mass_matrix', *DERIVATIVES)

# Least time(peer) / time(ours) to reach: {robot: {(quantity, states, peer): ratio}}.
_ARM = {
    ('inverse_dynamics', 1, 'pinocchio'): 5.0, ('inverse_dynamics', BATCH, 'pinocchio'): 45.0,
    ('forward_dynamics', 1, 'pinocchio'): 7.0, ('forward_dynamics', BATCH, 'pinocchio'): 45.0,
    ('mass_matrix', 1, 'pinocchio'): 5.0, ('mass_matrix', BATCH, 'pinocchio'): 30.0,
    ('inverse_dynamics', BATCH, PARALLEL): 12.0}
_HUMANOID = {
    ('inverse_dynamics', 1, 'pinocchio'): 5.0, ('inverse_dynamics', BATCH, 'pinocchio'): 25.0,
    ('forward_dynamics', 1, 'pinocchio'): 5.0, ('forward_dynamics', BATCH, 'pinocchio'): 20.0,
    ('mass_matrix', 1, 'pinocchio'): 5.0, ('mass_matrix, out', BATCH, 'pinocchio'): 10.0}
BARS = {'panda': _ARM, 'ur5': _ARM, 'talos': _HUMANOID}


class Ratio(NamedTuple):
    """How one peer compares with us."""

    robot: str
    quantity: str
    states: int      # 1, or those of a batch
    peer: str
    ours: float      # ns per state, the fastest turn
    theirs: float
    ratio: float     # theirs / ours
    typical: float   # median over the turns of theirs / ours
    bar: float       # least ratio to reach; None where there is none

    @property
    def met(self):
        return self.bar is None or self.ratio >= self.bar

    @property
    def what(self):
        states = 'one state' if self.states == 1 else f'{self.states} states'
        return (f'{self.robot}: {self.quantity.replace("_", " ")}, {states}, against {self.peer} '
                f'(typically {self.typical:.1f})')

    @property
    def value(self):
        return self.ratio

    @property
    def unit(self):
        return 'times faster'


class Race:
    """The engines with one robot, and the states at which they are compared."""

    def __init__(self, name):
        self.name = name
        text = urdf(name)
        self.ours = Ours(text)
        self.peers = {'pinocchio': Pinocchio(text, self.ours.joint_names),
                      'mujoco': MuJoCo(text, self.ours.joint_names)}
        rng = np.random.default_rng(1)
        shape = BATCH, self.ours.robot.nv
        self.batch = rng.uniform(-3.0, 3.0, shape), rng.normal(size=shape), rng.normal(size=shape)
        self.batches = {peer: engine.states(*self.batch) for peer, engine in self.peers.items()}

    def check(self):
        """Raise if two engines disagree about anything that will be timed."""
        for quantity in ARGUMENTS:
            method = getattr(self.ours.robot, quantity)
            arrays = self.batch[:len(ARGUMENTS[quantity].split(', '))]
            ours = method(*arrays)
            self._compare(quantity, 'ourselves', ours[:SINGLES],
                          np.array([method(*row) for row in zip(*(a[:SINGLES] for a in arrays))]))
            for peer, (run, out) in self._peer_batches(quantity).items():
                run()
                order = self.peers[peer.split(',')[0]].order
                there = out[:, order]
                self._compare(quantity, peer, ours,
                              there[:, :, order] if quantity == 'mass_matrix' else there)

    def _compare(self, quantity, peer, ours, theirs):
        error = np.abs(ours - theirs).max() / np.abs(theirs).max()
        if not error <= AGREEMENT:
            raise AssertionError(f'{self.name}, {quantity}: we and {peer} differ by {error:.1e}')

    def one_by_one(self, quantity, turns, tick):
        """Return the Ratios of single states."""
        arguments = ARGUMENTS[quantity]
        runs = {'ours': over_states(self.ours.call(quantity), arguments,
                                    states_of(arguments, self.batch))}
        for peer, engine in self.peers.items():
            runs[peer] = over_states(engine.call(quantity), arguments,
                                     states_of(arguments, self.batches[peer]))
        return self._ratios(quantity, 1, take_turns(runs, turns, tick),
                            dict.fromkeys(runs, SINGLES))

    def in_batches(self, quantity, turns, tick):
        """Return the Ratios of a batch: ours in one call on one thread."""
        runs = batches_of(self.ours, quantity, self.batch)
        counts = dict.fromkeys(runs, PASSES * BATCH)
        for peer, (run, _) in self._peer_batches(quantity).items():
            runs[peer], counts[peer] = run, BATCH
        return self._ratios(quantity, BATCH, take_turns(runs, turns, tick), counts)

    def _peer_batches(self, quantity):
        """Return {peer: (loop over a batch, array of its results)}."""
        nv = self.ours.robot.nv
        shape = (BATCH, nv, nv) if quantity == 'mass_matrix' else (BATCH, nv)
        found = {}
        for peer, engine in self.peers.items():
            out = np.empty(shape)
            found[peer] = over_rows(engine.call(quantity), ARGUMENTS[quantity],
                                    self.batches[peer], out), out
        out = np.empty(shape)
        parallel = self.peers['pinocchio'].parallel_call(quantity, *self.batches['pinocchio'], out)
        if parallel:
            found[PARALLEL] = at_once(parallel), out
        return found

    def _ratios(self, quantity, states, seconds, counts):
        return all_ratios_of(self.name, quantity, states, seconds, counts,
                             BARS.get(self.name, {}))


def batches_of(ours, quantity, states, threaded=None):
    """Return {'ours': loop over passes of a batch}, of matrices also {OUT: with `out`}.

    :param threaded: the same robot on all cores: {OUT_THREADS: with `out`} too.
    """
    names = dict(zip('qvx', states))
    runs = {'ours': at_once(ours.call(quantity), PASSES, **names)}
    if quantity in MATRICES:
        runs[OUT] = at_once(ours.call_with_out(quantity, *states), PASSES, **names)
    if threaded is not None:
        runs[OUT_THREADS] = at_once(threaded.call_with_out(quantity, *states), PASSES, **names)
    return runs


def all_ratios_of(robot, quantity, states, seconds, counts, bars):
    """Return the Ratios of each way that ours was timed.

    :param bars: {(quantity, states, peer): least ratio}.
    """
    found = []
    names = {'ours': quantity, OUT: f'{quantity}, out',
             OUT_THREADS: f'{quantity}, out, {THREADS} threads'}
    for ours, name in names.items():
        if ours in seconds:
            peers = {peer: turns for peer, turns in seconds.items() if peer not in names}
            found += ratios_of(robot, name, states, {'ours': seconds[ours], **peers},
                               {**counts, 'ours': counts[ours]},
                               {peer: bars.get((name, states, peer)) for peer in peers})
    return found


def ratios_of(robot, quantity, states, seconds, counts, bars):
    """Return the Ratios from the seconds of every turn.

    :param counts: states per turn.
    """
    each = {name: [1e9 * turn / counts[name] for turn in turns]
            for name, turns in seconds.items()}
    ours = each.pop('ours')
    return [Ratio(robot, quantity, states, peer, min(ours), min(theirs),
                  min(theirs) / min(ours), median(b / a for a, b in zip(ours, theirs)), bars[peer])
            for peer, theirs in each.items()]


def states_of(arguments, batch):
    """Return the first states as a list: tuples of arrays, or arrays where there is one each."""
    copies = [[row.copy() for row in array[:SINGLES]] for array in batch]
    return list(zip(*copies)) if ',' in arguments else copies[0]
