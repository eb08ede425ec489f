"""Compare derivatives to Pinocchio: agreement and speed."""

import numpy as np
from engines import DERIVATIVES, THREADS, Ours, compile_kernels
from race import AGREEMENT, PASSES, SINGLES, all_ratios_of, batches_of, states_of
from robots import urdf
from timing import loop, over_states, take_turns

BATCH = 1024
# Least time(peer) / time(ours) to reach: {robot: {(quantity, states, peer): ratio}}.
BARS = {'panda': {('inverse_dynamics_derivatives', 1, 'pinocchio'): 4.0,
                  ('forward_dynamics_derivatives', 1, 'pinocchio'): 4.0,
                  ('inverse_dynamics_derivatives', BATCH, 'pinocchio'): 15.0,
                  ('forward_dynamics_derivatives', BATCH, 'pinocchio'): 12.0},
        # In batches on one thread, so that a regression of the kernels is seen; and on two threads,
        # against Pinocchio's loop on one.
        'talos': {(f'{quantity}{out}', states, 'pinocchio'): bar for quantity in DERIVATIVES
                  for out, states, bar in (('', 1, 5.0), (', out', BATCH, 8.0),
                                           (f', out, {THREADS} threads', BATCH, 20.0))}}


class DerivativeRace:
    """Derivatives by the engines of a Race; MuJoCo has only finite differences."""

    def __init__(self, race):
        self.name, self.ours, self.peer = race.name, race.ours, race.peers['pinocchio']
        compile_kernels(self.ours.robot, DERIVATIVES)
        self.threaded = Ours(urdf(self.name), quantities=DERIVATIVES, threads=THREADS)
        self.batch = [np.ascontiguousarray(array[:BATCH]) for array in race.batch]
        self.peer_batch = [np.ascontiguousarray(array[:BATCH])
                           for array in race.batches['pinocchio']]

    def check(self):
        """Raise if the engines disagree; of dtau/da and da/dtau it returns the upper triangles."""
        order = np.ix_(self.peer.order, self.peer.order)
        for quantity in DERIVATIVES:
            ours = getattr(self.ours.robot, quantity)(*(array[:SINGLES] for array in self.batch))
            for k, state in enumerate(zip(*(array[:SINGLES] for array in self.peer_batch))):
                theirs = self.peer.derivatives(quantity, *state)
                for part, whole in zip(ours, theirs, strict=True):
                    error = np.abs(part[k] - whole[order]).max() / np.abs(whole).max()
                    if not error <= AGREEMENT:
                        raise AssertionError(f'{self.name}, {quantity}: we and Pinocchio differ by '
                                             f'{error:.1e}')

    def one_by_one(self, quantity, turns, tick):
        """Return the Ratio of single states."""
        runs = {'ours': over_states(self.ours.call(quantity), 'q, v, x',
                                    states_of('q, v, x', self.batch)),
                'pinocchio': over_states(self.peer.call(quantity), 'q, v, x',
                                         states_of('q, v, x', self.peer_batch))}
        return self._ratios(quantity, 1, take_turns(runs, turns, tick),
                            dict.fromkeys(runs, SINGLES))

    def in_batches(self, quantity, turns, tick):
        """Return the Ratios of a batch: ours in one call, theirs in a loop."""
        call = self.peer.call(quantity)
        runs = batches_of(self.ours, quantity, self.batch, self.threaded)
        counts = {**dict.fromkeys(runs, PASSES * BATCH), 'pinocchio': BATCH}
        runs['pinocchio'] = loop('q, v, x in zip(Q, V, X)', call.expression,
                                 **dict(zip('QVX', self.peer_batch)), **call.names)
        return self._ratios(quantity, BATCH, take_turns(runs, turns, tick), counts)

    def _ratios(self, quantity, states, seconds, counts):
        return all_ratios_of(self.name, quantity, states, seconds, counts,
                             BARS.get(self.name, {}))
