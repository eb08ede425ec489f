"""Test the shapes of links: of the URDF, of collision shapes, of inertias; missing meshes."""

from pathlib import Path

import numpy as np
import pytest
from support.differences import relative
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.inspector.meshes import mesh_path, package_folders
from dynamics_node.inspector.shapes import inertia_boxes, shapes_of_urdf
from dynamics_node.spatial.inertia import from_com

LINK = ('<robot name="r"><link name="a"><inertial><mass value="2"/><inertia ixx="0.3" iyy="0.2" '
        'izz="0.4" ixy="0.01" ixz="0" iyz="0"/></inertial>{}</link></robot>')
VISUAL = '<visual><origin xyz="1 2 3"/><geometry>{}</geometry></visual>'


def shapes(content):
    text = LINK.format(content)
    return shapes_of_urdf(Robot.from_urdf(text, base='floating', compile=False).model, text)


def test_the_shapes_of_the_bundled_arm_are_its_cylinders():
    model = Robot.from_urdf(ARM7, compile=False).model
    found = shapes_of_urdf(model, ARM7.read_text())
    assert len(found) == ARM7.read_text().count('<visual>')
    assert {shape.kind for shape in found} == {'cylinder'}
    assert found[0].size == (0.09, 0.16) and found[0].pose.p.tolist() == [0.0, 0.0, 0.08]


@pytest.mark.parametrize(('solid', 'kind', 'size'), [
    ('<box size="1 2 3"/>', 'box', (1.0, 2.0, 3.0)),
    ('<sphere radius="0.5"/>', 'sphere', (0.5,)),
    ('<capsule radius="0.5" length="2"/>', 'capsule', (0.5, 2.0)),
    ('<mesh filename="a.stl" scale="1 1 2"/>', 'mesh', (1.0, 1.0, 2.0))])
def test_each_kind_of_shape_is_read(solid, kind, size):
    shape, = shapes(VISUAL.format(solid))
    assert (shape.kind, shape.size) == (kind, size) and shape.pose.p.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize('solid', ['', '<box size="1 2"/>', '<box/>', '<sphere radius="nan"/>',
                                   '<teapot/>', '<mesh/>', '<cylinder radius="x" length="1"/>'])
def test_a_shape_with_wrong_numbers_is_left_out(solid):
    """A URDF whose pictures are wrong has right dynamics all the same."""
    assert shapes(VISUAL.format(solid)) == []


def test_an_inertia_box_has_the_inertia_of_the_body():
    """Moments of a solid box: m (b^2 + c^2) / 12."""
    model = Robot.from_urdf(LINK.format(''), base='floating', compile=False).model
    box, = inertia_boxes(model)
    a, b, c = np.square(box.size)
    moments = 2.0 / 12.0 * np.array([b + c, a + c, a + b])
    found = from_com(2.0, box.pose.p, box.pose.R @ np.diag(moments) @ box.pose.R.T)
    assert relative(found.tensor_about_com(), model.inertias[0].tensor_about_com()) < EXACT_MATHS


def test_meshes_are_found_in_packages_beside_the_urdf_and_by_their_path(tmp_path):
    for name in ('share/pack/meshes/a.stl', 'robot/b.STL'):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    packages = package_folders(None, {'AMENT_PREFIX_PATH': str(tmp_path)})
    a, b = tmp_path / 'share/pack/meshes/a.stl', tmp_path / 'robot/b.STL'
    assert mesh_path('package://pack/meshes/a.stl', None, packages) == a
    assert mesh_path('b.STL', tmp_path / 'robot', ()) == b
    assert mesh_path(f'file://{b}', None, ()) == b
    assert mesh_path('package://other/meshes/a.stl', None, packages) is None
    assert mesh_path('b.STL', None, ()) is None


@pytest.mark.parametrize('name', ['package://pack/../../secret.stl', '../secret.stl',
                                  'package:///{}/secret.stl', 'file://{}/secret.txt',
                                  'secret.stl\0.png', 'http://host/secret.stl'])
def test_no_other_file_is_looked_up(tmp_path, name):
    """Out of the folder, an absolute path in a package, another kind of file, another machine."""
    for secret in ('secret.stl', 'secret.txt'):
        (tmp_path / secret).touch()
    folder = tmp_path / 'pack' / 'urdf'
    folder.mkdir(parents=True)
    assert mesh_path(name.format(tmp_path), folder, [Path('/')]) is None
