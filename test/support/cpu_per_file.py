"""Print the CPU time of the tests of each file, as a plugin of pytest.

    PYTHONPATH=test:$PYTHONPATH pytest -p support.cpu_per_file -n 4 --dist loadfile test

On a busy machine a duration says little. The CPU time is that of the process of the test, of those
that it started, and of the nodes that were forked for it, as far as they have ended.
"""

import resource
from collections import Counter

import pytest

from support.node_forks import NodeForks

MOST = 60   # lines
_before, _seconds = {}, Counter()


def _cpu():
    """Return the CPU time of this process, of its children and nodes that have ended [s]."""
    ours = sum(used.ru_utime + used.ru_stime for used in map(
        resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    return ours + sum(forks.cpu() for forks in NodeForks.started)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Note the CPU time since the phase before; workers of pytest -n send it with the report."""
    report = yield
    now = _cpu()
    report.user_properties = [*report.user_properties, ('cpu', now - _before.get('at', now))]
    _before['at'] = now
    return report


def pytest_collection_finish():
    """Begin to count."""
    _before['at'] = _cpu()


def pytest_runtest_logreport(report):
    """Add up."""
    _seconds[report.nodeid.split('::')[0]] += dict(report.user_properties).get('cpu', 0.0)


def pytest_terminal_summary(terminalreporter):
    """Print the table."""
    terminalreporter.section('CPU time of each file')
    for name, seconds in _seconds.most_common(MOST):
        terminalreporter.write_line(f'{seconds:8.1f} s  {name}')
    terminalreporter.write_line(f'{_seconds.total():8.1f} s  in all')
