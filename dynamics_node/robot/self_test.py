"""Test that the results for a robot obey the laws of dynamics, at random states.

Results of the same robot that must agree are compared; no other library is needed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.algorithms.mass_matrix import SINGULAR
from dynamics_node.checks import whole
from dynamics_node.errors import DynamicsError, SingularModel, several
from dynamics_node.kernels.keys import KernelKey, all_keys
from dynamics_node.kernels.robot_kernels import RobotKernels
from dynamics_node.kernels.table import ALL_KERNELS
from dynamics_node.model.model import Model
from dynamics_node.robot.robot import Robot

MOST_SAMPLES = 1000
SPEED = 2.0          # largest velocity tried [rad/s or m/s], less where the limit is lower
ACCELERATION = 5.0   # largest acceleration tried [rad/s^2 or m/s^2]
NOT_YET = 'no kernel is ready; robot.compile(wait=True) makes them'

# Tolerances. Errors of torques are relative to |tau| + ACCELERATION * (largest inertia about the
# joint), so that cancellation in a light wrist is not an error.
EXACT = 1e-11        # the same sums in another order; 35 real robots are below 1e-13
STEP = np.finfo(float).eps ** (1 / 3)  # of central differences [s]
RATE = 1e-6          # of central differences: STEP^2 and rounding; 1e-10 in practice
FEW = 3              # states at which derivatives are checked: each has many numbers
ROUNDED = 1e-2       # [1/s] RATE * ROUNDED * energy is allowed for rounding: 270 eps / STEP
# Kernels and NumPy, relative to the largest number of a result, at least 1.
KERNEL = 1e-11       # the same formulas on regrouped inertias
SOLVED = np.finfo(float).eps / SINGULAR  # rounding times the largest condition that is accepted


class Check(NamedTuple):
    """The check of one law. A law that does not apply has passed; its residual is nan."""

    name: str
    residual: float   # relative; inf where there is no result
    tolerance: float
    passed: bool
    text: str         # what was compared, the error, or why the law does not apply


class SelfTest(NamedTuple):
    """The verdict and its reasons; str(self_test) is a table."""

    passed: bool
    checks: tuple[Check, ...]

    def __str__(self) -> str:
        failed = [check.name for check in self.checks if not check.passed]
        width = max(len(check.name) for check in self.checks)
        return '\n'.join([
            f'self-test FAILED: {", ".join(failed)}' if failed else 'self-test passed',
            f'  {"check":{width}}  {"residual":>8}  {"allowed":>8}',
            *(_line(check, width) for check in self.checks)])


def self_test(robot: Robot, samples: int = 10, seed: int = 0) -> SelfTest:
    """Return the SelfTest of a Robot, with the kernels that are ready.

    :param samples: number of random states within the limits, 1 to 1000.
    :param seed: seed of the random states, an integer that is not negative.
    :raise DynamicsError: an argument has the wrong type or range. A failed check is part of the
        result.
    """
    if not isinstance(robot, Robot):
        raise DynamicsError(f'robot is a {type(robot).__name__}; expected a Robot')
    samples = whole('samples', samples, 1, MOST_SAMPLES)
    states = _states(robot, samples, whole('seed', seed))
    checks = tuple(_checked(name, law, robot, states) for name, law in CHECKS.items())
    return SelfTest(all(check.passed for check in checks), checks)


class _State(NamedTuple):
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


class _Found(NamedTuple):
    """What a law's function returns."""

    residual: float
    tolerance: float
    text: str


class _NotApplicable(Exception):
    """The law does not apply to this robot; the message gives the reason."""


def _checked(name: str, law: Callable[..., _Found], robot: Robot, states: Sequence[_State]
             ) -> Check:
    try:
        if robot.nv == 0:
            raise _NotApplicable('nothing moves')
        with np.errstate(all='ignore'):  # a result that is not finite fails
            residual, tolerance, text = law(robot, states)
        return Check(name, residual, float(tolerance), residual <= tolerance, text)
    except _NotApplicable as reason:
        return Check(name, np.nan, np.nan, True, f'not applicable: {reason}')
    except Exception as error:  # any error is a failed check, shown in the table
        return Check(name, np.inf, np.nan, False, f'{type(error).__name__}: {error}')


