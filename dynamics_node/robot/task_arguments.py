"""Check the arguments of task-space methods: targets, tasks, frames, axes, tolerances."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real

from dynamics_node.errors import DynamicsError, shown
from dynamics_node.model.model import Model
from dynamics_node.task_space.motion import FrameMotion, Tracking
from dynamics_node.task_space.target import Target
from dynamics_node.task_space.tasks import AXES

TOLERANCES = 1e-15, 1e9  # [m or rad] least, about rounding, and greatest


def check_targets(model: Model, targets: Target | Sequence[Target]) -> tuple[Target, ...]:
    """Return a Target or several as a tuple, every frame known."""
    targets = (targets,) if isinstance(targets, Target) else targets
    if not isinstance(targets, (tuple, list)) or not targets or not all(
            isinstance(target, Target) for target in targets):
        raise DynamicsError(f'targets is {shown(targets)}; expected a Target or a list of them')
    for target in targets:
        model.frame(target.frame)
    return tuple(targets)


def check_motions(model: Model, tasks: FrameMotion | Tracking | Sequence
                  ) -> list[list[FrameMotion | Tracking]]:
    """Return tasks as lists by priority, every frame known; one task or one list is one level."""
    tasks = [tasks] if isinstance(tasks, (FrameMotion, Tracking)) else tasks
    if not isinstance(tasks, (tuple, list)):
        raise DynamicsError(f'tasks is {shown(tasks)}; expected FrameMotion, Tracking, a list of '
                            'them, or a list of such lists by priority')
    ranked = tasks and all(isinstance(level, (tuple, list)) for level in tasks)
    levels = tasks if ranked else [tasks]
    for task in (task for level in levels for task in level):
        if not isinstance(task, (FrameMotion, Tracking)):
            raise DynamicsError(f'tasks holds {shown(task)}; expected FrameMotion or Tracking')
        model.frame(task.frame)
    return [list(level) for level in levels if level]


def check_frames(frame: str | Sequence[str]) -> tuple[str, ...]:
    """Return the name of a frame, or several, as a tuple."""
    frames = (frame,) if isinstance(frame, str) else frame
    if not isinstance(frames, (tuple, list)) or not all(isinstance(name, str) for name in frames):
        raise DynamicsError(f'frame is {shown(frame)}; expected the name of a frame, or a list of '
                            'them')
    if not frames:
        raise DynamicsError('frame is an empty list; expected at least one name')
    return tuple(map(str.__str__, frames))  # a plain str also of a subclass


def check_axes(axes: Sequence[str] | Sequence[Sequence[str]], frames: int
               ) -> tuple[tuple[str, ...], ...]:
    """Return the chosen axes of each frame, a tuple of tuples of names.

    :param axes: names of AXES, the same for each frame, or one list of names per frame.
    :param frames: the number of frames.
    """
    if not isinstance(axes, (tuple, list)) or not axes:
        raise DynamicsError(f'axes is {shown(axes)}; expected a list of some of: {", ".join(AXES)}')
    if all(isinstance(chosen, (tuple, list)) for chosen in axes):
        if len(axes) != frames:
            raise DynamicsError(f'axes has {len(axes)} lists; expected one per frame, {frames}, or '
                                'one list of names for all frames')
        return tuple(_axes_of_one(chosen) for chosen in axes)
    return (_axes_of_one(axes),) * frames


def _axes_of_one(axes: Sequence[str]) -> tuple[str, ...]:
    places = []
    for axis in axes:
        if not isinstance(axis, str) or axis not in AXES:
            raise DynamicsError(f'axes has {shown(axis)}; expected some of: {", ".join(AXES)}')
        places.append(AXES.index(axis))
    if not places or len(set(places)) < len(places):
        raise DynamicsError(f'axes is {shown(axes)}; expected at least one axis, each once')
    return tuple(AXES[k] for k in places)


def check_tolerance(tolerance: float | Sequence[float]) -> tuple[float, float]:
    """Return the tolerances of positions [m] and rotations [rad]; one number is both."""
    pair = tolerance if isinstance(tolerance, (tuple, list)) else (tolerance, tolerance)
    least, greatest = TOLERANCES
    if len(pair) != 2 or not all(
            isinstance(part, (float, Real)) and least <= part <= greatest  # type: ignore[operator]
            for part in pair):
        raise DynamicsError(f'tolerance is {shown(tolerance)}; expected a positive number, '
                            f'{least:g} to {greatest:g}, or two: of positions [m] and of rotations '
                            '[rad]')
    return float(pair[0]), float(pair[1])
