"""Test that contacts at other places in the world share one kernel in the cache."""

import pytest

from dynamics_node import Constraint, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels import build
from dynamics_node.kernels.cache_name import name_of
from dynamics_node.kernels.keys import key_of


@pytest.mark.parametrize('place', [(0.3, 0.1, 0.4), (0.1, 0.5, 0.2)])
def test_a_kernel_made_ahead_is_that_which_a_robot_asks_for(place, monkeypatch):
    """A robot asks for key.program: the places of contacts are inputs of its kernel."""
    model = Robot.from_urdf(ARM7, compile=False).model
    keys = [key_of(model, 'constrained_forward_dynamics', constraints=(
        Constraint('tip', 'point_contact', 'link_7', to_pose=each),))
        for each in (place, (0.0, 0.0, 0.6))]
    looked_for = []
    monkeypatch.setattr(build, '_cached', lambda name: looked_for.append(name) or 'kernel')
    assert [build.build_kernel(model, key) for key in keys] == ['kernel'] * 2
    assert set(looked_for) == {name_of(model, keys[0].program)}
