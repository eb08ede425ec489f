"""Test refusals of invalid URDFs: the error, its place, and the valid values."""

import re

import numpy as np
import pytest
from support import urdf_pieces as urdf
from support.urdf_pieces import INERTIA, arm, joint, link, mimic, robot

from dynamics_node import DynamicsError, Robot

BILLION_LAUGHS = ('<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY l0 "lol">'
                  + ''.join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
                  + ']><robot name="&l11;"><link name="a"/></robot>')
XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'


def inertial(mass='1', inertia=INERTIA):
    return robot(link('a', mass, inertia))


def one_joint(inside, kind='revolute', **options):
    return robot(link('a'), link('b'), joint('j', 'a', 'b', kind, inside, **options))


def refused(source, *words, **options):
    """Check that the source is refused with a message that contains all these words."""
    with pytest.raises(DynamicsError) as caught:
        Robot.from_urdf(source, **options)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(('source', 'words'), [
    ('hello', ['no file', "'hello'", '<robot']),
    ('/no/such/robot.urdf', ['no file', '/no/such/robot.urdf', '<robot']),
    ('package://arm/robot.urdf', ['no file', 'package://arm', '<robot']),
    ('a\0b', ['no file', '<robot']),
    ('x' * 100_000, ['cannot read', 'too long']),
    ('', ['empty', '<robot']),
    (' \n\t', ['empty', '<robot']),
    (b'', ['empty', '<robot']),
    (None, ['text or a path', 'NoneType']),
    (7, ['text or a path', 'int']),
    (['<robot/>'], ['text or a path', 'list']),
    (arm().encode('utf-16'), ['UTF-8']),
    (arm().replace('upper', 'ärmel').encode('latin-1'), ['UTF-8']),
    ('<robot name="a"', ['not well-formed XML']),
    ('<robot><link name="a"></robot>', ['not well-formed XML', 'link']),
    ('<robot>\ud800</robot>', ['not well-formed XML']),
    ('<robot>&nothing;</robot>', ['not well-formed XML', 'nothing']),
    ('<robot>' + '<x>' * 100_000, ['not well-formed XML']),
], ids=lambda value: repr(value)[:30])
def test_text_that_is_no_xml_is_refused(source, words):
    """Neither text nor file, or a text that no parser reads."""
    refused(source, *words)


def test_a_directory_is_refused(tmp_path):
    """It is named as such, as text and as Path."""
    refused(tmp_path, 'directory', tmp_path.name)
    refused(str(tmp_path), 'directory', tmp_path.name)


@pytest.mark.parametrize('text', [
    '<robot name="r"><xacro:include filename="arm.xacro"/><link name="a"/></robot>',
    f'<robot name="r" {XACRO}><xacro:include filename="arm.xacro"/><link name="a"/></robot>',
    arm().replace('0.1', '${length}'),
    arm().replace('"base"', '"$(arg prefix)base"'),
], ids=['unbound', 'bound', 'expression', 'argument'])
def test_xacro_is_refused(text):
    """It is recognised, and the message says how to expand it."""
    refused(text, 'xacro robot.urdf.xacro > robot.urdf')


def test_urdf_made_by_xacro_is_accepted():
    """A namespace that is bound but not used does not matter."""
    assert Robot.from_urdf(arm().replace('<robot', f'<robot {XACRO}')).nv == 1


@pytest.mark.parametrize('text', [
    BILLION_LAUGHS,
    '<!DOCTYPE robot><robot name="r"><link name="a"/></robot>',
    '<!doctype robot SYSTEM "file:///etc/passwd"><robot><link name="a"/></robot>',
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"><link name="a"/>'
    '</robot>',
], ids=['billion laughs', 'doctype', 'external', 'file entity'])
def test_doctype_and_entities_are_refused(text):
    """Before any parser reads them, so they are not expanded."""
    refused(text, 'DOCTYPE or ENTITY', 'remove the declaration')


@pytest.mark.parametrize('encode', [str, str.encode], ids=['str', 'bytes'])
def test_long_text_is_refused_before_it_is_parsed(encode):
    """50 MB of broken XML: the message names the limit."""
    text = encode('<robot>' + 'x' * 50_000_000)
    refused(text, 'limit of 20000000 bytes', 'max_bytes')


def test_a_long_file_is_refused_before_it_is_read(tmp_path):
    """A sparse file of four gigabytes."""
    path = tmp_path / 'long.urdf'
    with path.open('wb') as file:
        file.truncate(2 ** 32)
    refused(path, 'limit of 20000000 bytes', 'max_bytes')


def test_the_size_limit_can_be_changed():
    """The same text is refused below its length and read at its length."""
    text = arm()
    refused(text, f'limit of {len(text) - 1} bytes', max_bytes=len(text) - 1)
    assert Robot.from_urdf(text, max_bytes=len(text)).nv == 1
    longer = arm(f'<gazebo>{"x " * 4_500_000}</gazebo>' * 3)
    assert len(longer) > 20_000_000
    assert Robot.from_urdf(longer, max_bytes=30_000_000).nv == 1


