"""Test that every kernel is declared once, and that dispatch, keys and methods follow."""

import inspect
from collections import Counter

import numpy as np
import pytest

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels.keys import all_keys, key_of
from dynamics_node.kernels.shapes import input_shape, result_shapes
from dynamics_node.kernels.spec import (
    CONSTRAINTS,
    COORDINATES,
    FRAME,
    ROBOT,
    TARGETS,
    WHOLE_BODY,
)
from dynamics_node.kernels.table import ALL_KERNELS, SPECS, specs_of

# Called by methods of another name: constrained_*(stabilisation=...), inverse_kinematics,
# *_directional_derivative(dorigins=..., daxes=...).
WITHOUT_METHOD = {'stabilised_forward_dynamics', 'stabilised_hybrid_dynamics', 'newton_step',
                  'arm_solution', 'torque_space', 'inverse_dynamics_geometry_derivative',
                  'forward_dynamics_geometry_derivative', 'hybrid_dynamics_geometry_derivative'}


def test_each_kernel_is_declared_once():
    """A name occurs once in the table."""
    assert [name for name, n in Counter(spec.name for spec in SPECS).items() if n > 1] == []
    assert len(ALL_KERNELS) == len(SPECS)


@pytest.mark.parametrize('spec', SPECS, ids=lambda spec: spec.name)
def test_a_declaration_is_complete(spec):
    """It has a sentence, a subject, inputs of known shape and a Robot method."""
    model = Robot.from_urdf(ARM7, compile=False).model
    assert spec.doc.endswith('.') and len(spec.doc) < 120
    assert spec.subject in (ROBOT, FRAME, CONSTRAINTS, TARGETS, COORDINATES, WHOLE_BODY)
    assert spec.algorithms and all(map(callable, (*spec.algorithms, spec.numpy_algorithm)))
    for name in (*spec.inputs, *spec.wrenches):
        if name not in ('goal', 'numbers'):  # their sizes follow from the targets and tasks
            assert all(n >= 0 for n in input_shape(model, name))
    assert not spec.local or spec.subject == FRAME
    assert hasattr(Robot, spec.name) == (spec.name not in WITHOUT_METHOD)


@pytest.mark.parametrize('spec', [spec for spec in SPECS if spec.direct], ids=lambda s: s.name)
def test_a_method_that_a_kernel_can_replace_takes_its_inputs(spec):
    """In the order of the declaration; all further arguments are optional."""
    if spec.subject == FRAME:
        return
    _, *parameters = inspect.signature(getattr(Robot, spec.name)).parameters.values()
    n = len(spec.inputs)
    assert tuple(parameter.name for parameter in parameters[:n]) == spec.inputs
    assert all(parameter.default is not parameter.empty for parameter in parameters[n:])


def test_keys_follow_from_the_declarations():
    """Wrenches, payloads, friction and frames enter where the spec says."""
    robot = Robot.from_urdf(ARM7, compile=False).with_friction({'joint_1': 0.1})
    robot = robot.with_payload('tool', 'tool0', 1.0)
    for spec in specs_of(ROBOT):
        key = key_of(robot.model, spec.name)
        assert (key.with_friction, key.with_payload) == (spec.friction, spec.payload), spec.name
    keys = all_keys(robot.model, frames=('tool0',), wrenches=True, derivatives=True)
    assert {key.kernel for key in keys if key.with_wrenches} == {
        spec.name for spec in specs_of(ROBOT) if spec.wrenches}
    assert {key.kernel for key in keys if key.arguments} == {spec.name for spec in specs_of(FRAME)}


@pytest.mark.usefixtures('compiler_on')
def test_a_compiled_method_is_described_as_the_method_of_the_class():
    """help(), signatures and completion are those of the replaced method."""
    robot = Robot.from_urdf(ARM7)
    robot._dispatcher.compile([key_of(robot.model, 'inverse_dynamics')], wait=True)
    before = inspect.signature(robot.inverse_dynamics)
    robot.inverse_dynamics(*np.zeros((3, 7)))
    compiled = vars(robot)['inverse_dynamics']
    assert type(compiled).__name__ == 'Caller'
    assert inspect.signature(compiled) == before and list(before.parameters)[0] == 'q'
    assert compiled.__doc__ == Robot.inverse_dynamics.__doc__
    assert compiled.__name__ == 'inverse_dynamics' and inspect.isroutine(compiled)


@pytest.mark.parametrize('spec', [s for s in SPECS if s.subject in (ROBOT, FRAME)],
                         ids=lambda spec: spec.name)
@pytest.mark.parametrize('base', ['fixed', 'floating'])
def test_results_have_the_declared_shapes(spec, base):
    """Of a single state, of a batch, and of an empty batch."""
    robot = Robot.from_urdf(ARM7, compile=False, base=base)
    arguments = ('tool0', False)[:2 if spec.local else 1] if spec.subject == FRAME else ()
    key = key_of(robot.model, spec.name, arguments)
    for n in (None, 2, 0):
        rows = () if n is None else (n,)
        inputs = {name: np.zeros((*rows, int(np.prod(input_shape(robot.model, name)))))
                  for name in spec.inputs}
        if 'q' in inputs:
            inputs['q'] = np.broadcast_to(robot.neutral(), (*rows, robot.nq))
        found = robot._dispatcher.call(spec.name, arguments=arguments, **inputs)
        found = found if isinstance(found, tuple) else (found,)
        assert [np.shape(part) for part in found] == [
            (*rows, *shape) for shape in result_shapes(robot.model, key)]
