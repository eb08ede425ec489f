"""Define tasks of differential kinematics as data: rows J v = w of a frame."""

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.algorithms.jacobian import pose_and_jacobian
from dynamics_node.checks import at_least_zero, finite, positive
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.model.model import Model
from dynamics_node.spatial.se3 import Pose
from dynamics_node.task_space.newton_step import error_and_rows
from dynamics_node.task_space.target import Target

TWIST = ('linear', 'angular')
TaskRows: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]  # J (m, n), w (m,), weights (m,)


@dataclass(frozen=True, eq=False)
class FrameMotion:
    """A wanted velocity of a frame, in world axes at its origin; None leaves a part free.

    The task of Hutter 2017, eq. 2.200. The weight is relative to tasks of the same priority.
    """

    frame: str
    linear: ArrayLike | None = None    # (3,) [m/s]
    angular: ArrayLike | None = None   # (3,) [rad/s]
    weight: float = 1.0
    wanted: dict[str, np.ndarray] = field(init=False, repr=False)  # the given ones of TWIST

    def __post_init__(self) -> None:
        wanted = {name: finite(name, getattr(self, name), (3,)) for name in TWIST
                  if getattr(self, name) is not None}
        if not wanted:
            raise DynamicsError(f"the motion of frame '{self.frame!s:.80}' is empty; expected "
                                'linear, angular or both')
        object.__setattr__(self, 'wanted', wanted)
        positive('weight', self.weight)


@dataclass(frozen=True, eq=False)
class Tracking:
    """Track a moving target with a frame: its velocity plus feedback of the error.

    v = dr*/dt + k_P (r* - r),   w = w* + k_R dphi   (Hutter 2017, eq. 2.240-2.242),

    dphi is the rotation vector from the actual to the wanted orientation, the shortest rotation.
    The errors decay as exp(-k t).
    """

    target: Target
    linear: ArrayLike = (0.0, 0.0, 0.0)    # velocity of the target's position [m/s]
    angular: ArrayLike = (0.0, 0.0, 0.0)   # of its orientation or direction [rad/s], world axes
    position_gain: float = 1.0         # k_P [1/s]
    rotation_gain: float = 1.0         # k_R [1/s]
    frame: str = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.target, Target):
            raise DynamicsError(f'target is {shown(self.target)}; expected a Target')
        object.__setattr__(self, 'frame', self.target.frame)
        for name in TWIST:
            finite(name, getattr(self, name), (3,))
        for name in ('position_gain', 'rotation_gain'):
            at_least_zero(name, getattr(self, name))


def motion_rows(model: Model, q: np.ndarray, task: FrameMotion | Tracking) -> TaskRows:
    """Return (J (m, nv), w (m,), weights (m,)); rows of a Tracking are in the axes of its frame."""
    pose, J = pose_and_jacobian(model, q, task.frame)
    return _tracking(pose, J, task) if isinstance(task, Tracking) else _motion(pose, J, task)


def _motion(pose: Pose, J: np.ndarray, task: FrameMotion
            ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    parts = {'linear': pose.R @ J[:3], 'angular': pose.R @ J[3:]}
    J = np.concatenate([parts[name] for name in task.wanted])
    return J, np.concatenate([*task.wanted.values()]), np.full(len(J), float(task.weight))


def _tracking(pose: Pose, J: np.ndarray, task: Tracking
              ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    found = []
    for part in task.target.parts:  # the direction of an axis has two rows
        error, rows, axes = error_and_rows(pose, J, part.kind, np.array(part.numbers))
        velocity, gain = ((task.linear, task.position_gain) if part.kind == 'position'
                          else (task.angular, task.rotation_gain))
        found.append((rows, axes @ (pose.R.T @ np.asarray(velocity)) + gain * error,
                      np.full(len(rows), part.weight)))
    return tuple(np.concatenate(parts) for parts in zip(*found))
