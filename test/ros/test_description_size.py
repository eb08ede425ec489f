"""Test the size of robot descriptions: too large ones are refused before they are parsed."""

import pytest
from support.tiny_robots import TWO_JOINTS, chain

from dynamics_node import DynamicsError
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.description_size import check_description
from dynamics_node.ros.parameters.caps import DEFAULT_CAPS, caps_of
from dynamics_node.ros.parameters.declared import ModelParameters
from dynamics_node.ros.parameters.model_size import ModelSizeParameters
from dynamics_node.ros.parameters.service import ServiceParameters

VISUAL = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
WELDS = '\n'.join(['constraints:', *(f'- {{name: c{k}, kind: weld, frame: elbow_link}}'
                                     for k in range(51))])


def large(text):
    """Return a URDF with one more part."""
    return TWO_JOINTS.replace('</robot>', f'{text}</robot>')


@pytest.mark.parametrize(('text', 'message'), [
    (large(f'<link name="x">{VISUAL * 20_000}</link>'),
     'elements of the URDF: 60031, at most 50000 (model.max_elements)'),
    (large('<!--' + '<a/>' * 50_000 + '-->'),
     'elements of the URDF: 50031, at most 50000 (model.max_elements)'),
    (chain(*((f'j{k}', 'fixed') for k in range(1001))),
     'joints of the URDF: 1001, at most 1000 (model.max_joints)'),
    (large(f'<link name="{"x" * 201}"/>'),
     'characters of a name in the URDF: 201, at most 200 (model.max_name)'),
    (large(f"<link name = '{'x' * 201}'/>"),
     'characters of a name in the URDF: 201, at most 200 (model.max_name)'),
], ids=['visuals', 'comments', 'joints', 'name', 'quotes'])
def test_a_large_description_is_refused_with_the_number_and_the_cap(text, message):
    """And the robot before it stays."""
    current = CurrentRobot(lambda: 0.0)
    current.load(TWO_JOINTS, ModelParameters())
    before = current.robot
    with pytest.raises(DynamicsError) as error:
        current.load(text, ModelParameters())
    assert str(error.value) == message
    assert current.refusal == f'the robot description was refused: {message}'
    assert current.robot is before


def test_the_caps_are_parameters():
    """The number of elements is that of the XML."""
    from xml.etree import ElementTree
    elements = sum(1 for _ in ElementTree.fromstring(TWO_JOINTS).iter())
    check_description(caps_of(ServiceParameters(), ModelSizeParameters(max_elements=elements)),
                      TWO_JOINTS)
    with pytest.raises(DynamicsError, match=f': {elements}, at most {elements - 1} '):
        check_description(caps_of(ServiceParameters(),
                                  ModelSizeParameters(max_elements=elements - 1)), TWO_JOINTS)


def test_too_many_loops_are_refused():
    """As those of a request."""
    current = CurrentRobot(lambda: 0.0)
    with pytest.raises(DynamicsError, match=r'constraints: 51, at most 50 \(model\.max_loops\)$'):
        current.load(TWO_JOINTS, ModelParameters(constraints=WELDS))
    assert not current.exists


def test_the_longest_name_of_a_robot_is_accepted():
    """200 characters."""
    check_description(DEFAULT_CAPS, large(f'<link name="{"x" * 200}"/>'))


@pytest.mark.parametrize(('most', 'compiled'), [(2, True), (1, False)])
def test_a_robot_with_many_degrees_of_freedom_is_not_compiled(monkeypatch, most, compiled):
    """It is accepted, and computed by NumPy."""
    monkeypatch.delenv('DYNAMICS_NODE_COMPILE', raising=False)
    plan = CurrentRobot(lambda: 0.0).try_load(
        TWO_JOINTS, ModelParameters(),
        caps_of(ServiceParameters(), ModelSizeParameters(max_compiled=most)))
    assert plan.robot.compilation_enabled is compiled