# The laws ------------------------------------------------------------------------------------

def _forward_of_inverse(robot: Robot, states: Sequence[_State]) -> _Found:
    """FD(q, v, ID(q, v, a)) = a: the torque of the difference, M (FD - a), is zero."""
    residuals, refusals = [], []
    for q, v, a in states:
        tau, M = robot.inverse_dynamics(q, v, a), robot.mass_matrix(q)
        scale = _scale(robot, M)
        try:
            error = np.abs(M @ (robot.forward_dynamics(q, v, tau) - a))
            residuals.append(_relative(error, np.abs(tau) + ACCELERATION * scale))
        except SingularModel as refusal:
            _check_refusal(refusal, robot, M)
            refusals.append(str(refusal))
    if not residuals:
        raise _NotApplicable(refusals[0])
    text = several(len(residuals), 'state')
    if refusals:
        text += f'; not defined at {len(refusals)} more: {refusals[0]}'
    return _Found(_worst(residuals), EXACT, text)


def _power_balance(robot: Robot, states: Sequence[_State]) -> _Found:
    """d/dt (kinetic + potential energy) = (tau - friction - dampers of springs)' v."""
    residuals = []
    for q, v, a in states:
        tau, friction = robot.inverse_dynamics(q, v, a), robot.friction_torque(v)
        if robot.springs:  # at rest the dampers have no torque
            friction = friction + robot.spring_torque(q, v) - robot.spring_torque(q, 0.0 * v)
        before, after = (_energies(robot, robot.integrate(q, v, t), v + t * a)
                         for t in (-STEP, STEP))
        rate = (after - before).sum() / (2.0 * STEP)
        scale = (np.abs(tau) + np.abs(friction)) @ np.abs(v) + ROUNDED * np.abs(after).sum()
        residuals.append(_relative(abs(rate - (tau - friction) @ v), scale))
    return _Found(_worst(residuals), RATE, several(len(states), 'state'))


