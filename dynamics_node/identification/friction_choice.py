"""Choose the law of friction of each joint from the data, by cross-validation over blocks of time.

The recording is divided into BLOCKS. Each law is fitted to all blocks but one and judged by its
error on that one. A further term, or another friction_speed, is taken only if the squared error
becomes less by LEAST_GAIN at least, and by SIGNIFICANT standard errors over the blocks: one that
the data lack would fit noise. In the same way a law of the robot that has further terms is kept.

All laws of a joint share the columns of links, rotor and damping, so each block is reduced to one
triangular factor with the columns of all laws, and a law is a selection of them.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError, shown
from dynamics_node.identification.coupled_motors import motor_columns
from dynamics_node.identification.decimation import decimate, segments
from dynamics_node.identification.friction_law import (
    FrictionLaw,
    smoothed_sign,
    stribeck_column,
)
from dynamics_node.identification.identifiable_parameters import BaseParameters
from dynamics_node.identification.parameters import payload_parameters
from dynamics_node.identification.r_factor import r_factor
from dynamics_node.identification.recording import Recording
from dynamics_node.robot.robot import Robot

AUTO, PLAIN = 'auto', 'plain'
TERMS = ('stribeck', 'asymmetric', 'load')
HEAD = 'viscous and Coulomb friction'
SPEEDS = (0.003, 0.006, 0.0125, 0.025, 0.05, 0.1, 0.2)   # friction_speed, of the joint's RMS speed
STRIBECK_SPEEDS = (0.05, 0.1, 0.2, 0.4, 0.8)             # stribeck_speed, of the joint's RMS speed
STEPS = (1.41, 1.19, 1.09, 1.04, 1.02)   # factors of neighbouring speeds, tried one after the other
WIDER = 2.0           # times the friction_speed: the least stribeck_speed
BLOCKS = 10
SAMPLES = 20_000      # of a block, at most: from its middle
LEAST_GAIN = 0.05     # of the squared error
WORTH = 0.5           # of LEAST_GAIN: with less, no speeds in between are tried
SIGNIFICANT = 3.0     # standard errors over the blocks
STRIBECK = 1          # its place among the columns of a law
RIDGE = 1e-2          # of the size of a column: keeps parameters that a fold does not determine
FINER = 4             # factors of decimation are less: friction changes within a few samples
ROUNDING = 1e-6       # of a torque: smaller errors do not count


class FrictionChoice(NamedTuple):
    """The chosen law of each joint, and what it gained over the law of the robot."""

    laws: tuple[FrictionLaw, ...]
    before: np.ndarray    # (nv,) cross-validated RMS torque error of the law of the robot [N m, N]
    after: np.ndarray     # (nv,) of the chosen law

    def text(self, joints: Sequence[str]) -> str:
        """Return the laws, with their gains where they are not those of the robot."""
        parts = [f'{joint}: {law} (error on unseen blocks {old:.3g} -> {new:.3g})'
                 for joint, law, old, new in zip(joints, self.laws, self.before, self.after)
                 if new < old]
        if len(parts) < len(joints):
            parts.append(f'{"other" if parts else "all"} joints: as before, since no other law '
                         'explains unseen torques significantly better')
        return f'{HEAD}; {"; ".join(parts)}'


def friction_terms(friction: str) -> tuple[str, ...]:
    """Return the terms of an option such as 'auto', 'plain' or 'stribeck,load'.

    :raise DynamicsError: another word.
    """
    words = tuple(word.strip() for word in friction.split(',')) if isinstance(friction, str) else ()
    known = (AUTO, PLAIN, *TERMS)
    if not words or not set(words) <= set(known) or (PLAIN in words and len(words) > 1):
        raise DynamicsError(
            f'friction is {shown(friction)}; expected {AUTO}, {PLAIN}, or some of '
            f'{", ".join((AUTO, *TERMS))}, with commas between them')
    return words


def choose_friction(robot: Robot, base: BaseParameters, recording: Recording,
                    start: np.ndarray, terms: Sequence[str],
                    stribeck_speed: float | None = None, factor: int = 1) -> FrictionChoice:
    """Return the FrictionChoice of a robot without loops.

    :param base: with the law of friction of the robot.
    :param start: (b,) base parameters, kept where the data determine nothing.
    :param terms: of `friction_terms`, such as ('auto',); those named are taken in any case.
    :param stribeck_speed: of Stribeck friction, which is then taken; None: chosen.
    :param factor: of decimation, see decimation.py.
    """
    blocks = [(block, robot.regressor(block.q, block.v, block.a)) for block in _blocks(recording)]
    laws, before, after = [], [], []
    measured = np.arange(robot.nv)[base.rows]
    for k, own in enumerate(base.layout.laws):
        if k not in measured:   # it keeps its law
            laws.append(own)
            before.append(np.nan)
            after.append(np.nan)
            continue

        def errors_of(laws, k=k):
            keys = list(dict.fromkeys(key for law in laws for key in _keys(law)))
            rows = [_block_rows(robot, base, k, block, Y, start, keys, max(1, factor // FINER))
                    for block, Y in blocks]
            return _law_errors([part for part in rows if len(part)], keys, laws)

        each = candidates(own, _rms(recording.v[:, k]), terms, stribeck_speed)
        if tuple(terms) == (AUTO,) and any(motor.ratios[k] for motor in base.layout.motors):
            each = [own._replace(                                  # its friction is also a motor's
                stribeck_speed=stribeck_speed or own.stribeck_speed)]
        free = own in each
        each, errors = _searched([*([] if free else [own]), *each], errors_of, stribeck_speed, free)
        least = (ROUNDING * _rms(recording.tau[:, k])) ** 2
        best = _chosen(each, np.maximum(errors, least), free)
        laws.append(each[best])
        before.append(np.sqrt(errors[0].mean()))
        after.append(np.sqrt(errors[best].mean()))
    return FrictionChoice(tuple(laws), np.array(before), np.array(after))


def candidates(own: FrictionLaw, speed: float, terms: Sequence[str],
               stribeck_speed: float | None = None) -> list[FrictionLaw]:
    """Return the laws of a joint that the terms permit; if that of the robot is one, the first.

    :param own: law of the robot.
    :param speed: RMS speed of the joint.
    """
    grid = [own.friction_speed, *(float(f'{share * speed:.2g}') for share in SPEEDS)]
    stribeck: list[float | None] = [stribeck_speed]
    if stribeck_speed is None and {'stribeck', AUTO} & set(terms):
        stribeck = [float(f'{share * speed:.2g}') for share in STRIBECK_SPEEDS]
        stribeck += [] if 'stribeck' in terms else [None]
        stribeck += [] if own.stribeck_speed in stribeck + [None] else [own.stribeck_speed]
    asymmetric = [True] if 'asymmetric' in terms else [False, True] if AUTO in terms else [False]
    laws = [FrictionLaw(*each) for each in product(grid, stribeck, asymmetric)
            if each[1] is None or each[1] == stribeck_speed or each[1] >= WIDER * each[0]
            or each == own]
    return sorted(laws, key=lambda law: law != own)


# Choice -------------------------------------------------------------------------------------------

def _searched(laws, errors_of, stribeck_speed, free):
    """Return (laws, errors) with those of speeds between the candidates, near the best ones.

    :param stribeck_speed: if it is given, it is kept.
    :param free: whether the first law, that of the robot, may be chosen.
    """
    errors = errors_of(laws)
    for step in STEPS:
        means = errors.mean(axis=1)
        best = [min(each, key=means.__getitem__) for each in _families(laws, free).values()
                if each != [0]]
        near = [law for k in best if means[k] < (1.0 - WORTH * LEAST_GAIN) * means[0]
                for law in _neighbours(laws[k], step, stribeck_speed is None) if law not in laws]
        if near:
            laws, errors = [*laws, *near], np.vstack([errors, errors_of(near)])
    return laws, errors


def _neighbours(law, step, move_stribeck):
    """Return laws with somewhat smaller and greater speeds."""
    factors = 1.0 / step, 1.0, step
    of_stribeck = factors if law.stribeck_speed is not None and move_stribeck else (1.0,)
    return [law._replace(
        friction_speed=float(f'{x * law.friction_speed:.3g}'),
        stribeck_speed=law.stribeck_speed and float(f'{y * law.stribeck_speed:.3g}'))
        for x, y in product(factors, of_stribeck)]


def _families(laws, free=True):
    """Return {(with Stribeck friction, asymmetric): indices of laws}.

    :param free: whether the first law is one of them.
    """
    families: dict[tuple[bool, bool], list[int]] = {}
    for k, law in enumerate(laws):
        if k or free:
            families.setdefault((law.stribeck_speed is not None, law.asymmetric), []).append(k)
    return families


def _chosen(laws, errors, free):
    """Return the index of the law: a change of terms must pay.

    Terms are compared at their best speeds, first those of the robot. Then the law of the robot, or
    at least its friction_speed, is kept where the best one is not significantly better.

    :param free: whether the first law, that of the robot, may be chosen.
    """
    means, families = errors.mean(axis=1), _families(laws, free)
    best = {family: min(each, key=means.__getitem__) for family, each in families.items()}
    first, *others = sorted(best, key=lambda family: (0 not in families[family], sum(family)))
    for other in others:
        if _better(errors, best[other], best[first]):
            first = other
    of_robot = [k for k in families[first] if laws[k].friction_speed == laws[0].friction_speed]
    own = 0 if 0 in of_robot else min(of_robot, key=means.__getitem__, default=best[first])
    return best[first] if _better(errors, best[first], own) else own


def _better(errors, new, old):
    """Return whether the error of a law is less, by more than chance."""
    less = errors[old] - errors[new]
    return bool(less.mean() > LEAST_GAIN * errors[old].mean()
                and less.mean() > SIGNIFICANT * less.std(ddof=1) / np.sqrt(len(less)))


# Rows ---------------------------------------------------------------------------------------------

def _blocks(recording):
    """Yield the middle of each block of time."""
    for index in np.array_split(np.arange(len(recording.time)), BLOCKS):
        first = max(0, len(index) - SAMPLES) // 2
        yield recording.rows(index[first:first + SAMPLES])


def _keys(law):
    """Return the columns of a law beside links, rotor and damping: (kind, speeds).

    That of Stribeck friction is at STRIBECK.
    """
    keys = [('coulomb', law.friction_speed)]
    if law.stribeck_speed is not None:
        keys.append(('stribeck', law.friction_speed, law.stribeck_speed))
    if law.asymmetric:
        return [*keys, ('coulomb_asymmetry', law.friction_speed),
                ('viscous_asymmetry', law.friction_speed)]
    return [*keys, ('offset',)]


def _column(key, v):
    kind, *speeds = key
    if kind == 'offset':
        return np.ones_like(v)
    sign = smoothed_sign(speeds[0], v)
    if kind == 'stribeck':
        return stribeck_column(sign, v, speeds[1])
    return {'coulomb': sign, 'coulomb_asymmetry': sign * sign, 'viscous_asymmetry': v * sign}[kind]


def _block_rows(robot, base, k, block, Y, start, keys, factor):
    """Return the rows of joint k: [links, rotor, damping, motors, friction of all laws, tau].

    The torque is that beyond the start values, so that RIDGE keeps these.
    """
    layout, v, a = base.layout, block.v, block.a
    own = base.depends[_row_of(base, k)]
    depends = base.kept[own]
    links = depends[depends < layout.inertial]
    coupled = depends[depends >= layout.of_motors.start] - layout.of_motors.start
    known = payload_parameters(robot, layout)[:layout.inertial]
    known[links] += start[own][:len(links)]
    rows = np.column_stack([
        Y[:, k, links], a[:, k], v[:, k],
        motor_columns(layout.motors, layout.friction_speed, v, a)[:, k, coupled],
        *(_column(key, v[:, k]) for key in keys), block.tau[:, k] - Y[:, k] @ known])
    return rows if factor == 1 else np.concatenate(
        [decimate(rows[part], factor) for part in segments(block.time)])


def _row_of(base, k):
    """Return the row of `base` that is the torque of joint k."""
    return k if base.measured is None else int(np.searchsorted(base.measured, k))


# Errors -------------------------------------------------------------------------------------------

def _law_errors(rows, keys, laws):
    """Return the mean squared error of each law on each block that was left out, (laws, blocks)."""
    factors = [r_factor(block) for block in rows]
    errors = np.empty((len(laws), len(rows)))
    for b, left_out in enumerate(factors):
        others = np.vstack([each for j, each in enumerate(factors) if j != b])
        errors[:, b] = _fold_errors(others, left_out, keys, laws) / len(rows[b])
    return errors


def _fold_errors(others, left_out, keys, laws):
    """Return the squared errors on one block of all laws fitted to the others, (laws,)."""
    size = np.linalg.norm(others[:, :-1], axis=0)
    ridge = np.diag(RIDGE * np.where(size > 0.0, size, 1.0))
    R = r_factor(np.vstack([others, np.column_stack([ridge, np.zeros(len(ridge))])]))
    fixed = len(size) - len(keys)
    friction = R[fixed:, fixed:]                       # the shared columns are eliminated
    inverse = np.linalg.inv(R[:fixed, :fixed])
    unseen = left_out[:, fixed:] - left_out[:, :fixed] @ (inverse @ R[:fixed, fixed:])
    squares = friction.T @ friction, unseen.T @ unseen
    places = {key: k for k, key in enumerate(keys)}
    errors = np.empty(len(laws))
    for (stribeck, _), each in _families(laws).items():
        at = np.array([[places[key] for key in _keys(laws[k])] for k in each])
        x, errors[each] = _solved(*squares, at)
        if stribeck:   # a negative one is none
            none = x[:, STRIBECK] < 0.0
            errors[np.array(each)[none]] = _solved(*squares, np.delete(at[none], STRIBECK, 1))[1]
    return errors


def _solved(fitted, unseen, at):
    """Return (values (n, p), squared errors (n,)) of fits with the columns `at`, (n, p).

    :param fitted, unseen: products of all columns and the torque, (m, m).
    """
    pairs = at[:, :, None], at[:, None, :]
    x = np.linalg.solve(fitted[pairs], fitted[at, -1][..., None])[..., 0]
    quadratic = np.einsum('ni,nij,nj->n', x, unseen[pairs], x)
    return x, np.maximum(unseen[-1, -1] - 2.0 * np.sum(x * unseen[at, -1], axis=1) + quadratic, 0.0)


def _rms(x):
    return float(np.sqrt(np.mean(np.square(x))))
