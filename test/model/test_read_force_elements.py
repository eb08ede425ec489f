"""Test that springs and actuators are read from YAML, and what is wrong is refused by name."""

import pytest

from dynamics_node import Actuator, DynamicsError, Spring
from dynamics_node.model.read_force_elements import ForceElementLists

TEXT = """
springs:
  - {name: balance, stiffness: 4e1, rest: 0.3, joint: joint_2}
  - name: strut
    stiffness: 900
    damping: 20
    rest: 0.4
    frame: link_4
    point: [0.05, 0, 1e-1]
    to: link_2
actuators:
  - {name: rod, frame: link_4, to_point: [0, 0, 2]}
"""
READ = ForceElementLists(
    (Spring('balance', 40.0, rest=0.3, joint='joint_2'),
     Spring('strut', 900.0, 20.0, 0.4, frame='link_4', point=(0.05, 0.0, 0.1), to='link_2')),
    (Actuator('rod', 'link_4', to_point=(0.0, 0.0, 2.0)),))


def test_a_text_a_file_a_dict_and_objects_are_the_same(arm, tmp_path):
    """Each field by its name; numbers may have an exponent without a point."""
    file = tmp_path / 'springs.yaml'
    file.write_text(TEXT)
    as_dict = {'springs': [{'name': 'balance', 'stiffness': 40, 'rest': 0.3, 'joint': 'joint_2'},
                           READ.springs[1]], 'actuators': list(READ.actuators)}
    for source in (TEXT, file, str(file), as_dict, READ):
        robot = arm.with_springs(source)
        assert (robot.springs, robot.actuators) == READ
    assert arm.with_springs(as_dict['springs']).springs == READ.springs
    none = arm.with_springs(READ).with_springs(None)
    assert none.springs == none.actuators == ()


def test_the_actuators_of_the_robot_are_the_default(arm):
    """Of lengths and of forces."""
    robot, q, v = arm.with_springs(READ), [0.2] * 7, [0.1] * 7
    found, wanted = robot.actuator_motion(q, v), arm.actuator_motion(q, v, READ.actuators)
    assert all((got == want).all() for got, want in zip(found, wanted, strict=True))
    tau = 5.0 * found.moment_arms[0]
    assert robot.actuator_forces(q, tau) == pytest.approx(5.0)


FIELDS = 'expected fields: name, stiffness, damping, rest, joint, frame, to, point, to_point'


@pytest.mark.parametrize(('source', 'words'), [
    ('springs: [{name: s, stifness: 3, joint: joint_1}]',
     f"spring 's': 'stifness' is not a field; {FIELDS}"),
    ('springs: [{stiffness: 3}]', f'spring number 1 has no name; {FIELDS}'),
    ('springs: [3]', f'spring number 1 is 3; {FIELDS}'),
    ('springs: [{name: s, stiffness: hard, joint: joint_1}]',
     "spring 's': stiffness is 'hard'; expected a finite number"),
    ('springs: [{name: s, joint: elbow}]', "spring 's': joint: no joint 'elbow'; the robot has: "),
    ('springs: 3', 'springs is 3; expected a list'),
    ('spring: []', 'expected a YAML text, not the name of a file, or a dict, with a list under s'),
    ('springs: []\ndampers: []', "the unknown key 'dampers'; expected: springs, actuators"),
    ('springs: []\nactuators: [{name: a}]',
     "actuator 'a': frame is missing; expected fields: name, frame, to, point, to_point"),
    ('springs: []\nactuators: [{name: a, frame: link_9}]',
     "actuator 'a': frame: no frame 'link_9'"),
    ('{:', 'the springs are not valid YAML'),
    ('/no/such/springs.yaml', "springs: cannot read '/no/such/springs.yaml'"),
])
def test_what_is_wrong_is_named(arm, source, words):
    with pytest.raises(DynamicsError) as refusal:
        arm.with_springs(source)
    assert words in str(refusal.value)
