"""Test the triangles of bodies; a missing mesh is named, and something else is drawn."""

import numpy as np
import pytest

from dynamics_node import Robot
from dynamics_node.inspector.solids import solids_of

pytest.importorskip('trimesh', reason='the inspector is optional: pip install viser')

URDF = """<robot name="r"><link name="a"><inertial><mass value="2"/>
  <inertia ixx="0.3" iyy="0.2" izz="0.4" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="a.obj" scale="2 1 1"/></geometry></visual>{}</link></robot>"""
TRIANGLE = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n'


def drawn(folder, more=''):
    text = URDF.format(more)
    return solids_of(Robot.from_urdf(text, base='floating', compile=False).model, text, folder)


def test_a_mesh_is_loaded_and_scaled(tmp_path):
    (tmp_path / 'a.obj').write_text(TRIANGLE)
    found = drawn(tmp_path)
    assert found.missing == []
    solid, = found.solids
    assert sorted(solid.mesh.vertices.tolist()) == [[0, 0, 0], [0, 1, 0], [2, 0, 0]]


@pytest.mark.parametrize('content', [None, '', 'no mesh', TRIANGLE.replace('1 0 0', 'nan 0 0')])
def test_a_mesh_that_cannot_be_read_is_replaced_by_the_inertia(tmp_path, content):
    if content is not None:
        (tmp_path / 'a.obj').write_text(content)
    found = drawn(tmp_path)
    assert found.missing == ['a.obj'] and [solid.substitute for solid in found.solids] == [True]


def test_collision_shapes_come_before_inertias(tmp_path):
    ball = '<collision><geometry><sphere radius="0.5"/></geometry></collision>'
    solid, = drawn(tmp_path, ball).solids
    assert not solid.substitute
    assert np.linalg.norm(solid.mesh.vertices, axis=1) == pytest.approx(0.5)
