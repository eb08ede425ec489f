"""Test mutated URDFs: each is refused, or loads and gives finite results or a refusal."""

import copy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree
from support.urdf_pieces import EVERYTHING, LIMIT, joint, link, mimic, robot

from dynamics_node import DynamicsError, Robot

pytestmark = pytest.mark.filterwarnings('error::RuntimeWarning')
reproducible = settings(max_examples=300, deadline=None, derandomize=True,
                        suppress_health_check=list(HealthCheck))

# What a description for simulators and screens looks like.
DRESSED = robot(
    '<material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>',
    link('base').replace('</link>', '<visual><geometry><mesh filename="package://a/b.stl"/>'
                         '</geometry></visual></link>'),
    link('arm').replace('</link>', '<collision><origin xyz="0 0 1"/><geometry><box size="1 1 1"/>'
                        '</geometry></collision></link>'),
    link('hand'), link('finger', 0.1), link('thumb', 0.1), link('camera', None),
    joint('shoulder', 'base', 'arm', inside=LIMIT + '<axis xyz="0 0 1"/><dynamics damping="1"/>'
          '<safety_controller k_velocity="1"/><calibration rising="0"/>'),
    joint('wrist', 'arm', 'hand', 'continuous', '<axis xyz="1 0 0"/>'),
    joint('grip', 'hand', 'finger', 'prismatic', LIMIT + '<axis xyz="0 1 0"/>'),
    joint('oppose', 'hand', 'thumb', 'prismatic', mimic('grip', -1, 0.01)),
    joint('mount', 'hand', 'camera', 'fixed', '<axis xyz="0 0 0"/>'),
    '<transmission name="t"><joint name="shoulder"/></transmission>',
    '<gazebo reference="arm"><mu1>0.2</mu1></gazebo>',
    '<ros2_control name="c"><joint name="wrist"/></ros2_control>',
)
CART = robot(link('floor'), link('cart'), link('pole'),
             joint('rail', 'floor', 'cart', 'planar', '<axis xyz="0 1 1"/>'),
             joint('hinge', 'cart', 'pole', 'continuous', '<axis xyz="0 1 0"/>'))
TEXTS = st.sampled_from([EVERYTHING, DRESSED, CART])
ASCII = st.text('0123456789.e- "=/xyz', max_size=3).map(str.encode)

NUMBERS = ['nan', 'inf', '-inf', '0', '-1', '1e308', '-1e308', '1e160', '1e30', '-1e30', '1e-160',
           '5e-324', '9' * 400]
WORDS = ['', ' ', 'fast', '1,5', '0x1p3', '٣', '\u202e', '😀', '${x}', '1 0', '0 0 0', 'nan 0 0',
         '0 0 1 0', 'revolute', 'continuous', 'prismatic', 'planar', 'floating', 'fixed', 'base',
         'a', 'turn', 'free', 'follow', 'follow_on', 'weld', 'plane', 'arm', 'grip', 'oppose',
         'floating_base']
TAGS = ['robot', 'link', 'joint', 'inertial', 'origin', 'mass', 'inertia', 'parent', 'child',
        'axis', 'limit', 'mimic', 'dynamics', 'visual', 'gazebo', 'something']
KEYS = ['name', 'type', 'link', 'joint', 'value', 'xyz', 'rpy', 'ixx', 'izz', 'lower', 'upper',
        'effort', 'velocity', 'damping', 'friction', 'multiplier', 'offset', 'version', 'other']


def set_value(draw, element):
    """Give an attribute, of its own or foreign, another value."""
    key = draw(st.sampled_from(element.keys() or KEYS) | st.sampled_from(KEYS))
    element.set(key, draw(st.sampled_from(NUMBERS + WORDS) | st.integers().map(str)))


def set_number(draw, element):
    """Change one of the numbers in an attribute."""
    if element.keys():
        key = draw(st.sampled_from(element.keys()))
        words = element.get(key).split() or ['']
        words[draw(st.integers(0, len(words) - 1))] = draw(
            st.sampled_from(NUMBERS) | st.floats().map(repr))
        element.set(key, ' '.join(words))