def _energies(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.array([robot.kinetic_energy(q, v), robot.potential_energy(q)])


def _mass_matrix_against_inverse_dynamics(robot: Robot, states: Sequence[_State]) -> _Found:
    """M e_k = ID(q, 0, e_k) - ID(q, 0, 0); M is symmetric, and no motion has negative inertia."""
    residuals = []
    rest = np.zeros(robot.nv)
    for q, _, _ in states:
        M, static = robot.mass_matrix(q), robot.inverse_dynamics(q, rest, rest)
        columns = (robot.inverse_dynamics(q, rest, np.eye(robot.nv)) - static).T
        scale = _scale(robot, M)
        weight = np.sqrt(np.outer(scale, scale))
        residuals.append((_relative(np.abs(M - columns), weight + np.abs(static)[:, None]),
                          _relative(np.abs(M - M.T), weight), -_least_inertia(M, scale)))
    differs, asymmetric, negative = np.max(residuals, axis=0)
    text = several(len(states), 'state')
    if asymmetric > EXACT:
        text += '; M is not symmetric'
    if negative > EXACT:
        text += '; some motion has negative inertia: see the errors of robot.report()'
    return _Found(_worst([differs, asymmetric, negative]), EXACT, text)


def _derivatives_against_differences(robot: Robot, states: Sequence[_State]) -> _Found:
    """Inverse dynamics: central differences. Forward, at tau = ID(q, v, a): M dFD = -dID.

    And M times the derivative by the torque is 1.

    Differences of accelerations would be inaccurate where M is ill-conditioned. M is the derivative
    of ID by the acceleration.
    """
    residuals, refusals = [], []
    for q, v, a in states[:FEW]:
        tau, inverse = robot.inverse_dynamics(q, v, a), robot.inverse_dynamics_derivatives(q, v, a)
        M = inverse.da
        scale = (np.abs(tau) + ACCELERATION * _scale(robot, M))[:, None]
        for derivative, slope in zip(inverse, _inverse_slopes(robot, q, v, a)):
            size = np.abs(derivative).max(axis=1, keepdims=True)
            residuals.append(_relative(np.abs(derivative - slope), scale + size))
        try:
            dq, dv, dtau = robot.forward_dynamics_derivatives(q, v, tau)
        except SingularModel as refusal:
            _check_refusal(refusal, robot, M)
            refusals.append(str(refusal))
            continue
        for forward, torque in ((dq, -inverse.dq), (dv, -inverse.dv), (dtau, np.eye(robot.nv))):
            size = np.abs(M) @ np.abs(forward) + np.abs(torque)
            residuals.append(_relative(np.abs(M @ forward - torque), scale + size))
    text = several(len(states[:FEW]), 'state')
    if refusals:
        text += f'; of forward dynamics not defined at {len(refusals)}: {refusals[0]}'
    return _Found(_worst(residuals), RATE, text)


def _inverse_slopes(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray
                    ) -> Iterator[np.ndarray]:
    """Yield the derivatives of inverse dynamics by q, v, a, by central differences, (nv, nv)."""
    # dry friction is curved within friction_speed: at this step, that error equals the rounding
    short = STEP * min(1.0, np.min(robot.model.friction_speeds)) ** (2 / 3)
    units = np.concatenate([np.eye(robot.nv), -np.eye(robot.nv)])
    for step, moved in ((STEP, (robot.integrate(q, units, STEP), v, a)),
                        (short, (q, v + short * units, a)), (STEP, (q, v, a + STEP * units))):
        ahead, behind = np.split(robot.inverse_dynamics(*moved), 2)
        yield (ahead - behind).T / (2.0 * step)


def _compiled_against_numpy(robot: Robot, states: Sequence[_State]) -> _Found:
    """Compare each kernel that is ready with NumPy, single states and batches."""
    kernels = robot._dispatcher.kernels
    if kernels is None:
        raise _NotApplicable('compilation is switched off')
    keys = all_keys(robot.model)
    readiness = {key.kernel: _readiness(kernels, key) for key in keys}
    ready = [name for name, reason in readiness.items() if not reason]
    if not ready:
        raise _NotApplicable(next(iter(readiness.values())))
    in_numpy = type(robot)(robot.model, compile=False)
    q, v, a = (np.array(part) for part in zip(*states))
    given = np.arange(robot.nv) % 2 == 0
    batch = {'q': q, 'v': v, 'a': a, 'tau': in_numpy.inverse_dynamics(q, v, a), 'given': given}
    found = [_disagreement(robot, in_numpy, name, batch) for name in ready]
    worst = max(found, key=lambda one: one.residual / one.tolerance)
    failures = {reason for reason in readiness.values() if reason not in ('', NOT_YET)}
    counts = f'{several(len(states), "state")}, {len(ready)} of {len(keys)} kernels ready'
    return worst._replace(text='; '.join([counts, f'worst is {worst.text}', *sorted(failures)]))


# Add a law here: f(robot, states) -> _Found. They run in this order while kernels compile, so the
# check of the kernels is last.
CHECKS = {
    'forward of inverse': _forward_of_inverse,
    'power balance': _power_balance,
    'mass matrix against inverse dynamics': _mass_matrix_against_inverse_dynamics,
    'derivatives against differences': _derivatives_against_differences,
    'compiled against NumPy': _compiled_against_numpy,
}


# Helpers -------------------------------------------------------------------------------------

def _states(robot: Robot, samples: int, seed: int) -> list[_State]:
    rng = np.random.default_rng(seed)
    speed = _speeds(robot.model)
    return [_State(robot.random_configuration(rng), speed * rng.uniform(-1.0, 1.0, robot.nv),
                   ACCELERATION * rng.uniform(-1.0, 1.0, robot.nv)) for _ in range(samples)]


def _speeds(model: Model) -> np.ndarray:
    """Return the largest velocities to try, (nv,)."""
    return np.fmin(SPEED, model.max_velocity)  # fmin ignores nan, an unknown limit


def _scale(robot: Robot, M: np.ndarray) -> np.ndarray:
    """Return the largest inertia that each degree of freedom can move, (nv,)."""
    return np.abs(robot.model.inertia_scale) + np.abs(np.diag(M))


def _least_inertia(M: np.ndarray, scale: np.ndarray) -> float:
    """Return the least eigenvalue of M, scaled by the largest inertias of _scale."""
    weight = np.sqrt(np.where(scale > 0.0, scale, 1.0))
    return np.linalg.eigvalsh(M / np.outer(weight, weight)).min()


def _check_refusal(refusal: SingularModel, robot: Robot, M: np.ndarray) -> None:
    """Raise an error if M is regular: the refusal was wrong then."""
    if _least_inertia(M, _scale(robot, M)) > 10.0 * SINGULAR:
        raise DynamicsError(f'refused, though M is regular: {refusal}') from refusal


def _relative(error: np.ndarray | float, scale: np.ndarray | float) -> float:
    """Return the largest error relative to its scale."""
    return _worst(np.where(error == 0.0, 0.0, error / scale))


def _worst(residuals: ArrayLike) -> float:
    """Return the largest residual; NaN counts as infinite."""
    worst = float(np.max(residuals))
    return np.inf if np.isnan(worst) else worst


def _readiness(kernels: RobotKernels, key: KernelKey) -> str:
    """Return '' for a kernel that is ready, else why it is not."""
    error = kernels.failure(key)
    if error is not None:  # the NumPy path is used
        return f'{key.kernel} has no kernel: {error}'
    return '' if kernels.is_ready(key) else NOT_YET


def _disagreement(robot: Robot, in_numpy: Robot, kernel: str, batch: Mapping[str, np.ndarray]
                  ) -> _Found:
    """Return the _Found of one kernel: the batch at once, then state by state."""
    spec = ALL_KERNELS[kernel]
    tolerance = SOLVED if spec.margins else KERNEL
    want = _outcome(in_numpy, kernel, [batch[name] for name in spec.inputs])
    distances = [_distance(_outcome(robot, kernel, [batch[name] for name in spec.inputs]), want)]
    if isinstance(want, list):
        for k in range(len(batch['q'])):
            one = [batch[name] if name == 'given' else batch[name][k] for name in spec.inputs]
            distances.append(_distance(_outcome(robot, kernel, one), [part[k] for part in want]))
    return _Found(_worst(distances), tolerance, kernel)


def _outcome(robot: Robot, kernel: str, arguments: Sequence[np.ndarray]
             ) -> list[np.ndarray] | type[DynamicsError]:
    """Return the results as a list, or the type of the error."""
    try:
        result = getattr(robot, kernel)(*arguments)
    except DynamicsError as error:
        return type(error)
    return list(result) if isinstance(result, tuple) else [result]


def _distance(got: list[np.ndarray] | type[DynamicsError],
              want: list[np.ndarray] | type[DynamicsError]) -> float:
    """Return the largest difference relative to the largest number, at least 1."""
    if not (isinstance(got, list) and isinstance(want, list)):
        return 0.0 if got == want else np.inf  # refused, both or one of them
    if list(map(np.shape, got)) != list(map(np.shape, want)):
        return np.inf
    return _worst([np.abs(x - y).max() / max(1.0, np.abs(y).max()) for x, y in zip(got, want)])


def _line(check: Check, width: int) -> str:
    numbers = ('' if np.isnan(number) else f'{number:.1e}'
               for number in (check.residual, check.tolerance))
    verdict = 'FAILED' if not check.passed else 'skipped' if np.isnan(check.residual) else 'passed'
    residual, tolerance = numbers
    return (f'  {check.name:{width}}  {residual:>8}  {tolerance:>8}  {verdict:7}  '
            f'{check.text}').rstrip()
