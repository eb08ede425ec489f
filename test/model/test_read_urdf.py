"""Test reading a URDF: records, defaults, and warnings that are not printed."""

import sys
import threading

import numpy as np
import pytest
from support.tolerances import EXACT_MATHS
from support.urdf_pieces import EVERYTHING, LIMIT, arm, joint, link, mimic, robot
from urdf_parser_py.urdf import URDF

from dynamics_node import ModelError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.model.read_urdf import read_urdf
from dynamics_node.model.urdf_text import urdf_text

# Franka's description adds four attributes that no parser knows to each of its seven joints.
LOSSES = '<dynamics D="1" K="7000" damping="0.003" mu_coulomb="0" mu_viscous="16"/>'
PANDA = robot(*(link(f'link{i}') for i in range(8)), *(
    joint(f'joint{i}', f'link{i - 1}', f'link{i}', inside=LIMIT + LOSSES) for i in range(1, 8)),
    name='panda')


def only_joint(inside='', kind='revolute', origin=''):
    """Return the record of the joint of a robot that has one."""
    text = robot(link('a'), link('b'), joint('j', 'a', 'b', kind, inside, origin))
    return read_urdf(text).joints[0]


def test_links_and_joints_come_in_the_order_of_the_text():
    """Names, types, ends."""
    record = read_urdf(EVERYTHING)
    assert record.name == 'test'
    assert [part.name for part in record.links] == ['base', *'abcdefgh', 'tool']
    assert [(part.name, part.kind, part.parent, part.child) for part in record.joints] == [
        ('turn', 'revolute', 'base', 'a'), ('spin', 'continuous', 'a', 'b'),
        ('slide', 'prismatic', 'b', 'c'), ('weld', 'fixed', 'c', 'd'),
        ('plane', 'planar', 'base', 'e'), ('free', 'floating', 'e', 'f'),
        ('follow', 'prismatic', 'd', 'g'), ('follow_on', 'revolute', 'g', 'h'),
        ('flange', 'fixed', 'h', 'tool')]
    assert record.warnings == ()


@pytest.mark.parametrize(('kind', 'nq', 'nv'), [
    ('revolute', 1, 1), ('continuous', 1, 1), ('prismatic', 1, 1), ('fixed', 0, 0),
    ('planar', 3, 3), ('floating', 7, 6)])
def test_every_joint_type_loads_and_moves(kind, nq, nv):
    """The sizes nq and nv are as documented, in the dynamics too."""
    made = Robot.from_urdf(robot(link('a'), link('b'), joint('j', 'a', 'b', kind, '')))
    assert (made.nq, made.nv) == (nq, nv)
    assert made.joint_names == (('j',) if nv else ())
    assert made.inverse_dynamics(made.neutral(), np.zeros(nv), np.zeros(nv)).shape == (nv,)


