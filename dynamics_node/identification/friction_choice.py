"""Choose the law of friction of each joint from the data, by cross-validation over blocks of time.

The recording is divided into BLOCKS. Each law is fitted to all blocks but one and judged by its
error on that one. A further term, or another friction_speed, is taken only if it reduces the
squared error by at least LEAST_GAIN, and by SIGNIFICANT standard errors over the blocks; a smaller
gain may be a fit of noise. A law of the robot that has further terms is kept by the same rule.

All laws of a joint share the columns of links, rotor and damping, so each block is reduced to one
triangular factor with the columns of all laws, and a law is a selection of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

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
from dynamics_node.identification.noise import rms
from dynamics_node.identification.parameters import ParameterLayout, payload_parameters
from dynamics_node.identification.r_factor import r_factor
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.sequential_qr import Tick, no_tick
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

Key: TypeAlias = tuple   # of a column: what it is of, and the speeds of its law
# (laws to try for each joint, share of the work done) -> their squared errors (laws, blocks)
ErrorsOf: TypeAlias = Callable[[Mapping[int, Sequence[FrictionLaw]], float], dict[int, np.ndarray]]


class FrictionChoice(NamedTuple):
    """The chosen law of each joint, and what it gained over the law of the robot."""

    laws: tuple[FrictionLaw, ...]
    before: np.ndarray    # (nv,) cross-validated RMS torque error of the law of the robot [N m, N]
    after: np.ndarray     # (nv,) of the chosen law; nan, as before, where no effort is measured
    own: tuple[FrictionLaw, ...]   # of the robot

    def text(self, joints: Sequence[str]) -> str:
        """Return the laws that are not those of the robot, with their gains; then the others."""
        measured = np.isfinite(self.after)
        changed = [k for k, law in enumerate(self.laws) if law != self.own[k]]
        parts = [f'{joints[k]}: {self.laws[k]} (error on unseen blocks {self.before[k]:.3g} -> '
                 f'{self.after[k]:.3g})' for k in changed]
        if len(changed) < measured.sum():
            which = 'all' if measured.all() and not changed else 'other'
            parts.append(f'{which} joints: as before, since no other law explains unseen torques '
                         'significantly better')
        parts += [f'{joints[k]}: as before, not measured' for k in np.flatnonzero(~measured)]
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
                    stribeck_speed: float | None = None, factor: int = 1,
                    tick: Tick = no_tick) -> FrictionChoice:
    """Return the FrictionChoice of a robot without loops.

    :param base: with the law of friction of the robot.
    :param start: (b,) base parameters, kept where the data determine nothing.
    :param terms: result of `friction_terms`, such as ('auto',); those named are taken in any case.
    :param stribeck_speed: speed of Stribeck friction, which is then taken; None: chosen.
    :param factor: factor of decimation, see decimation.py.
    :param tick: called after each block with the share done; may raise to stop.
    """
    layout, measured = base.layout, np.arange(robot.nv)[base.rows].tolist()
    permitted = {k: _permitted(layout, k, rms(recording.v[:, k]), terms, stribeck_speed)
                 for k in measured}
    free = {k: layout.laws[k] in permitted[k] for k in measured}
    searches = {k: ([] if free[k] else [layout.laws[k]]) + permitted[k] for k in measured}

    def errors_of(searches: Mapping[int, Sequence[FrictionLaw]], share: float
                  ) -> dict[int, np.ndarray]:
        return _errors(robot, base, recording, start, searches, max(1, factor // FINER),
                       lambda part: tick(share + part / (1 + len(STEPS))))

    found = _searched(searches, errors_of, stribeck_speed, free)
    laws, before, after = list(layout.laws), *np.full((2, len(layout.laws)), np.nan)
    for k, (each, errors) in found.items():   # other joints keep their law
        least = (ROUNDING * rms(recording.tau[:, k])) ** 2
        best = _chosen(each, np.maximum(errors, least), free[k])
        laws[k] = each[best]
        before[k], after[k] = np.sqrt(errors[[0, best]].mean(axis=1))
    return FrictionChoice(tuple(laws), before, after, layout.laws)


def _permitted(layout: ParameterLayout, k: int, speed: float, terms: Sequence[str],
               stribeck_speed: float | None) -> list[FrictionLaw]:
    """Return the `candidates` of joint k; one if its friction is also that of a coupled motor."""
    own = layout.laws[k]
    if tuple(terms) == (AUTO,) and any(motor.ratios[k] for motor in layout.motors):
        return [own._replace(stribeck_speed=stribeck_speed or own.stribeck_speed)]
    return candidates(own, speed, terms, stribeck_speed)


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

def _searched(searches: Mapping[int, list[FrictionLaw]], errors_of: ErrorsOf,
              stribeck_speed: float | None, free: Mapping[int, bool]
              ) -> dict[int, tuple[list[FrictionLaw], np.ndarray]]:
    """Return {joint: (laws, errors)} with speeds between those of the laws, near the best ones.

    All joints take each step together, so that the regressors of a block are needed once.

    :param searches: {joint: laws}.
    :param errors_of: f({joint: laws}, share of the work done) -> {joint: errors}.
    :param stribeck_speed: if it is given, it is kept.
    :param free: {joint: whether the first law, that of the robot, may be chosen}.
    """
    errors = errors_of(searches, 0.0)
    found = {k: (laws, errors[k]) for k, laws in searches.items()}
    for count, step in enumerate(STEPS, start=1):
        near = {k: _near(*found[k], step, stribeck_speed is None, free[k]) for k in found}
        errors = errors_of({k: laws for k, laws in near.items() if laws},
                           count / (1 + len(STEPS)))
        for k, more in errors.items():
            found[k] = [*found[k][0], *near[k]], np.vstack([found[k][1], more])
    return found


def _near(laws: Sequence[FrictionLaw], errors: np.ndarray, step: float, move_stribeck: bool,
          free: bool) -> list[FrictionLaw]:
    """Return new laws with speeds near those of the best laws."""
    means = errors.mean(axis=1)
    best = [min(each, key=means.__getitem__) for each in _families(laws, free).values()
            if each != [0]]
    return [law for k in best if means[k] < (1.0 - WORTH * LEAST_GAIN) * means[0]
            for law in _neighbours(laws[k], step, move_stribeck) if law not in laws]


def _neighbours(law: FrictionLaw, step: float, move_stribeck: bool) -> list[FrictionLaw]:
    """Return laws with somewhat smaller and greater speeds."""
    factors = 1.0 / step, 1.0, step
    of_stribeck = factors if law.stribeck_speed is not None and move_stribeck else (1.0,)
    return [law._replace(
        friction_speed=float(f'{x * law.friction_speed:.3g}'),
        stribeck_speed=law.stribeck_speed and float(f'{y * law.stribeck_speed:.3g}'))
        for x, y in product(factors, of_stribeck)]


def _families(laws: Sequence[FrictionLaw], free: bool = True) -> dict[tuple[bool, bool], list[int]]:
    """Return {(with Stribeck friction, asymmetric): indices of laws}.

    :param free: whether the first law is one of them.
    """
    families: dict[tuple[bool, bool], list[int]] = {}
    for k, law in enumerate(laws):
        if k or free:
            families.setdefault((law.stribeck_speed is not None, law.asymmetric), []).append(k)
    return families


def _chosen(laws: Sequence[FrictionLaw], errors: np.ndarray, free: bool) -> int:
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


def _better(errors: np.ndarray, new: int, old: int) -> bool:
    """Return whether the error of a law is less, by more than chance."""
    less = errors[old] - errors[new]
    return bool(less.mean() > LEAST_GAIN * errors[old].mean()
                and less.mean() > SIGNIFICANT * less.std(ddof=1) / np.sqrt(len(less)))


# Rows ---------------------------------------------------------------------------------------------

def _blocks(recording: Recording) -> Iterator[Recording]:
    """Yield the middle of each block of time."""
    for index in np.array_split(np.arange(len(recording.time)), BLOCKS):
        first = max(0, len(index) - SAMPLES) // 2
        yield recording.rows(index[first:first + SAMPLES])


def _keys(law: FrictionLaw) -> list[Key]:
    """Return the columns of a law beside links, rotor and damping: (kind, speeds).

    That of Stribeck friction is at STRIBECK.
    """
    keys: list[Key] = [('coulomb', law.friction_speed)]
    if law.stribeck_speed is not None:
        keys.append(('stribeck', law.friction_speed, law.stribeck_speed))
    if law.asymmetric:
        return [*keys, ('coulomb_asymmetry', law.friction_speed),
                ('viscous_asymmetry', law.friction_speed)]
    return [*keys, ('offset',)]


def _column(key: Key, v: np.ndarray) -> np.ndarray:
    kind, *speeds = key
    if kind == 'offset':
        return np.ones_like(v)
    sign = smoothed_sign(speeds[0], v)
    if kind == 'stribeck':
        return stribeck_column(sign, v, speeds[1])
    return {'coulomb': sign, 'coulomb_asymmetry': sign * sign, 'viscous_asymmetry': v * sign}[kind]


def _block_rows(robot: Robot, base: BaseParameters, k: int, block: Recording, Y: np.ndarray,
                start: np.ndarray, keys: Sequence[Key], factor: int) -> np.ndarray:
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


def _row_of(base: BaseParameters, k: int) -> int:
    """Return the row of `base` that is the torque of joint k."""
    return k if base.measured is None else int(np.searchsorted(base.measured, k))


# Errors -------------------------------------------------------------------------------------------

def _errors(robot: Robot, base: BaseParameters, recording: Recording, start: np.ndarray,
            searches: Mapping[int, Sequence[FrictionLaw]], factor: int, tick: Tick
            ) -> dict[int, np.ndarray]:
    """Return {joint: errors} of {joint: laws}, (laws, blocks) each.

    The rows of one block at a time are in memory.
    """
    keys = {k: list(dict.fromkeys(key for law in laws for key in _keys(law)))
            for k, laws in searches.items()}
    factors: dict[int, list[tuple[np.ndarray, int]]] = {k: [] for k in searches}
    for b, block in enumerate(_blocks(recording) if searches else ()):
        Y = robot.regressor(block.q, block.v, block.a)
        for k in searches:
            rows = _block_rows(robot, base, k, block, Y, start, keys[k], factor)
            factors[k] += [(r_factor(rows), len(rows))] if len(rows) else []
        tick((b + 1) / BLOCKS)
    return {k: _law_errors(factors[k], keys[k], laws) for k, laws in searches.items()}


def _law_errors(factors: Sequence[tuple[np.ndarray, int]], keys: Sequence[Key],
                laws: Sequence[FrictionLaw]) -> np.ndarray:
    """Return the mean squared error of each law on each block that was left out, (laws, blocks).

    :param factors: (triangular factor, number of rows) of each block.
    """
    errors = np.empty((len(laws), len(factors)))
    for b, (left_out, count) in enumerate(factors):
        others = np.vstack([R for j, (R, _) in enumerate(factors) if j != b])
        errors[:, b] = _fold_errors(others, left_out, keys, laws) / count
    return errors


def _fold_errors(others: np.ndarray, left_out: np.ndarray, keys: Sequence[Key],
                 laws: Sequence[FrictionLaw]) -> np.ndarray:
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
        if stribeck:   # laws whose Stribeck friction would be negative are fitted without it
            negative = x[:, STRIBECK] < 0.0
            errors[np.array(each)[negative]] = _solved(
                *squares, np.delete(at[negative], STRIBECK, 1))[1]
    return errors


def _solved(fitted: np.ndarray, unseen: np.ndarray, at: np.ndarray
            ) -> tuple[np.ndarray, np.ndarray]:
    """Return (values (n, p), squared errors (n,)) of fits with the columns `at`, (n, p).

    :param fitted, unseen: products of all columns and the torque, (m, m).
    """
    pairs = at[:, :, None], at[:, None, :]
    x = np.linalg.solve(fitted[pairs], fitted[at, -1][..., None])[..., 0]
    quadratic = np.einsum('ni,nij,nj->n', x, unseen[pairs], x)
    return x, np.maximum(unseen[-1, -1] - 2.0 * np.sum(x * unseen[at, -1], axis=1) + quadratic, 0.0)