@pytest.mark.parametrize(('text', 'words'), [
    ('<sdf><model/></sdf>', ['<sdf>', '<robot>']),
    (robot(), ['no <link>', 'at least one']),
    (robot('<link/>'), ['<link> has no name', 'name="..."']),
    (robot('<link name=""/>'), ['<link> has no name']),
    (arm('<joint type="fixed"/>'), ['<joint> has no name']),
    (robot(link('a'), link('a')), ["two links are named 'a'", 'unique']),
    (arm(link('c'), joint('shoulder', 'upper', 'c')), ["two joints are named 'shoulder'"]),
    (arm(link('c'), joint('j', 'upper', 'c', 'ball')), ["'j'", "'ball'", 'revolute', 'fixed']),
    (arm(link('c'), '<joint name="j"><parent link="upper"/><child link="c"/></joint>'),
     ["'j'", 'None', 'revolute']),
    (arm('<joint name="j" type="fixed"><child link="upper"/></joint>'), ["'j'", 'no parent']),
    (arm('<joint name="j" type="fixed"><parent link="base"/><child/></joint>'),
     ["'j'", 'no child', '<child link']),
])
def test_missing_or_wrong_elements_are_refused(text, words):
    """Each is named, with what was expected."""
    refused(text, *words)


@pytest.mark.parametrize(('text', 'words'), [
    (arm(link('c')), ['2 root links', 'base, c', 'connect']),
    (robot(link('a'), link('b'), joint('j', 'a', 'b'), joint('k', 'b', 'a')),
     ['cycle', 'b <- a <- b', 'tree']),
    (arm(link('b'), link('c'), joint('j', 'b', 'c'), joint('k', 'c', 'b')),
     ['cycle', 'c <- b <- c', 'tree']),
    (robot(link('a'), joint('j', 'a', 'a')), ['cycle', 'a <- a']),
    (arm(joint('again', 'base', 'upper')),
     ["'upper'", 'two joints', "'shoulder'", "'again'", 'loop']),
    (arm(joint('j', 'upper', 'hand')), ["'j'", "child link 'hand'", 'base, upper']),
    (arm(link('c'), joint('j', 'elbow', 'c')), ["'j'", "parent link 'elbow'", 'base, upper, c']),
])
def test_joints_that_make_no_tree_are_refused(text, words):
    """Links and joints are named; with many links, some."""
    refused(text, *words)


def test_long_lists_are_shortened():
    """Two thousand roots, a long cycle: the message stays readable."""
    names = [f'l{i}' for i in range(2000)]
    ring = [joint(f'j{i}', name, names[i - 1]) for i, name in enumerate(names)]
    for text in (robot(*map(link, names)), robot(*map(link, names), *ring)):
        with pytest.raises(DynamicsError, match=re.escape('... (200')) as caught:
            Robot.from_urdf(text)
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize(('parts', 'words'), [
    ([mimic('nobody')], ["'m0'", "mimics 'nobody'", 'not a joint', 'shoulder, m0']),
    ([mimic('m0')], ['loop', 'm0 -> m0']),
    ([mimic('m1'), mimic('m0')], ['loop', 'm0 -> m1 -> m0', 'move freely']),
    ([mimic('m1'), mimic('m2'), mimic('m1')], ['loop', 'm1 -> m2 -> m1']),
    ([mimic('m1', 1e20), mimic('shoulder', 1e20)], ["'m0'", '1e+40', 'less than 1e+30']),
    (['<mimic multiplier="2"/>'], ["'m0'", 'joint']),
    ([mimic('shoulder', 'nan')], ["'m0'", '<mimic>', "multiplier='nan'", 'finite']),
    ([mimic('shoulder', 2, 'inf')], ["'m0'", '<mimic>', "offset='inf'", 'finite']),
])
def test_invalid_mimics_are_refused(parts, words):
    """Of a missing joint, of itself, in a ring, by no number."""
    links = [link(f'l{i}') for i in range(len(parts))]
    joints = [joint(f'm{i}', 'upper', f'l{i}', inside=part) for i, part in enumerate(parts)]
    refused(arm(*links, *joints), *words)


@pytest.mark.parametrize('kind', ['planar', 'floating'])
def test_mimic_needs_one_degree_of_freedom(kind):
    """A planar or floating joint can neither lead nor follow."""
    links = [link('c'), link('d')]
    refused(arm(*links, joint('wide', 'upper', 'c', kind, ''),
                joint('m', 'c', 'd', inside=mimic('wide'))), "'m'", "'wide'", kind, 'one degree')
    refused(arm(*links, joint('wide', 'upper', 'c', kind, mimic('shoulder')),
                joint('m', 'c', 'd')), "'wide'", kind, 'cannot mimic', 'revolute')


@pytest.mark.parametrize('mass', [
    'nan', 'inf', '-inf', '', 'heavy', '1 2', '1e31', '0x10', '0,5', '9' * 400])
def test_invalid_masses_are_refused(mass):
    """The link, the text as written, and the expected value."""
    refused(inertial(mass), "link 'a'", '<mass>', f"value='{mass[:80]}'", 'a finite number')


