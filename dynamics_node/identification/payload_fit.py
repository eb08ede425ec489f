r"""Identify a payload from torques: mass, centre of mass and inertia.

The torque residual of the model is linear in the ten parameters pi of the load at its frame:

    tau - ID(q, v, a) = Y_load(q, v, a) pi + Y d + noise,

with the model error d. From a loaded motion alone, d is viscous and Coulomb friction and an offset
per joint; errors of the last links' inertias appear as load. With a recording of the same robot
`unloaded`, d has all parameters: link inertias, armature, friction and offsets, with a prior of
standard deviation BELIEF; only differences between the two recordings are load.

At rest, torques determine only mass and centre. Dry friction is their main error, see StaticPoses:
with `approach` it is fitted, else large residuals get small weights (Huber).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node import linalg
from dynamics_node.algorithms.inertial_parameters import TEN, inertia_of, ten_numbers
from dynamics_node.checks import positive
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.consistent_fit import LEAST_BODY
from dynamics_node.identification.interior_fit import ConsistentSet, nearest_point
from dynamics_node.identification.linear_fit import TUNING, equilibrated, huber
from dynamics_node.identification.noise import residual_noise
from dynamics_node.identification.payload_equations import PayloadRows, payload_rows
from dynamics_node.identification.pseudo_inertia import is_consistent, nearest_consistent
from dynamics_node.identification.r_factor import r_factor
from dynamics_node.identification.recording import RawRecording, Recording
from dynamics_node.identification.static_poses import StaticPoses
from dynamics_node.model.model import WORLD
from dynamics_node.robot.arguments import check_robot
from dynamics_node.robot.robot import Robot
from dynamics_node.spatial.inertia import Inertia

CUTOFF = 10.0            # [Hz] arms move loads at 2 Hz or slower
MAX_ROUNDS = 10          # of reweighting
SETTLED = 0.02           # relative change of the noise of each joint that ends it
# Least over greatest singular value, of columns scaled to norm 1.
MIN_CENTRE = 1e-2        # with less, mass and centre of mass are not determined
MIN_INERTIA = 1e-3       # with less, inertia is not determined
SIGNIFICANT = 3.0        # standard deviations
VALUES = ('mass', 'cx', 'cy', 'cz', *TEN[4:])
UNITS = ('kg', *['m'] * 3, *['kg m^2'] * 6)
VAGUE_CENTRE = 0.02      # [m] standard deviation above which a warning is given
SAME_DIRECTION = 15.0    # [degrees] within which gravity has the same direction in all poses


class PayloadEstimate(NamedTuple):
    """A load, and how well it is determined."""

    frame: str
    mass: float                   # [kg]
    com: np.ndarray               # (3,) in the frame [m]
    inertia: np.ndarray | None    # (3, 3) about the centre, axes of the frame; None: not determined
    covariance: np.ndarray        # of VALUES, (10, 10); (4, 4) without inertia
    residual_rms: np.ndarray      # (joints,) torque residual [N m or N]
    samples: int                  # number of samples that were fitted
    warnings: tuple[str, ...]
    joint_names: tuple[str, ...]  # of residual_rms: all; with loops the independent ones

    @property
    def sigma(self) -> dict[str, float]:
        """{name: standard deviation} of mass, cx, cy, cz and, if determined, Ixx, Ixy, ... ."""
        return dict(zip(VALUES, np.sqrt(np.diag(self.covariance)).tolist()))

    def attached_to(self, robot: Robot, name: str = 'payload') -> Robot:
        """Return the robot with this payload, see Robot.with_payload."""
        return robot.with_payload(name, self.frame, self.mass, self.com, self.inertia)

    def __str__(self) -> str:
        sigma = list(self.sigma.values())
        found = [self.mass, *self.com]
        if self.inertia is not None:
            found += list(ten_numbers(Inertia(0.0, np.zeros(3), self.inertia))[4:])
        lines = [f'{name} {value:.5g} +- {s:.2g} {unit}'
                 for name, value, s, unit in zip(VALUES, found, sigma, UNITS)]
        return '\n'.join([f"load at '{self.frame}'", *lines, *self.warnings])


def identify_payload(robot: Robot, recording: RawRecording | Recording | StaticPoses, frame: str,
                     unloaded: RawRecording | Recording | StaticPoses | None = None,
                     cutoff: float = CUTOFF) -> PayloadEstimate:
    """Return the PayloadEstimate of a load fixed to a frame.

    :param robot: without that load.
    :param recording: a motion of some seconds, or StaticPoses.
    :param unloaded: the same kind of recording without the load, not necessarily of the same
        motion; None trusts the inertias of the model.
    :param cutoff: cutoff of the filter on a RawRecording [Hz], see `filtering.smooth`; noise of
        accelerations below it biases the load towards zero.
    :raise DynamicsError: the reason why the load is not determined, and what to record instead.
    """
    check_robot(robot)
    cutoff = positive('cutoff', cutoff)
    if robot.model.frame(frame).body == WORLD:
        raise DynamicsError(f"frame '{frame}' does not move: no torque depends on its load")
    rows, warnings = payload_rows(robot, recording, frame, unloaded, cutoff)
    factor, left = _fitted(rows)
    R, z = factor[-11:-1, -11:-1], factor[-11:-1, -1]   # the last row is the residual
    has_inertia = not rows.static and _reciprocal_condition(R) > MIN_INERTIA
    last = slice(0, 10) if has_inertia else slice(6, 10)   # inertia comes before mass and centre
    if _reciprocal_condition(R[6:, 6:]) < MIN_CENTRE:
        raise DynamicsError(_undetermined(rows, R[6:, 6:], frame))
    R, z = R[last, last], z[last]
    x = _solved(R, z)
    covariance = _covariance(R)
    mass, sigma = x[-4], np.sqrt(covariance[-4, -4])
    if mass < -SIGNIFICANT * sigma or (mass <= 0.0 and sigma == 0.0):
        raise DynamicsError(
            f'the load would weigh {mass:.4g} +- {sigma:.2g} kg: torques are smaller than without '
            'it. Is it already a payload of the model, or is the sign of the efforts wrong?')
    if mass < SIGNIFICANT * sigma:
        raise DynamicsError(f'the load weighs {mass:.4g} +- {sigma:.2g} kg, which is not different '
                            'from zero: record more poses or a faster motion, or calibrate the '
                            'torques first (unloaded)')
    if has_inertia and not is_consistent(_ten(x)):
        x = _consistent(x, R, z)
        warnings = (*warnings, 'the inertia that fits best is not physically consistent: the '
                    'nearest consistent body was taken')
    ten = _ten(x) if has_inertia else np.array([*x, *np.zeros(6)])
    return _estimate(rows, frame, ten, has_inertia, covariance, left, warnings)


# The fit ------------------------------------------------------------------------------------------

def _fitted(rows: PayloadRows) -> tuple[np.ndarray, np.ndarray]:
    """Return (R factor of [Y, y], residuals (N, joints) of the loaded samples).

    Ordinary least squares first; then joints weighted by their noise, poses by their residual.
    """
    A, y, nv = rows.A, rows.y, len(rows.joint_names)
    count = np.full(nv, min(A.shape[1] / nv, len(y) / nv - 1))
    sigma, weight = np.ones(nv), np.ones(len(y) // nv * nv)
    for _ in range(MAX_ROUNDS):
        scale = np.sqrt(weight) / np.tile(sigma, len(y) // nv)
        stacked = np.vstack([np.column_stack([A, y]) * scale[:, None], rows.prior])
        factor = r_factor(stacked)
        left = y - A @ _solved(factor[:-1, :-1], factor[:-1, -1])
        noise = residual_noise(left.reshape(-1, nv), count, rows.floor)
        before = sigma
        sigma = noise.sigma if rows.static else noise.effective  # poses are independent
        if np.allclose(sigma, before, rtol=SETTLED):
            break
        spread = np.tile(TUNING['huber'] * noise.sigma, len(y) // nv)
        weight = huber(left / spread) if rows.static else weight
    return factor, left.reshape(-1, nv)[:rows.samples]


def _solved(R: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return x with R x = z; the shortest one if R is rank deficient."""
    scaled, scale = equilibrated(R)
    return np.linalg.lstsq(scaled, z, rcond=1e-12)[0] / scale


