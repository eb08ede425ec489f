r"""Estimate the gain of each drive: true torque over recorded effort, by a known payload.

Torque constants of data sheets are off by some percent, and masses that are identified with them
are off as much. A motion without and one with a known payload fix the scale (Gautier and Briot
2014). With gains g_k = 1 / s_k, the same parameters pi in both motions and the known parameters
pi_L of the payload,

    tau_k = s_k (Y_k pi + Y_k pi_L) + noise,        pi_L = 0 in the first motion

is solved for pi and s by the method of Gauss and Newton, with the prior of consistent_fit.py on pi.
Standard deviations of gains are those of pi and s together: without a payload a factor common to
torques and masses is known no better than the masses of the URDF, and the gains are refused.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.consistent_fit import Prior, parameter_prior
from dynamics_node.identification.identifiable_parameters import BaseParameters, base_parameters
from dynamics_node.identification.linear_fit import linear_fit
from dynamics_node.identification.loop_equations import has_loops
from dynamics_node.identification.parameters import (
    parameter_layout,
    parameter_values,
    payload_parameters,
)
from dynamics_node.identification.r_factor import r_factor
from dynamics_node.identification.recording import RawRecording, Recording
from dynamics_node.identification.recording_fit import prepare_without_delay
from dynamics_node.identification.robot_fit import MASSES
from dynamics_node.identification.sequential_qr import merged_factors
from dynamics_node.robot.robot import Robot

TOLD = 0.1         # of a gain: with a greater standard deviation nothing fixes it
ROUNDS = 2         # the first has greater residuals, since gains contradict each other
STEPS = 50         # of Gauss and Newton, at most
SETTLED = 1e-9     # change of a gain that ends them
LONGEST = 0.3      # relative change of a gain in one step


class DriveGains(NamedTuple):
    """The true torque of each drive over its recorded effort."""

    names: tuple[str, ...]
    values: np.ndarray      # (n,)
    sigma: np.ndarray       # (n,) standard deviations
    warnings: tuple[str, ...]

    @property
    def scales(self) -> dict[str, float]:
        """{joint: gain}, as `effort_scale` of `joint_side`."""
        return dict(zip(self.names, self.values.tolist()))

    @property
    def text(self) -> str:
        """The gains with their standard deviations, with commas between them."""
        return ', '.join(
            f'{name} {value:.3f} +- {sigma:.2g}'
            for name, value, sigma in zip(self.names, self.values, self.sigma))

    def __str__(self) -> str:
        """Return the gains with a heading."""
        return f'gains of the drives: {self.text}'


def estimate_gains(robot: Robot, raw: RawRecording, loaded_robot: Robot, loaded: RawRecording,
                   cutoff: float | None = None) -> DriveGains:
    """Return the DriveGains from a motion without and one with a known payload.

    :param robot: as in the first motion; its gains are within a factor of three of 1.
    :param loaded_robot: the same robot with the payload: `robot.with_payload(...)`.
    :param cutoff: cutoff of the filter on positions [Hz]; None: from the spectrum of each motion.
    :raise DynamicsError: nothing fixes the scale of a gain, or the second motion lacks the effort
        of a joint.
    """
    motions = [prepare_without_delay(robot, raw, cutoff)[0],
               prepare_without_delay(loaded_robot, loaded, cutoff)[0]]
    if has_loops(robot):
        raise DynamicsError('gains of a robot with loops are not estimated; expected a robot '
                            'without loops')
    layout = parameter_layout(robot)
    load = payload_parameters(loaded_robot, layout) - payload_parameters(robot, layout)
    if not load.any():
        raise DynamicsError('loaded_robot has the payloads of robot: nothing fixes the scale of '
                            'torques. Expected robot.with_payload(...) of a known mass')
    measured = _measured(*(motion.recording for motion in motions))
    base, known = base_parameters(robot, layout, measured=measured), parameter_values(robot, layout)
    prior = parameter_prior(layout, known, motions[0].recording, 1.0, masses=MASSES)
    bare = robot
    for name in robot.payloads:
        bare = bare.without_payload(name)
    gains, columns = np.ones(len(measured)), np.ones(robot.nv)
    for _ in range(ROUNDS):
        columns[measured] = gains
        fits = [linear_fit(bare, base, motion.recording._replace(
            tau=motion.recording.tau * columns), base.values(known), factor=motion.factor)
            for motion in motions]
        noise = np.max([fit.noise.effective for fit in fits], axis=0)
        rows = [_Row(k, R / noise[k], payload_parameters(each, layout))
                for fit, each in zip(fits, (robot, loaded_robot))
                for k, R in enumerate(merged_factors(base, fit.parts).R)]
        scale, sigma = _scales(base, prior, rows)
        gains = gains / scale
    names = tuple(np.array(robot.joint_names)[measured].tolist())
    return _checked(DriveGains(names, gains, gains * sigma / scale, (
        *motions[0].warnings, *(f'loaded: {text}' for text in motions[1].warnings))))


def _measured(recording: Recording, loaded: Recording) -> np.ndarray:
    """Return the indices of the joints with an effort; refuse those that have it only unloaded."""
    missing = [name for name in loaded.no_effort if name not in recording.no_effort]
    if missing:
        raise DynamicsError(
            f'the recording with the payload has no effort of {", ".join(missing)}, so that its '
            'gain is not known; expected the efforts of both recordings, or of none of them '
            '(--no-effort)')
    return recording.with_effort


class _Row(NamedTuple):
    """The efforts of one joint in one motion."""

    joint: int
    R: np.ndarray      # factor of [Y_b columns it depends on, effort], in units of noise
    load: np.ndarray   # (size,) known parameters of payloads


def _scales(base: BaseParameters, prior: Prior,
            rows: Sequence[_Row]) -> tuple[np.ndarray, np.ndarray]:
    """Return (s, standard deviations of s) of the joints, by Gauss and Newton."""
    size, count = base.layout.size, len(base.depends)
    values, scale = prior.values.copy(), np.ones(count)
    for _ in range(STEPS):
        J, r = [np.hstack([prior.A, np.zeros((size, count))])], [prior.A @ (values - prior.values)]
        for k, R, load in rows:
            Y = R[:, :-1] @ base.grouping[base.depends[k]]
            torque = Y @ (values + load)
            own = np.zeros((len(R), size + count))
            own[:, :size], own[:, size + k] = scale[k] * Y, torque
            J.append(own)
            r.append(scale[k] * torque - R[:, -1])
        step = np.linalg.lstsq(np.vstack(J), -np.concatenate(r), rcond=None)[0]
        shorter = min(1.0, LONGEST / max(np.abs(step[size:] / scale).max(), SETTLED))
        values, scale = values + shorter * step[:size], scale + shorter * step[size:]
        if np.abs(step[size:]).max() < SETTLED:
            inverse = np.linalg.inv(r_factor(np.vstack(J)))
            return scale, np.linalg.norm(inverse[size:], axis=1)
    raise DynamicsError(f'the gains of the drives did not converge in {STEPS} steps: check the '
                        'payload, and that both recordings are of the same robot')


def _checked(gains: DriveGains) -> DriveGains:
    """Return the gains; refuse those that nothing fixes."""
    vague = [f'{name} {value:.3g} +- {sigma:.2g}' for name, value, sigma in zip(
        gains.names, gains.values, gains.sigma) if not sigma < TOLD * value]
    if vague:
        raise DynamicsError(
            f'the payload does not fix the gains of {", ".join(vague)}: record motions in which it '
            f'changes the torque of these joints more, or a heavier payload; or leave their '
            'efforts out (--no-effort)')
    return gains
