"""Test that kernels refuse invalid arguments as the NumPy path does, and never crash."""

import inspect

import pytest
from support.hostile_values import HOSTILE
from support.public_surface import CONTACT, SAMPLES

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7

CALLED = ('inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics', 'mass_matrix',
         'gravity_torque', 'bias_torque', 'friction_torque', 'jacobian', 'jacobian_rate',
         'frame_pose', 'frame_twist', 'constrained_forward_dynamics', 'constraint_rows', 'impact')


@pytest.fixture(scope='module')
def robot():
    """The arm with its kernels ready, and a contact."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('DYNAMICS_NODE_COMPILE', '1')
        made = Robot.from_urdf(ARM7, loops=[CONTACT])
        made.compile(wait=True, frames=['tool0'], constraints=True)
    for name in CALLED:  # a kernel takes its method's place at its first call
        getattr(made, name)(*valid(name).values())
    return made


def valid(name):
    """Return {parameter: value} of the arguments that a method must have."""
    known = {**SAMPLES, 'contacts': []}
    return {each.name: known[each.name]
            for each in inspect.signature(getattr(Robot, name)).parameters.values()
            if each.default is each.empty and each.name != 'self'}


@pytest.mark.parametrize('name', CALLED)
def test_a_kernel_raises_nothing_but_dynamics_errors(robot, name):
    """By position, as the C path takes arguments, and by name."""
    found = []
    for parameter in valid(name):
        for what, hostile in HOSTILE.items():
            for by_name in (False, True):
                arguments = {**valid(name), parameter: hostile()}
                try:
                    if by_name:
                        getattr(robot, name)(**arguments)
                    else:
                        getattr(robot, name)(*arguments.values())
                except DynamicsError:
                    pass
                except Exception as error:
                    found.append(f'{parameter} = {what}: {type(error).__name__}: {error}')
    assert found == []
    assert robot.compiled
