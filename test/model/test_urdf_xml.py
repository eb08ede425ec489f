"""Test texts that other readers load: invalid XML declarations, leftover xacro."""

import numpy as np
import pytest
from support.urdf_pieces import arm

from dynamics_node import DynamicsError, Robot
from dynamics_node.identification.urdf_write_back import write_back
from dynamics_node.model.read_urdf import read_urdf
from dynamics_node.model.urdf_text import urdf_text

XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
EXTENSIONS = [
    '<gazebo reference="upper"><sdf:plugin sdf:name="p"/></gazebo>',
    '<gazebo sdf:version="1.6"/>', '<drake:collision_filter drake:name="a"/>',
    '<mujoco><a:b><c:d/></a:b></mujoco>', '<ros2_control><r:param/></ros2_control>',
    '<!-- <x:y> --><gazebo><sdf:plugin/></gazebo>',
]
LEFT_OVER = [
    '<gazebo><xacro:sensor/></gazebo>', '<sensor><xacro:camera name="c"/></sensor>',
    '<transmission><xacro:gear/></transmission>', '<material name="${colour}"/>',
    '<link name="extra"><visual><xacro:mesh/></visual></link>'
    '<joint name="e" type="fixed"><parent link="upper"/><child link="extra"/></joint>',
    '<link name="extra"><collision><geometry><mesh filename="$(find arm)/m.stl"/></geometry>'
    '</collision></link>'
    '<joint name="e" type="fixed"><parent link="upper"/><child link="extra"/></joint>',
    '<link name="extra"><sensor><xacro:imu/></sensor></link>'
    '<joint name="e" type="fixed"><parent link="upper"/><child link="extra"/></joint>',
    '<link name="extra"/><joint name="e" type="fixed"><parent link="upper"/><child link="extra"/>'
    '<axis xyz="${axis}"/><safety_controller k_velocity="${k}"/></joint>',
    '<xacro:property name="length" value="0.3"/>', '<xacro:arg name="prefix" default=""/>',
    '<xacro:macro name="wheel"><link name="wheel"/></xacro:macro>',
]
READ = [
    '<xacro:wheel/>', '<xacro:include filename="wheel.xacro"/>',
    '<xacro:if value="1"><link name="x"/></xacro:if>', '<link name="${prefix}extra"/>',
    '<link name="extra"><xacro:inertial_box/></link>',
    '<link name="extra"><inertial><xacro:box/></inertial></link>',
    '<link name="extra"><inertial><mass value="${mass}"/></inertial></link>',
    '<joint name="e" type="fixed"><xacro:ends/></joint>',
    '<joint name="e" type="${kind}"><parent link="upper"/><child link="extra"/></joint>',
    '<joint name="e" type="fixed"><parent link="$(arg parent)"/><child link="extra"/></joint>',
    '<joint name="e" type="revolute"><parent link="upper"/><child link="extra"/>'
    '<limit lower="${low}" upper="1" effort="1" velocity="1"/></joint>',
]


def added(text, declaration=''):
    """Return the arm with something before its end."""
    return arm().replace('<robot', f'<robot {declaration}').replace('</robot>', f'{text}</robot>')


def notes(text):
    return [finding.text for finding in Robot.from_urdf(text).report().findings
            if (finding.level, finding.where) == ('note', 'description')]


def same_dynamics(text):
    """Check that a text is read as the arm; what it may add has no mass."""
    q, v, a = np.array([[0.3], [0.2], [0.1]])
    got, want = (Robot.from_urdf(each).inverse_dynamics(q, v, a) for each in (text, arm()))
    assert got.tolist() == want.tolist()


@pytest.mark.parametrize('declaration', [
    '<?xml version="0.0"?>', '<?xml version="2.0" encoding="utf-8"?>', '<?xml version=1.0?>',
    '<?xml?>'])
def test_an_invalid_declaration_is_ignored(declaration):
    """The text is read, and a note says so."""
    text = declaration + arm()
    same_dynamics(text)
    assert notes(text) == ['the XML declaration is not valid, as <?xml version="1.0"?> is']
    same_dynamics(('\ufeff \n' + text).encode())


