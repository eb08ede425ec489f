"""Find the line of code that has called a method of a log."""

import sys
from typing import NamedTuple


class CodeLine(NamedTuple):
    """A line of code, as /rosout names it."""

    file: str
    function: str
    line: int


def logging_line() -> CodeLine:
    """Return the line that logs: a method of a log calls a helper, which calls this function.

    Where no Python code has called the method, such as at exit, it is the method itself.
    """
    method = sys._getframe(2)
    caller = method.f_back or method
    return CodeLine(caller.f_code.co_filename, caller.f_code.co_name, caller.f_lineno)
