"""Describe an identification that runs in a node, and what it has found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from dynamics_node.identification.trajectory_files import TimedPoints


class IdentifyFound(NamedTuple):
    """The result of an identification; see action/Identify.action."""

    success: bool
    message: str                    # reasons, if success is false
    joint_names: Sequence[str]      # empty: the goal was refused
    rms_before: np.ndarray          # of measured minus predicted torque, per joint [N m or N]
    rms_after: np.ndarray
    rms_torque: np.ndarray          # of the measured torque
    gain: float                     # RMS before / after, over all joints
    error_share: float              # RMS after / RMS of the measured torque
    condition: float
    parameter_names: Sequence[str]
    parameter_units: Sequence[str]
    before: np.ndarray              # of each parameter
    values: np.ndarray
    determined: Sequence[bool]      # whether the data determine the parameter
    warnings: Sequence[str]
    files: Sequence[str]            # on the machine of the node
    report: bytes | None            # the HTML report; None if it is not on this machine


class IdentifyState(NamedTuple):
    """What is known of the identification that was started last."""

    stage: str = ''                 # '' : none was started
    progress: float = 0.0           # 0 to 1
    samples: int = 0
    condition: float = math.nan     # nan: not known yet
    residual: float = math.nan      # RMS over all joints [N m or N], nan: not known yet
    running: bool = False
    found: IdentifyFound | None = None


class Identifying(Protocol):
    """Requests to the identification of a node; each returns the answer in words."""

    def begin(self, duration: float, points: TimedPoints | None) -> str:
        """Record the motion of the robot, and identify it; a reference is sent meanwhile."""

    def use(self) -> str:
        """Identify the last recording again, and let the node use the result."""

    def cancel(self) -> str:
        """Cancel the identification that runs."""

    def state(self) -> IdentifyState:
        """Return the newest IdentifyState."""
