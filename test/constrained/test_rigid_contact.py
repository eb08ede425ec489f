"""Test the definition of rigid contacts."""

import math

import pytest

from dynamics_node import DynamicsError, RigidContact
from dynamics_node.constrained.rigid_contact import normal_rows


def test_a_contact_that_sticks_has_three_rows_and_a_sliding_one_has_one():
    """The normal is the last row of both."""
    sticks, slides = RigidContact('a', 'foot'), RigidContact('b', 'foot', friction=0)
    assert (sticks.closed.kind, slides.closed.kind) == ('point_contact', 'point_on_plane')
    assert normal_rows([sticks, slides, sticks]) == [2, 3, 6]


@pytest.mark.parametrize(('fields', 'words'), [
    ({'name': ''}, 'the name of a rigid contact'), ({'frame': 3}, 'frame is 3'),
    ({'restitution': 1.5}, 'restitution is 1.5'), ({'restitution': math.nan}, 'restitution'),
    ({'friction': 0.5}, 'a SoftContact has a finite coefficient'),
    ({'friction': math.nan}, 'friction is nan'), ({'friction': '0'}, 'friction is'),
    ({'point': (0, 0)}, 'point'), ({'height': math.inf}, 'height'),
])
def test_an_invalid_field_is_refused(fields, words):
    """By name."""
    with pytest.raises(DynamicsError) as refusal:
        RigidContact(**{'name': 'a', 'frame': 'foot', **fields})
    assert words in str(refusal.value)
