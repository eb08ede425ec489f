"""Log each lifecycle transition of the node."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import wraps
from typing import Any

from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn


def logged(transition: Callable) -> Callable:
    """Return a lifecycle transition that is logged, with its exceptions, which rclpy ignores.

    :param transition: on_<name> of a node that has a Log.
    """
    name = transition.__name__.removeprefix('on_')

    @wraps(transition)
    def run(self: Any, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            result = transition(self, state)
        except Exception:
            self.log.error(f'{transition.__name__} failed, please report this:\n'
                           f'{traceback.format_exc()}')
            return TransitionCallbackReturn.ERROR
        self.log.info(f'lifecycle: {name}: {result.name.lower()}')
        return result
    return run