def _reciprocal_condition(R: np.ndarray) -> float:
    """Return the least over the greatest singular value, columns scaled to norm 1."""
    values = np.linalg.svd(equilibrated(R)[0], compute_uv=False)
    return values[-1] / values[0] if (np.abs(R).sum(axis=0) > 0.0).all() else 0.0


def _covariance(R: np.ndarray) -> np.ndarray:
    inverse = linalg.solve_triangular(r_factor(R), np.eye(len(R)))
    return inverse @ inverse.T


def _undetermined(rows: PayloadRows, R: np.ndarray, frame: str) -> str:
    """Return an error message: which values are not determined, and what to record instead."""
    direction = np.linalg.svd(equilibrated(R)[0])[2][-1]
    names = [VALUES[k] for k in np.argsort(-np.abs(direction)) if abs(direction[k]) > 0.3]
    text = f"the torques do not determine {', '.join(names)} of a load at '{frame}'"
    down = rows.down @ rows.down.mean(axis=0)
    norms = np.linalg.norm(rows.down, axis=1) * np.linalg.norm(rows.down.mean(axis=0))
    spread = np.degrees(np.arccos(np.clip(down / np.maximum(norms, 1e-12), -1.0, 1.0)).max())
    if spread < SAME_DIRECTION:
        return (f'{text}: gravity always has the same direction in its axes, within {spread:.2g} '
                'degrees. Turn the wrist: record three or more poses in which each axis of the '
                'frame is along, against and across gravity')
    return (f'{text}: it causes no torque in these poses. Record other poses, in which the joint '
            'axes are horizontal')


