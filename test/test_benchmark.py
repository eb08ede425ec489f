"""Test the output of `make bench`: tables, JSON and picture, from rows of its stages."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARK = Path(__file__).resolve().parent.parent / 'benchmark'
# In a process of its own: benchmark/robots.py is not the robots.py of the tests.
REPORT = """
import sys
from pathlib import Path
import numpy as np
import features
from inverse_kinematics import Bar
from quantities import Quantity
from race import BATCH, Ratio
from run import report
from scaling import QUANTITIES, Point
from startup import Cost

one, two = np.float64(1.0), np.float64(2.0)
features.pinocchio_build = lambda: {}   # counts the instructions of its library: seconds
features.describe = lambda build: ''
report({'machine': {'load': 0.0, 'cores': np.int64(2)},
        'ratios': [Ratio('panda', 'mass_matrix', states, 'pinocchio', one, two, two / one, two, bar)
                   for states in (1, BATCH) for bar in (one, None)]
        + [Ratio('panda', 'mass_matrix, out', BATCH, 'pinocchio', one, two, two, two, 10.0)],
        'costs': [Cost('cold start', one, 's', two)],
        'points': [Point(quantity, np.int64(k), np.int64(k), one, one)
                   for quantity in QUANTITIES for k in (5, 10, 20, 40)],
        'ros': [Cost('a call', one, 'us', None)],
        'solutions': [Bar('inverse kinematics', np.median([one]), 'x', two),
                      Bar('solved', 100.0 * np.int64(1), '%', None)],
        'quantities': [Quantity('panda', 'regressor', two, one, np.int64(5), None)],
        'steps': [Cost('whole body', two, 'us', one)], 'events': [],
        'natives': [Ratio('solo12', 'whole_body', 1, 'tsid', one, two, two / one, two, one)],
        'skipped': ['talos: whole body, tsid: skipped: no reason']}, Path(sys.argv[1]))
"""


@pytest.fixture(scope='module')
def written(tmp_path_factory):
    """The folder with what a benchmark of made-up rows has written."""
    folder = tmp_path_factory.mktemp('benchmark')
    done = subprocess.run([sys.executable, '-c', REPORT, str(folder)], cwd=BENCHMARK, text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


def test_results_of_numpy_numbers_are_written_as_plain_json(written):
    """Numbers, truths and missing bars; every kind of row."""
    found = json.loads((written / 'results.json').read_text())
    assert found['machine'] == {'load': 0.0, 'cores': 2}
    assert [row['met'] for row in found['ratios']] == [True] * 4 + [False]
    assert [row['met'] for row in found['solutions']] == [False, True]
    assert [row['met'] for row in found['costs'] + found['ros'] + found['steps']] == [
        True, True, False]
    assert found['points'][0] == {'quantity': 'inverse_dynamics', 'links': 5, 'operations': 5,
                                  'single': 1.0, 'batch': 1.0, 'met': None}
    assert found['quantities'] == [{'robot': 'panda', 'what': 'regressor', 'single': 2.0,
                                    'batch': 1.0, 'operations': 5, 'peer': None, 'bar': None,
                                    'met': None}]
    assert found['natives'][0]['peer'] == 'tsid' and found['natives'][0]['met']
    assert found['skipped'] == ['talos: whole body, tsid: skipped: no reason']
    assert (written / 'ratios.png').stat().st_size > 10_000


@pytest.mark.parametrize('name, settings, reason', [
    ('native_peer', {'EIGEN3_INCLUDE_DIR': '/nowhere', 'CXX': sys.executable}, 'headers of Eigen'),
    ('tsid_peer', {'TSID_PYTHON': ''}, 'TSID_PYTHON is not set'),
    ('tsid_peer', {'TSID_PYTHON': sys.executable}, 'has no tsid')])
def test_a_peer_that_is_not_here_is_skipped_with_the_reason(name, settings, reason):
    """Neither compiled nor imported: an ordinary machine has neither."""
    done = subprocess.run([sys.executable, f'{name}.py'], cwd=BENCHMARK, text=True,
                          capture_output=True, timeout=120, env={**os.environ, **settings})
    assert done.returncode == 1 and reason in done.stderr and 'skipped' in done.stderr


def test_a_peer_that_has_ended_is_named(monkeypatch):
    """Its pipe is broken: neither the question nor the end of the block says so."""
    monkeypatch.syspath_prepend(BENCHMARK)
    from peer_process import PeerProcess

    with PeerProcess([sys.executable, '-c', '']) as peer:
        peer._process.wait(60.0)
        for _ in range(2):
            with pytest.raises(RuntimeError, match='ended while it computed mass_matrix'):
                peer.result('mass_matrix')


def test_a_peer_that_does_not_end_is_killed(monkeypatch):
    """It ignores the end of its input."""
    monkeypatch.syspath_prepend(BENCHMARK)
    import peer_process

    monkeypatch.setattr(peer_process, 'PATIENCE', 0.1)
    with peer_process.PeerProcess([sys.executable, '-c', 'import time; time.sleep(60.0)']) as peer:
        pass
    assert peer._process.returncode == -signal.SIGKILL


def test_values_that_are_no_results_are_refused(monkeypatch):
    """A set, a function."""
    monkeypatch.syspath_prepend(BENCHMARK)
    import results

    assert json.loads(results.json_text({'a': np.arange(3), 'b': np.bool_(True)})) == {
        'a': [0, 1, 2], 'b': True}
    with pytest.raises(TypeError, match='set cannot be written to results.json'):
        results.json_text({'a': {1}})


def test_the_greatest_gap_is_that_of_arrivals():
    """With the gaps of the publications and the joint states of the same two torques."""
    heard = [(0, 10, 20), (10 ** 9, 2 * 10 ** 9, 3 * 10 ** 9),
             (9 * 10 ** 9, 4 * 10 ** 9, 5 * 10 ** 9)]
    done = subprocess.run([sys.executable, '-c', 'from torque_under_load import greatest_gap\n'
                           f'print(*greatest_gap({heard}), *greatest_gap([(1, 2, 3)]))'],
                          cwd=BENCHMARK, text=True, capture_output=True, timeout=120)
    found = [float(word) for word in done.stdout.split()]
    assert found == pytest.approx([3.0, 2.0, 1.0, 0.0, 0.0, 0.0]), done.stderr
