"""Test the methods that a Robot has from its parts: type hints, for editors and other tools."""

import inspect
from typing import get_type_hints

import numpy as np
import pytest

from dynamics_node import Robot

METHODS = [name for name in dir(Robot) if not name.startswith('_')
           and inspect.isroutine(getattr(Robot, name))]


@pytest.mark.parametrize('name', METHODS)
def test_type_hints_of_the_class_and_of_a_robot_can_be_read(name, arm):
    of_class = get_type_hints(getattr(Robot, name))
    assert set(of_class) == set(getattr(Robot, name).__annotations__) and 'return' in of_class
    assert get_type_hints(getattr(arm, name)).keys() <= of_class.keys()


def test_a_copy_with_changes_is_a_robot_for_type_checkers(arm):
    assert get_type_hints(Robot.with_gravity)['return'] is Robot
    assert get_type_hints(arm.with_gravity)['return'] is Robot


def test_a_method_of_a_kernel_has_the_hint_of_out():
    assert get_type_hints(Robot.mass_matrix)['out'] == np.ndarray | tuple[np.ndarray, ...] | None
