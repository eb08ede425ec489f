"""Test that the processes of a node start without modules that only some requests need."""

import subprocess
import sys

import pytest

LATER = {'scipy.fft', 'scipy.interpolate', 'scipy.optimize', 'scipy.signal', 'llvmlite',
         'matplotlib', 'rosbags'}


@pytest.mark.parametrize('module', ['dynamics_node.ros.main',
                                    'dynamics_node.ros.torque.process_main'])
def test_what_only_some_requests_need_is_imported_by_them(module, tmp_path):
    """At the start it would cost up to half a second more."""
    loaded = subprocess.run([sys.executable, '-c', f'import {module}, sys; print(*sys.modules)'],
                            cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert 'dynamics_node.robot' in loaded
    assert not LATER.intersection(loaded)
