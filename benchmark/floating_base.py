"""Compare a humanoid with a floating base to Pinocchio: agreement and speed.

python benchmark/floating_base.py     prints the tables
"""

import numpy as np
import pinocchio as pin
from engines import ARGUMENTS, DERIVATIVES, THREADS, Ours, Pinocchio, in_order
from race import AGREEMENT, PASSES, SINGLES, all_ratios_of, batches_of, states_of
from robots import urdf
from timing import loop, over_rows, over_states, take_turns

NAME, ROBOT = 'talos6d', 'talos'   # with the six degrees of freedom of its base
ALL = {**ARGUMENTS, **DERIVATIVES}
STATES = {quantity: 1024 if quantity in DERIVATIVES else 4096 for quantity in ALL}
# Least time(peer) / time(ours) to reach: {(quantity, states, peer): ratio}.
BARS = {**{(quantity, 1, 'pinocchio'): 5.0 for quantity in ALL},
        **{(quantity, STATES[quantity], 'pinocchio'): 20.0
           for quantity in ('inverse_dynamics', 'forward_dynamics')},
        # On one thread, so that a regression of the kernels is seen.
        ('inverse_dynamics_derivatives, out', STATES['inverse_dynamics_derivatives'],
         'pinocchio'): 8.0,
        ('forward_dynamics_derivatives, out', STATES['forward_dynamics_derivatives'],
         'pinocchio'): 6.0,
        # On two threads, against Pinocchio's loop on one: to write the results of the inverse takes
        # more than a twentieth of its time, see docs/compiler.md.
        **{(f'{quantity}, out, {THREADS} threads', STATES[quantity], 'pinocchio'): 20.0
           for quantity in DERIVATIVES},
        ('mass_matrix, out', STATES['mass_matrix'], 'pinocchio'): 10.0}


class FloatingPinocchio(Pinocchio):
    """Pinocchio with a free-flyer: position and quaternion first, then the joints, as ours."""

    def __init__(self, text, joint_names):
        self.model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
        self.data = self.model.createData()
        joints = [self.model.joints[self.model.getJointId(name)] for name in joint_names]
        if any(joint.nq != 1 for joint in joints):
            raise AssertionError('a joint other than the base has several coordinates')
        self.order = np.array([*range(6), *(joint.idx_v for joint in joints)])

    def states(self, q, v, x):
        there = np.empty_like(q)
        there[:, :7] = q[:, :7]
        there[:, self.order[6:] + 1] = q[:, 7:]
        return there, in_order(v, self.order), in_order(x, self.order)


class FloatingRace:
    """The robot in both engines, and the states at which they are compared."""

    def __init__(self):
        text = urdf(ROBOT)
        self.ours = Ours(text, 'floating', ALL)
        self.threaded = Ours(text, 'floating', DERIVATIVES, THREADS)
        robot = self.ours.robot
        self.peer = FloatingPinocchio(text, [joint.name for joint in robot.model.joints[1:]])
        rng, n = np.random.default_rng(1), max(STATES.values())
        q = np.concatenate([rng.normal(size=(n, 7)), rng.uniform(-3.0, 3.0, (n, robot.nq - 7))], 1)
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        self.batch = q, *rng.normal(size=(2, n, robot.nv))
        self.peer_batch = self.peer.states(*self.batch)

    def check(self):
        """Raise if the engines disagree."""
        order = np.ix_(self.peer.order, self.peer.order)
        for quantity, arguments in ALL.items():
            count = len(arguments.split(', '))
            ours = getattr(self.ours.robot, quantity)(*(part[:SINGLES]
                                                        for part in self.batch[:count]))
            for k, state in enumerate(zip(*(part[:SINGLES] for part in self.peer_batch))):
                for part, there in zip(ours if isinstance(ours, tuple) else [ours],
                                       self._theirs(quantity, state[:count])):
                    there = there[self.peer.order] if there.ndim == 1 else there[order]
                    error = np.abs(part[k] - there).max() / np.abs(there).max()
                    if not error <= AGREEMENT:
                        raise AssertionError(f'{NAME}, {quantity}: we and Pinocchio differ by '
                                             f'{error:.1e}')

    def _theirs(self, quantity, state):
        """Return its results as a list; of symmetric matrices both triangles."""
        if quantity in DERIVATIVES:
            return self.peer.derivatives(quantity, *state)
        call = {'inverse_dynamics': pin.rnea, 'forward_dynamics': pin.aba,
                'mass_matrix': pin.crba}[quantity]
        found = np.array(call(self.peer.model, self.peer.data, *state))
        return [np.triu(found) + np.triu(found, 1).T if found.ndim == 2 else found]

    def one_by_one(self, quantity, turns, tick):
        """Return the Ratio of single states."""
        arguments = ALL[quantity]
        runs = {'ours': over_states(self.ours.call(quantity), arguments,
                                    states_of(arguments, self.batch)),
                'pinocchio': over_states(self.peer.call(quantity), arguments,
                                         states_of(arguments, self.peer_batch))}
        return all_ratios_of(NAME, quantity, 1, take_turns(runs, turns, tick),
                             dict.fromkeys(runs, SINGLES), BARS)

    def in_batches(self, quantity, turns, tick):
        """Return the Ratios of a batch: ours in one call, theirs in a loop."""
        n, nv = STATES[quantity], self.ours.robot.nv
        ours, theirs = ([np.ascontiguousarray(part[:n]) for part in batch]
                        for batch in (self.batch, self.peer_batch))
        call = self.peer.call(quantity)
        runs = batches_of(self.ours, quantity, ours,
                          self.threaded if quantity in DERIVATIVES else None)
        counts = {**dict.fromkeys(runs, PASSES * n), 'pinocchio': n}
        if quantity in DERIVATIVES:
            runs['pinocchio'] = loop('q, v, x in zip(Q, V, X)', call.expression,
                                     **dict(zip('QVX', theirs)), **call.names)
        else:
            shape = (n, nv, nv) if quantity == 'mass_matrix' else (n, nv)
            runs['pinocchio'] = over_rows(call, ALL[quantity], theirs, np.empty(shape))
        return all_ratios_of(NAME, quantity, n, take_turns(runs, turns, tick), counts, BARS)


if __name__ == '__main__':
    import table
    race = FloatingRace()
    race.check()
    rows = [row for quantity in ALL for row in (
        *race.one_by_one(quantity, 60, lambda _: None),
        *race.in_batches(quantity, 12, lambda _: None))]
    print('\n'.join(table.ratios(rows, states) for states in (1, *sorted(set(STATES.values())))))
    print(table.verdict(rows))
