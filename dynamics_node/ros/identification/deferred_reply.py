"""Define DeferredReply: what a handler returns if the worker process must compute its reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dynamics_node.ros.identification.jobs import IdentifyJob, PayloadJob


class DeferredReply(NamedTuple):
    """A reply that is sent when a job has ended."""

    response: Any                            # empty
    job: IdentifyJob | PayloadJob            # runs in the worker process
    joint_states: list[tuple[int, bytes]]    # [(stamp [ns], bytes)] of the buffer, for the job
    fill: Callable[[Any], Any]               # result of the job -> response
