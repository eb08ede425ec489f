"""Compare derivatives to Pinocchio: agreement and speed."""

import numpy as np
from engines import DERIVATIVES, compile_questions
from race import AGREEMENT, PASSES, SINGLES, ratios_of, states_of
from timing import at_once, loop, over_states, take_turns

BATCH = 1024
# What to reach, time(peer) / time(ours): {robot: {(question, states): ratio}}.
BARS = {'panda': {('inverse_dynamics_derivatives', 1): 4.0,
                  ('forward_dynamics_derivatives', 1): 4.0,
                  ('inverse_dynamics_derivatives', BATCH): 15.0,
                  ('forward_dynamics_derivatives', BATCH): 12.0}}


class DerivativeRace:
    """Compare the derivatives of the engines of a Race; MuJoCo has only differences."""

    def __init__(self, race):
        self.name, self.ours, self.peer = race.name, race.ours, race.peers['pinocchio']
        compile_questions(self.ours.robot, DERIVATIVES)
        self.batch = [np.ascontiguousarray(array[:BATCH]) for array in race.batch]
        self.peer_batch = [np.ascontiguousarray(array[:BATCH])
                           for array in race.batches['pinocchio']]

    def check(self):
        """Raise if the engines disagree; dtau/da and da/dtau come as upper triangles from it."""
        order = np.ix_(self.peer.order, self.peer.order)
        for question in DERIVATIVES:
            ours = getattr(self.ours.robot, question)(*(array[:SINGLES] for array in self.batch))
            for k, state in enumerate(zip(*(array[:SINGLES] for array in self.peer_batch))):
                theirs = self.peer.derivatives(question, *state)
                for part, whole in zip(ours, theirs, strict=True):
                    error = np.abs(part[k] - whole[order]).max() / np.abs(whole).max()
                    if not error <= AGREEMENT:
                        raise AssertionError(f'{self.name}, {question}: we and Pinocchio differ by '
                                             f'{error:.1e}')

    def one_by_one(self, question, turns, tick):
        """Return the Ratio of single states."""
        runs = {'ours': over_states(self.ours.call(question), 'q, v, x',
                                    states_of('q, v, x', self.batch)),
                'pinocchio': over_states(self.peer.call(question), 'q, v, x',
                                         states_of('q, v, x', self.peer_batch))}
        return self._ratios(question, 1, take_turns(runs, turns, tick),
                            dict.fromkeys(runs, SINGLES))

    def in_batches(self, question, turns, tick):
        """Return the Ratio of a batch: ours in one call on one thread, theirs in a loop."""
        q, v, x = self.batch
        call = self.peer.call(question)
        runs = {'ours': at_once(self.ours.call(question), PASSES, q=q, v=v, x=x),
                'pinocchio': loop('q, v, x in zip(Q, V, X)', call.answer,
                                  **dict(zip('QVX', self.peer_batch)), **call.names)}
        return self._ratios(question, BATCH, take_turns(runs, turns, tick),
                            {'ours': PASSES * BATCH, 'pinocchio': BATCH})

    def _ratios(self, question, states, seconds, counts):
        bar = BARS.get(self.name, {}).get((question, states))
        return ratios_of(self.name, question, states, seconds, counts, {'pinocchio': bar})
