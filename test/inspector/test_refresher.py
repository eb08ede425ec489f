"""Test the refresher: requests during a call become one, the newest is never lost."""

import threading

from dynamics_node.inspector.refresher import Refresher


def test_many_requests_become_one_more_call():
    """The first call is held while ten requests arrive: one call follows, with the last value."""
    begun, go, again = threading.Event(), threading.Event(), threading.Event()
    value, seen = [0], []

    def work():
        seen.append(value[0])
        begun.set()
        go.wait()
        if len(seen) == 2:
            again.set()

    refresher = Refresher(work, period=0.0)
    refresher.request()
    begun.wait()
    for k in range(1, 11):
        value[0] = k
        refresher.request()
    go.set()
    again.wait()
    refresher.stop()
    assert seen == [0, 10]