def _ten(x: np.ndarray) -> np.ndarray:
    """Return pi of x = (six of inertia, mass, moment), (10,)."""
    return np.concatenate([x[6:], x[:6]])


def _consistent(x: np.ndarray, R: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the x of the consistent body that fits the torques best."""
    order = np.r_[4:10, 0:4]   # of ten, as x has them
    near = nearest_consistent(_ten(x))
    inverse = np.empty((10, 10))
    inverse[order] = linalg.solve_triangular(R, np.eye(10))
    within = ConsistentSet(-LEAST_BODY * near[None], inverse[None], np.zeros(0), np.zeros((0, 10)))
    found = nearest_point(within, z, R @ near[order])
    return linalg.solve_triangular(R, found.w)


# Result -------------------------------------------------------------------------------------------

def _estimate(rows: PayloadRows, frame: str, ten: np.ndarray, has_inertia: bool,
              covariance: np.ndarray, left: np.ndarray, warnings: Sequence[str]) -> PayloadEstimate:
    load = inertia_of(ten)
    order = np.r_[6:10, 0:6] if has_inertia else np.arange(4)      # of ten: (m, mc, inertia)
    J = _rates(ten)[:len(order), :len(order)]
    covariance = J @ covariance[np.ix_(order, order)] @ J.T
    warnings = list(warnings)
    vague = np.sqrt(np.diag(covariance)[1:4])
    if vague.max() > VAGUE_CENTRE:
        axis = 'xyz'[int(vague.argmax())]
        warnings.append(f'the centre of mass is known only to {vague.max():.2g} m along {axis}: '
                        'turn the wrist further')
    if not has_inertia and not rows.static:
        warnings.append('the motion is too slow, or turns too little, to determine the inertia: '
                        'only mass and centre are given')
    if rows.static and rows.friction_unknown:
        warnings.append('poses without approach: the result contains unknown dry friction; '
                        'approach each pose from both sides')
    return PayloadEstimate(frame, float(load.mass), load.com,
                           load.tensor_about_com() if has_inertia else None, covariance,
                           np.sqrt(np.mean(left ** 2, axis=0)), rows.samples, tuple(warnings),
                           rows.joint_names)


def _rates(ten: np.ndarray) -> np.ndarray:
    """Return d(mass, centre, tensor about it)/d(ten), (10, 10), by central differences."""
    def values(ten: np.ndarray) -> np.ndarray:
        load = inertia_of(ten)
        about = Inertia(load.mass, load.com, load.tensor_about_com())
        return ten_numbers(about)

    steps = 1e-6 * np.maximum(np.abs(ten), ten[0])
    return np.stack([(values(ten + step * unit) - values(ten - step * unit)) / (2.0 * step)
                     for step, unit in zip(steps, np.eye(10))], axis=-1)

