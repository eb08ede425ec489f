"""What may a handler return when the answer takes its time?"""

from collections.abc import Callable
from typing import Any, NamedTuple


class DeferredReply(NamedTuple):
    """An answer that the workshop has to find first."""

    response: Any       # empty
    job: Any            # job.run(kept, progress, tell) -> outcome, see workshop.py
    kept: list          # of the tape
    fill: Callable      # outcome -> response