@pytest.mark.parametrize(('text', 'words'), [
    (inertial('-1'), ["link 'a'", '-1.0 kg', 'zero or positive']),
    (inertial().replace('<mass value="1"/>', ''), ["link 'a'", 'mass']),
    (inertial().replace('value="1"', ''), ["link 'a'", '<mass>', 'value=None', 'finite']),
    (inertial(inertia=INERTIA.replace('0.01', 'nan')), ["link 'a'", "ixy='nan'", 'finite']),
    (inertial(inertia=INERTIA.replace('0.25', 'x')), ["link 'a'", "izz='x'", 'finite']),
    (inertial(inertia=INERTIA.replace('iyz', 'iyy2')), ["link 'a'", 'iyz=None', 'finite']),
    (inertial().replace('0.1 0.2 0.3', '0.1 0.2'), ["link 'a'", "xyz='0.1 0.2'", '3 finite']),
    (inertial().replace('0.4 0.5 0.6', '0 0 nan'), ["link 'a'", "rpy='0 0 nan'", '3 finite']),
])
def test_invalid_inertials_are_refused(text, words):
    """The link, the attribute, the text as written."""
    refused(text, *words)


@pytest.mark.parametrize(('inside', 'words'), [
    ('<axis xyz="0 0 0"/>', ['zero axis', '0 0 1']),
    ('<axis xyz="0 1"/>', ["xyz='0 1'", '3 finite numbers']),
    ('<axis xyz="0 nan 1"/>', ["xyz='0 nan 1'", '3 finite numbers']),
    ('<axis/>', ['xyz=None', '3 finite numbers']),
    ('<limit lower="1" upper="-1"/>', ['[1.0, -1.0]', 'lower <= upper']),
    ('<limit lower="nan" upper="1"/>', ['[nan, 1.0]', 'lower <= upper']),
    ('<limit lower="inf" upper="inf"/>', ['[inf, inf]', 'lower <= upper']),
    ('<limit lower="-inf" upper="-inf"/>', ['[-inf, -inf]', 'lower <= upper']),
    ('<limit lower="low" upper="1"/>', ["lower='low'", 'finite number']),
    ('<limit effort="-5"/>', ['effort limit -5.0', 'positive']),
    ('<limit velocity="-5"/>', ['velocity limit -5.0', 'positive']),
    ('<limit effort="strong"/>', ["effort='strong'", 'finite number']),
    ('<dynamics damping="-1"/>', ['damping -1.0', 'zero or positive']),
    ('<dynamics friction="-1"/>', ['friction -1.0', 'zero or positive']),
    ('<dynamics damping="nan"/>', ["damping='nan'", 'finite number']),
])
def test_invalid_joints_are_refused(inside, words):
    """The joint, the value, the expected one."""
    refused(one_joint(inside), "joint 'j'", *words)


def test_joint_origins_of_two_numbers_are_refused():
    """The joint, the text as written."""
    text = one_joint('', origin='<origin xyz="1 2" rpy="0 0 0"/>')
    refused(text, "joint 'j'", '<origin>', "xyz='1 2'", '3 finite')


@pytest.mark.parametrize(('options', 'words'), [
    ({'locked': {'nobody': 0.0}}, ["'nobody'", 'turn', 'free']),
    ({'locked': {'weld': 0.0}}, ["'weld'", 'turn', 'free']),
    ({'locked': {'turn': [0.0, 1.0]}}, ["locked['turn']", '1 finite number']),
    ({'locked': {'plane': 0.0}}, ["locked['plane']", '3 finite number']),
    ({'locked': {'free': np.zeros(7)}}, ["locked['free']", 'quaternion', 'norm']),
    ({'locked': {'turn': np.nan}}, ["locked['turn']", '1 finite number']),
    ({'locked': {'turn': 'half'}}, ["locked['turn']", '1 finite number']),
    ({'base': 'flying'}, ["'flying'", 'fixed', 'floating']),
    ({'gravity': (0.0, 0.0, np.nan)}, ['gravity', '3 finite number']),
    ({'gravity': 9.81}, ['gravity', '3 finite number']),
    ({'gravity': 'down'}, ['gravity', 'down', '3 finite number']),
    ({'armature': {'turn': -1.0}}, ["armature['turn']", 'zero or', 'positive']),
    ({'armature': {'turn': np.nan}}, ["armature['turn']", 'nan']),
    ({'armature': {'turn': 'big'}}, ["armature['turn']", 'big']),
    ({'armature': {'nobody': 1.0}}, ["'nobody'", 'turn', 'free']),
    ({'friction_speed': 0.0}, ['friction_speed', 'positive']),
    ({'max_bytes': None}, ['max_bytes', 'None', 'whole number']),
    ({'max_bytes': '2 MB'}, ['max_bytes', '2 MB', 'whole number']),
])
def test_invalid_options_are_refused(options, words):
    """The option, the value, the choices."""
    refused(urdf.EVERYTHING, *words, **options)