def test_joint_defaults_are_those_of_urdf():
    """Axis x, origin at the parent, no limits, no friction, effort unknown."""
    record = only_joint()
    np.testing.assert_array_equal(record.axis, [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(record.placement.matrix(), np.eye(4))
    assert (record.lower, record.upper) == (-np.inf, np.inf)
    assert np.isnan(record.max_effort) and np.isnan(record.max_velocity)
    assert (record.damping, record.friction, record.mimic) == (0.0, 0.0, None)


def test_joint_values_are_read_as_written():
    """Origin, limits, friction; roll before pitch before yaw."""
    record = only_joint(
        '<limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="5" '
        'friction="6"/>', origin=f'<origin xyz="1 2 3" rpy="{np.pi / 2} 0 {np.pi / 2}"/>')
    assert (record.lower, record.upper, record.max_effort, record.max_velocity) == (-1, 2, 30, 4)
    assert (record.damping, record.friction) == (5, 6)
    np.testing.assert_array_equal(record.placement.p, [1, 2, 3])
    np.testing.assert_array_equal(record.placement.R, [[0, 0, 1], [1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize('axis', ['0 3 4', '0 3e29 4e29', '0 3e-300 4e-300', '0 3e-5 4e-5'])
def test_axis_is_normalised(axis):
    """For any length."""
    made = only_joint(f'<axis xyz="{axis}"/>').axis
    np.testing.assert_allclose(made, [0.0, 0.6, 0.8], rtol=EXACT_MATHS)


def test_mimic_defaults_and_values_are_read():
    """Multiplier 1 and offset 0 unless given; a multiplier of zero is zero."""
    assert only_joint('<mimic joint="k"/>').mimic == ('k', 1.0, 0.0)
    assert only_joint(mimic('k', -0.5, 0.25)).mimic == ('k', -0.5, 0.25)
    assert only_joint(mimic('k', 0.0)).mimic == ('k', 0.0, 0.0)


@pytest.mark.parametrize('limit', [
    '', '<limit lower="-1" upper="1"/>', '<limit lower="-1" upper="1" effort="0" velocity="0"/>',
    '<limit lower="-1" upper="1" effort="nan" velocity="nan"/>'])
def test_effort_and_velocity_limits_of_zero_or_absent_are_unknown(limit):
    """Unknown is nan; never a limit of zero."""
    record = only_joint(limit)
    assert np.isnan(record.max_effort) and np.isnan(record.max_velocity)


def test_infinite_limits_are_no_limits():
    """A continuous joint has none, whatever is written."""
    record = only_joint('<limit lower="-inf" upper="inf" effort="inf" velocity="1e308"/>')
    assert (record.lower, record.upper, record.max_effort) == (-np.inf, np.inf, np.inf)
    record = only_joint('<limit lower="3" upper="-3" effort="1" velocity="1"/>', 'continuous')
    assert (record.lower, record.upper, record.max_effort) == (-np.inf, np.inf, 1.0)


def test_inertia_defaults_are_zero():
    """No <inertial>, no <inertia>, no <origin>: zero, a point mass, at the link frame."""
    none, point, plain = read_urdf(robot(
        link('none', mass=None),
        '<link name="point"><inertial><mass value="2"/></inertial></link>',
        link('plain', 3.0, origin=''))).links
    assert none.inertia.mass == 0.0 and not none.inertia.matrix().any()
    assert point.inertia.mass == 2.0 and not point.inertia.tensor.any()
    np.testing.assert_array_equal(plain.inertia.com, [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(
        plain.inertia.tensor, [[0.1, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.25]])


def test_inertia_is_turned_and_moved_by_its_origin():
    """About the link's frame: R I R' + m (c'c 1 - c c'), by the textbook."""
    record = read_urdf(robot(link('a', 2.0, origin=(
        f'<origin xyz="1 2 3" rpy="0 0 {np.pi / 2}"/>')))).links[0]
    turned = np.array([[0.2, -0.01, -0.03], [-0.01, 0.1, 0.02], [-0.03, 0.02, 0.25]])
    c = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(record.inertia.tensor, turned + 2.0 * (c @ c * np.eye(3)
                               - np.outer(c, c)), rtol=EXACT_MATHS)
    np.testing.assert_allclose(record.inertia.com, c, rtol=EXACT_MATHS)


def test_oddities_are_collected_and_not_printed(capfd):
    """Panda's 28 unknown attributes, which urdf_parser_py alone prints to stderr."""
    URDF.from_xml_string(PANDA)
    assert capfd.readouterr().err.count('Unknown attribute') == 28
    warnings = read_urdf(PANDA).warnings
    assert capfd.readouterr() == ('', '')
    assert len(warnings) == 28
    assert 'mu_coulomb' in ' '.join(warnings) and 'joint7' in ' '.join(warnings)
    URDF.from_xml_string(PANDA)  # and its printing is as it was
    assert capfd.readouterr().err.count('Unknown attribute') == 28


@pytest.mark.parametrize(('text', 'words'), [
    (arm('<loudspeaker/>'), ['loudspeaker']),
    (arm(link('c').replace('<inertial>', '<aura/><inertial>'), joint('j', 'upper', 'c')),
     ['aura', "'c'"]),
    (arm(link('c').replace('</link>', '<inertial><mass value="9"/></inertial></link>'),
         joint('j', 'upper', 'c')), ["link 'c'", 'second <inertial>']),
    (arm(link('c'), joint('j', 'upper', 'c', inside='')), ["'j'", 'no <limit>', 'unlimited']),
    (arm(link('c'), joint('j', 'upper', 'c', inside='<limit effort="1" velocity="1"/>')),
     ["'j'", '[0, 0]']),
], ids=['tag', 'link tag', 'repeated', 'no limit', 'no range'])
def test_harmless_oddities_are_warnings(text, words):
    """One sentence, with its place."""
    warnings = read_urdf(text).warnings
    assert len(warnings) == 1
    for word in words:
        assert word in warnings[0]


def test_the_first_of_a_repeated_element_is_used():
    """Mass 1 and not 9."""
    text = robot(link('c', 1.0).replace('<mass', '<mass value="1.5"/><mass'))
    assert read_urdf(text).links[0].inertia.mass == 1.5


@pytest.mark.parametrize('broken', [
    '<visual><geometry><mesh filename="package://no/such/mesh.dae"/></geometry></visual>',
    '<visual><geometry><cone/></geometry></visual>', '<visual/>',
    '<collision><geometry/><origin xyz="a b"/></collision>',
    '<visual><geometry><box size="1 nan"/></geometry><material/></visual>',
    '<origin xyz="no"/>',
])
def test_faults_in_visual_and_collision_are_ignored(broken):
    """Missing meshes, broken shapes: the same records, no warning."""
    record = read_urdf(arm().replace('<inertial>', broken + '<inertial>'))
    assert record.warnings == ()
    assert [part.inertia.mass for part in record.links] == [1.0, 1.0]


@pytest.mark.parametrize('broken', [
    '<gazebo reference="nothing"><mass value="x"/></gazebo>', '<transmission/>',
    '<transmission name="t"><type>x</type></transmission>', '<material name=""/>',
    '<ros2_control name="r" type="system"><joint name="shoulder"/></ros2_control>',
])
def test_faults_in_extensions_are_ignored(broken):
    """Simulators, controllers, colours."""
    assert read_urdf(arm(broken)).warnings == ()


def test_faults_of_a_fixed_joint_are_ignored():
    """It has no axis, no limit and no leader."""
    record = only_joint('<axis xyz="0 0"/><limit lower="x"/><dynamics damping="-1"/>'
                        '<mimic joint="nobody"/>', 'fixed')
    assert (record.mimic, record.damping) == (None, 0.0)


@pytest.mark.parametrize('text', [
    arm().replace('<robot', '<?xml version="1.0"?><robot'),
    '\n ' + arm().replace('<robot', '<?xml version="1.0" encoding="UTF-16"?><robot'),
    '\ufeff' + arm(), arm().encode(), bytearray(arm().encode()), ('\ufeff' + arm()).encode(),
    arm().replace('<robot', '<robot xmlns="http://drake.mit.edu" version="1.2"'),
    arm().replace('<link', '<!-- a link --><?pi?><link'),
])
def test_encodings_and_comments_do_not_matter(text):
    """Declarations, byte order marks, bytes, a namespace, comments."""
    assert [part.name for part in read_urdf(urdf_text(text)).links] == ['base', 'upper']


def test_a_file_is_read_as_text_and_as_path(tmp_path):
    """A str that is no XML is a path."""
    path = tmp_path / 'robot.urdf'
    path.write_text(arm())
    assert Robot.from_urdf(path).joint_names == Robot.from_urdf(str(path)).joint_names == (
        'shoulder',)


def test_names_may_be_in_any_script():
    """As bytes, and in a text that claims another encoding."""
    text = arm().replace('upper', 'πήχυς')
    claim = '<?xml version="1.0" encoding="ISO-8859-1"?>'
    for source in (text, text.encode(), claim + text):
        assert 'πήχυς' in Robot.from_urdf(source).frame_names


def test_robot_without_a_name_is_called_robot():
    """As in most tools."""
    assert read_urdf('<robot><link name="a"/></robot>').name == 'robot'


def test_a_text_that_was_read_before_gives_the_same_record():
    """Also after an invalid text, whose error is raised each time."""
    assert read_urdf(EVERYTHING) is read_urdf(EVERYTHING)
    for _ in range(2):
        with pytest.raises(ModelError, match='no <link>'):
            read_urdf('<robot/>')


def test_threads_do_not_mix_their_warnings():
    """urdf_parser_py collects its warnings in one place for all threads."""
    texts = [robot(*(f'<link name="{k}"><odd{i}/></link>' for k in range(50))) for i in range(8)]
    found = [[] for _ in texts]
    together = threading.Barrier(len(texts))

    def read(i):
        together.wait()
        for k in range(5):   # another text each time: one that is known is not read again
            found[i].append(read_urdf(texts[i] + k * '\n').warnings)

    threads = [threading.Thread(target=read, args=(i,)) for i in range(len(texts))]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    for i, runs in enumerate(found):
        assert [len(warnings) for warnings in runs] == [50] * 5
        assert all(f'odd{i}"' in text for warnings in runs for text in warnings)


def test_a_robot_cannot_change_another_of_the_same_text():
    """The record of a text is kept, and its arrays are shared."""
    record = read_urdf(ARM7.read_text())
    arrays = [array for joint in record.joints for array in (joint.axis, *joint.placement)]
    arrays += [array for link in record.links
               for array in (link.inertia.moment, link.inertia.tensor)]
    for array in arrays:
        with pytest.raises(ValueError, match='read-only'):
            array += 1.0
    with pytest.raises(ValueError, match='read-only'):
        Robot.from_urdf(ARM7, compile=False).model.bodies[0].joint.axis[0] = 7.0
