"""Judge an identification: the torque error on held-out samples, and whether it may be used.

An identification must not be used if the data determine nothing; if its torque error on samples
that were not fitted stays large, or is greater than before, over all joints or of a joint whose
torque is small beside that of the others; if the mass of a link changes much though the data do
not determine it; or if parts of the recording are not predicted better than before, see
cross_validation.py.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.identification.cross_validation import SIGNIFICANT, CrossValidation
from dynamics_node.identification.noise import rms
from dynamics_node.identification.parameters import ParameterLayout
from dynamics_node.identification.uncertainty import Spread
from dynamics_node.identification.validation import Residuals

LARGE = 0.3           # of the torque of all joints: a greater error explains too little
POOR = 0.5            # of the torque of one joint: greater errors are named
ACCURATE = 0.01       # of the torque: where the error before is less, nothing is left to gain
GROWN = 1.01          # times the error before, over all joints: greater is worse
GROWN_JOINT = 1.05    # of one joint
MASS_FACTOR = 3.0     # greater changes of a mass must be determined by the data
LIGHT = 0.01          # of the mass of the robot: smaller changes of a link do not count


class Verdict(NamedTuple):
    """The torque error on held-out samples; the text is the headline of a report."""

    rows: tuple[str, ...]       # joints; with loops the independent ones
    error: np.ndarray           # (rows,) RMS of measured minus predicted torque [N m or N]
    torque: np.ndarray          # (rows,) RMS of the measured torque [N m or N]
    reasons: tuple[str, ...]    # not to use the parameters; none if they may be used

    @property
    def success(self) -> bool:
        """Whether the parameters may be used."""
        return not self.reasons

    @property
    def shares(self) -> np.ndarray:
        """(rows,) error / torque; nan for a joint without a torque."""
        return _ratio(self.error, self.torque)

    @property
    def total_error(self) -> float:
        """RMS of the error over all joints [N m or N]."""
        return rms(self.error)

    @property
    def total_share(self) -> float:
        """RMS of the error over that of the torque, of all joints."""
        return total_share(self.error, self.torque)

    def __str__(self) -> str:
        """Return the errors, over all joints and of each."""
        each = ', '.join(f'{name} {error:.3g} ({share:.1%})' for name, error, share in zip(
            self.rows, self.error, self.shares))
        return (f'torque error on held-out samples: {self.total_error:.3g} N m or N, '
                f'{self.total_share:.1%} of the torque; {each}')


def judge(rows: tuple[str, ...], residuals: Residuals, layout: ParameterLayout,
          before: np.ndarray, values: np.ndarray, spread: Spread,
          crossed: CrossValidation) -> Verdict:
    """Return the Verdict about parameters `values`, which were `before`, (size,) each."""
    error, torque = residuals.validation_after, residuals.validation_torque
    return Verdict(rows, error, torque, (*_undetermined_reasons(spread),
                                         *_error_reasons(rows, residuals, layout),
                                         *_part_reasons(crossed, residuals),
                                         *_mass_reasons(layout, before, values, spread)))


def total_share(error: np.ndarray, torque: np.ndarray) -> float:
    """Return the RMS of errors over that of torques."""
    return float(_ratio(np.array([rms(error)]), np.array([rms(torque)]))[0])


def _undetermined_reasons(spread: Spread) -> Iterator[str]:
    if not spread.determined.any():
        yield ('the data determine no parameter, and all stay as before: fits to some parts of the '
               'recording do not predict its other parts. Record a longer and more varied motion')


def _error_reasons(rows: Sequence[str], residuals: Residuals, layout: ParameterLayout
                   ) -> Iterator[str]:
    error, torque = residuals.validation_after, residuals.validation_torque
    share, shares = total_share(error, torque), _ratio(error, torque)
    if share > LARGE:
        poor = ', '.join(f'{name} {of:.0%}' for name, of in zip(rows, shares) if of > POOR)
        yield (f'on held-out samples the torque error is {share:.0%} of the torque'
               + (f', most at {poor}' if poor else '')
               + ': the model does not explain the recording. Check units, names and zeros of '
               'joints, loads that the URDF lacks, and the cutoff of the filter')
    if residuals.gain * GROWN < 1.0:
        yield (f'on held-out samples the torque error is {1.0 / residuals.gain:.3g} times that of '
               'the parameters before')
    before = residuals.validation_before
    # of a joint whose torque is small beside that of the others
    why = ('the recording or the model of this joint is wrong. Check its unit, name and zero')
    if layout.motors:
        motors = ', '.join(motor.name for motor in layout.motors)
        why = (f'the model of the node has no friction of coupled motors ({motors}), only what '
               'they do to each joint while the others rest; `predict` has it')
    worse = (shares > POOR) & (error > GROWN_JOINT * before)
    for k in np.flatnonzero(worse):
        yield (f'on held-out samples the torque error of {rows[k]} is {shares[k]:.0%} of its '
               f'torque, and was {before[k] / torque[k]:.0%} before: {why}')


def _part_reasons(crossed: CrossValidation, residuals: Residuals) -> Iterator[str]:
    known = total_share(residuals.validation_before, residuals.validation_torque) <= ACCURATE
    if not crossed.reliable and not known:
        yield ('fits to some parts of the recording do not predict its other parts significantly '
               f'better than the parameters before (t = {crossed.significance:.2g}; expected more '
               f'than {SIGNIFICANT}). Record a longer and more varied motion')


def _mass_reasons(layout: ParameterLayout, before: np.ndarray, values: np.ndarray, spread: Spread
                  ) -> Iterator[str]:
    mass = np.arange(0, layout.inertial, 10)
    old, new = before[mass], values[mass]
    much = ((new > MASS_FACTOR * old) | (old > MASS_FACTOR * new)) & ~spread.determined[mass] & (
        np.abs(new - old) > LIGHT * old.sum())
    for name, was, now, sigma in zip(np.array(layout.bodies)[much], old[much], new[much],
                                     spread.sigma[mass][much]):
        yield (f'the mass of {name} changes from {was:.3g} to {now:.3g} kg, with a standard '
               f'deviation of {sigma:.2g} kg, though the data do not determine it: torques may be '
               'in another unit; otherwise record one that determines it, or raise prior_weight')


def _ratio(error: np.ndarray, torque: np.ndarray) -> np.ndarray:
    return np.divide(error, torque, out=np.full(np.shape(error), np.nan), where=torque > 0.0)
