"""Define DeferredReply: what a handler returns if another process must compute its reply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class DeferredReply(NamedTuple):
    """A reply that is sent when a job has ended."""

    response: Any                 # empty
    job: Any                      # runs in the other process
    fill: Callable[[Any], Any]    # result of the job -> response
    joint_states: Sequence[tuple[int, bytes]] = ()   # [(stamp [ns], bytes)] of the buffer
