"""Test that the processes of a node start without modules that only some requests need."""

import subprocess
import sys

import pytest

LATER = {'scipy.fft', 'scipy.interpolate', 'scipy.optimize', 'scipy.signal', 'llvmlite',
         'matplotlib', 'rosbags'}


def _loaded(module, folder):
    """Return the names of the modules that a process has loaded after the import of one."""
    return set(subprocess.run([sys.executable, '-c', f'import {module}, sys; print(*sys.modules)'],
                              cwd=folder, capture_output=True, text=True,
                              check=True).stdout.split())


@pytest.mark.parametrize('module', ['dynamics_node.ros.main',
                                    'dynamics_node.ros.torque.watchdog_main'])
def test_what_only_some_requests_need_is_imported_by_them(module, tmp_path):
    """At the start it would cost up to a second more."""
    loaded = _loaded(module, tmp_path)
    assert 'dynamics_node.robot' in loaded
    assert not {*LATER, 'scipy.linalg'} & loaded


def test_the_torque_process_has_imported_what_its_laws_need(tmp_path):
    """A torque would wait for a later import."""
    loaded = _loaded('dynamics_node.ros.torque.process_main', tmp_path)
    assert {'dynamics_node.robot', 'scipy.linalg', 'scipy.linalg.lapack'} <= loaded
    assert not LATER & loaded
