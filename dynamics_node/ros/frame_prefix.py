"""Add and remove the parameter `frame_prefix` in the frame names of messages.

robot_state_publisher has a parameter of the same name: with `left/`, tf has the link `tool0` as
`left/tool0`. Inside the node, frames have the names of the URDF.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from dynamics_node.ros.message_fields import message_fields

# Fields that contain names of frames, in our messages and in those of other packages.
FRAME_FIELDS = frozenset({'frame_id', 'child_frame_id', 'frame', 'frames', 'frame_names',
                          'contact_frames', 'payload_frame', 'sensor_links', 'sensor_frames',
                          'inertia_frames'})
WITHOUT_FRAMES = frozenset({'JointTrajectory'})   # its header names no link of the robot


def remove_prefix(prefix: str, message: Any) -> None:
    """Remove the prefix from the frame names of a message; names without it stay as they are."""
    if prefix:
        _change(message, lambda name: name.removeprefix(prefix))


def add_prefix(prefix: str, message: Any) -> None:
    """Add the prefix to the frame names of a message; empty ones stay empty."""
    if prefix:
        _change(message, lambda name: prefix + name if name else '')


class _FrameFields(NamedTuple):
    """The fields of a message type with names of frames in them."""

    names: tuple[str, ...]          # one name
    lists: tuple[str, ...]          # a list of names
    messages: tuple[str, ...]       # a message with such fields
    message_lists: tuple[str, ...]  # a list of such messages


def _change(message: Any, change: Callable[[str], str]) -> None:
    message_type: Any = type(message)
    plan = _plan(message_type)
    for field in plan.names:
        setattr(message, field, change(getattr(message, field)))
    for field in plan.lists:
        setattr(message, field, [change(name) for name in getattr(message, field)])
    for field in plan.messages:
        _change(getattr(message, field), change)
    for field in plan.message_lists:
        for each in getattr(message, field):
            _change(each, change)


@cache
def _plan(message_type: Any) -> _FrameFields:
    names: list[str] = []
    lists: list[str] = []
    messages: list[str] = []
    message_lists: list[str] = []
    known = message_type.__name__ not in WITHOUT_FRAMES
    for field, kind in message_fields(message_type).items() if known else ():
        if kind.is_text and field in FRAME_FIELDS:
            (lists if kind.many else names).append(field)
        elif kind.message is not None and any(_plan(kind.message)):
            (message_lists if kind.many else messages).append(field)
    return _FrameFields(tuple(names), tuple(lists), tuple(messages), tuple(message_lists))