@pytest.mark.parametrize('extension', EXTENSIONS)
def test_an_undeclared_prefix_of_an_extension_is_ignored(extension):
    """Each prefix is named once."""
    same_dynamics(added(extension))
    first = notes(added(extension))[0]
    assert first.startswith('namespace prefix ') and 'is not declared' in first
    assert ('a, c is' if 'mujoco' in extension else 'drake is' if 'drake' in extension else
            'r is' if 'ros2' in extension else 'sdf is') in first


def test_a_prefix_that_is_declared_further_in_is_not_named():
    """The declaration counts where it stands."""
    text = added('<gazebo><sdf:a/><ok:b xmlns:ok="http://ok"/></gazebo>')
    assert 'prefix sdf is not' in notes(text)[0]


@pytest.mark.parametrize('declaration', ['', XACRO], ids=['undeclared', 'declared'])
@pytest.mark.parametrize('left', LEFT_OVER)
def test_xacro_in_extensions_is_ignored(left, declaration):
    """A note says where it was."""
    text = added(left, declaration)
    same_dynamics(text)
    assert [note for note in notes(text) if note.startswith('xacro was not run: ')
            and 'that dynamics does not read (<' in note]


@pytest.mark.parametrize('declaration', ['', XACRO], ids=['undeclared', 'declared'])
@pytest.mark.parametrize('read', READ)
def test_xacro_in_the_model_is_refused(read, declaration):
    """The message names the place and the remedy."""
    with pytest.raises(DynamicsError, match=r'this is xacro.*<[\w:]+> in line \d+.*xacro robot'):
        Robot.from_urdf(added(read, declaration))


def test_a_file_of_macros_is_refused_as_xacro():
    """It has no link of its own."""
    text = f'<robot name="r" {XACRO}><xacro:macro name="m"><link name="a"/></xacro:macro></robot>'
    with pytest.raises(DynamicsError, match='this is xacro'):
        Robot.from_urdf(text)


def test_many_leftover_elements_are_one_note():
    """With the first places, and how many there are."""
    text = added(''.join(f'<gazebo><xacro:a{k}/></gazebo>' for k in range(9)), XACRO)
    assert notes(text) == ['xacro was not run: 9 leftovers in parts that dynamics does not read '
                           '(<xacro:a0>, <xacro:a1>, <xacro:a2> ...)']


@pytest.mark.parametrize('text', [
    arm() + arm(), arm() + 'text', arm().replace('</robot>', '<a:b></a:c></robot>'),
    arm().replace('</robot>', '</around><around></robot>'), '<around/>' + arm()])
def test_malformed_xml_is_refused(text):
    """Two roots, text behind the root, tags that do not match."""
    with pytest.raises(DynamicsError, match='not well-formed XML'):
        Robot.from_urdf(text)


def test_error_lines_are_those_of_the_text():
    """Of the original text."""
    text = '<?xml version="0.0"?>\n<robot name="r">\n<link name="a"/>\n<link/>\n</robot>'
    with pytest.raises(DynamicsError, match='line 4'):
        read_urdf(urdf_text(text))


@pytest.mark.parametrize('text', [
    '<?xml version="0.0"?>' + arm(), added('<gazebo><a:b/></gazebo>'),
    added('<sdf:link/><sdf:joint name="shoulder"/>'), added(LEFT_OVER[-1], XACRO)])
def test_a_text_can_be_written_back(text):
    """The same bytes where nothing has changed, and other numbers in the right link."""
    robot = Robot.from_urdf(text)
    assert write_back(text, robot) == text
    head, tail = text.split('<link name="upper">', 1)
    heavier = tail.replace('<mass value="1.0"/>', '<mass value="2.5"/>', 1)
    other = Robot.from_urdf(f'{head}<link name="upper">{heavier}')
    written = Robot.from_urdf(write_back(text, other))
    assert written.total_mass == other.total_mass != robot.total_mass