def drop_value(draw, element):
    """Delete an attribute."""
    if element.keys():
        del element.attrib[draw(st.sampled_from(element.keys()))]


def delete(draw, element):
    """Delete an element with all that is in it."""
    if element.getparent() is not None:
        element.getparent().remove(element)


def duplicate(draw, element):
    """Put a copy of an element beside it."""
    if element.getparent() is not None:
        element.addnext(copy.deepcopy(element))


def rename(draw, element):
    """Make it another element."""
    element.tag = draw(st.sampled_from(TAGS))


def swap(draw, element):
    """Exchange the places of two elements, neither within the other."""
    other = draw(st.sampled_from(list(element.getroottree().iter('*'))))
    if element not in other.iter() and other not in element.iter():
        place = etree.Element('place')
        other.getparent().replace(other, place)
        element.getparent().replace(element, other)
        place.getparent().replace(place, element)


def move(draw, element):
    """Put an element into another."""
    other = draw(st.sampled_from(list(element.getroottree().iter('*'))))
    if other not in element.iter():
        other.append(element)


MUTATIONS = [set_value, set_number, set_number, set_number, drop_value, delete, duplicate, rename,
             swap, move]


@st.composite
def mutated(draw):
    """Return a URDF text with one to four mutations, still well-formed."""
    root = etree.fromstring(draw(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        element = draw(st.sampled_from(list(root.iter('*'))))
        draw(st.sampled_from(MUTATIONS))(draw, element)
    return etree.tostring(root, encoding='unicode')


@st.composite
def damaged(draw):
    """Return the bytes of a URDF, cut short and with others thrown in."""
    raw = bytearray(draw(TEXTS).encode())
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(raw)))
        raw[start:start + draw(st.sampled_from([0, 1, 1, 30]))] = draw(
            ASCII | st.binary(max_size=8) | st.sampled_from([
                b'<', b'>', b'"', b'&#0;', b'&lt;', b'<!--', b'<![CDATA[', b'\0', b'\xff']))
    return bytes(raw[:draw(st.just(len(raw)) | st.integers(0, len(raw)))])


def loads_or_is_refused(source, base, seed):
    """Check the claim of this file on one source; any other exception passes through."""
    try:
        made = Robot.from_urdf(source, base)
    except DynamicsError as error:
        assert str(error)
        return
    assert made.name in str(made.report())
    rng = np.random.default_rng(seed)
    v, a, tau = rng.normal(size=(3, made.nv))
    q = result_or_refusal(made.integrate, made.neutral(), v)
    if q is not None:
        result_or_refusal(made.inverse_dynamics, q, v, a)
        result_or_refusal(made.forward_dynamics, q, v, tau)


def result_or_refusal(method, *arguments):
    """Return the result, which is finite, or None where it is refused."""
    try:
        result = method(*arguments)
    except DynamicsError:
        return None
    assert np.isfinite(result).all()
    return result


@pytest.mark.parametrize('source', [EVERYTHING, DRESSED, CART])
@pytest.mark.parametrize('base', ['fixed', 'floating'])
def test_every_text_loads_without_mutation(source, base):
    """So that the tests below mean something."""
    made = Robot.from_urdf(source, base)
    zero = np.zeros(made.nv)
    assert np.isfinite(made.forward_dynamics(made.neutral(), zero, zero)).all()


@reproducible
@given(mutated(), st.sampled_from(['fixed', 'floating']), st.integers(0, 9))
def test_mutated_text_loads_or_is_refused(text, base, seed):
    """Attributes and elements changed, deleted, repeated, renamed, swapped."""
    loads_or_is_refused(text, base, seed)


@reproducible
@given(damaged(), st.sampled_from(['fixed', 'floating']))
def test_damaged_bytes_load_or_are_refused(raw, base):
    """Noise and truncation."""
    loads_or_is_refused(raw, base, seed=0)


@reproducible
@given(st.text(max_size=60) | st.binary(max_size=60)
       | st.text('<>/="robtlinkaeme! -?', max_size=40).map('<robot>{}'.format))
def test_arbitrary_texts_are_refused(source):
    """Short texts, none of which is a robot."""
    with pytest.raises(DynamicsError):
        Robot.from_urdf(source)
