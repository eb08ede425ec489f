"""Compare two engines: the error measure, and the states."""

import numpy as np

from dynamics_node import Robot

STATES = 2        # per robot: there are many robots, and a term that is wrong is so in each state
FORCED = 3        # frames per robot that an external wrench acts on
FINEST = 1e-3     # share of the largest entry below which an entry is not compared more finely


def relative_error(ours, theirs):
    """Return the largest deviation of an entry, relative to the oracle's value of that entry.

    An entry's scale is its largest value over the states (axis 0), so a wrist that carries 0.1 N m
    is not hidden behind a hip that carries 100; but at least FINEST of the largest entry of all,
    for entries that are zero in theory and rounding in practice.
    """
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    size = np.abs(theirs)
    scale = np.maximum(size.max(axis=0), FINEST * size.max())
    deviation = np.abs(ours - theirs)
    return np.divide(deviation, scale, out=np.where(deviation > 0.0, np.inf, 0.0),
                     where=np.broadcast_to(scale > 0.0, deviation.shape)).max()


def agree(ours, theirs, tolerance):
    """Assert that two arrays agree."""
    error = relative_error(ours, theirs)
    assert error <= tolerance, f'relative error {error:.2e}'


class Case:
    """A robot, its oracle, and the states for both."""

    def __init__(self, example, oracle, seed):
        self.example = example
        self.robot = self.loaded(friction=False)
        self.oracle = oracle(example, self.robot.joint_names)
        self.states = States(self.robot, example.base == 'floating', seed)
        self.links = example.link_names()
        # Links spread over the robot, the last of the text among them.
        self.forced = self.links[::-max(1, len(self.links) // FORCED)][:FORCED]

    def loaded(self, **settings):
        """Return the robot, loaded with other settings."""
        return Robot.from_urdf(self.example.urdf, base=self.example.base, **settings)


class States:
    """Random states of a robot, one per row: q, v, a, tau, and the wrenches on FORCED frames."""

    def __init__(self, robot, floating, seed):
        rng = np.random.default_rng(seed)
        self.q = rng.uniform(-2.0, 2.0, (STATES, robot.nq))
        if floating:
            self.q[:, 3:7] = rng.normal(size=(STATES, 4))
            self.q[:, 3:7] /= np.linalg.norm(self.q[:, 3:7], axis=1, keepdims=True)
        self.v, self.a, self.tau = rng.normal(size=(3, STATES, robot.nv))
        self.tau *= 10.0
        self.wrenches = 10.0 * rng.normal(size=(STATES, FORCED, 6))


def at_frames(results):
    """Stack our results for several frames as an oracle does: state, frame, ..."""
    return np.stack(results, axis=1)


def each_state(method):
    """Turn a function of one state into one of a batch: a row per state, copied."""
    def ask(self, *states, **settings):
        return np.array([np.array(method(self, *row, **settings)) for row in zip(*states)])
    ask.__doc__ = method.__doc__
    return ask
