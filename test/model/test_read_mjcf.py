"""Test reading an MJCF where MuJoCo is not installed; test/oracles/test_mjcf.py has the rest."""

import sys

import pytest

from dynamics_node import DynamicsError, read_mjcf


def test_without_mujoco_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    with pytest.raises(DynamicsError, match='pip install mujoco'):
        read_mjcf('<mujoco/>')
