"""Make the triangles of each body: of meshes where they are found, of simple solids elsewhere."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.inspector.meshes import LoadedMesh, load_mesh, mesh_path, package_folders
from dynamics_node.inspector.shapes import Shape, bones, inertia_boxes, shapes_of_urdf
from dynamics_node.model.model import Model


class Solid(NamedTuple):
    """Triangles fixed to a body, in its frame."""

    body: int
    mesh: LoadedMesh
    substitute: bool   # made from inertias, since the URDF has no usable shape


class Solids(NamedTuple):
    """What is drawn of a robot."""

    solids: list[Solid]
    missing: list[str]   # meshes that were not found or not readable, as the URDF names them


def solids_of(model: Model, text: str, urdf_folder: Path | None = None) -> Solids:
    """Return the Solids of a robot; bodies without any are drawn as boxes with their inertia.

    A link whose visual mesh is not found is drawn by its collision shapes.

    :param text: the URDF.
    :param urdf_folder: where it is, None if it came over a topic.
    """
    packages = package_folders(urdf_folder, os.environ)
    visual, missing = _loaded(shapes_of_urdf(model, text), urdf_folder, packages)
    drawn = {solid.body for solid in visual}
    collision, _ = _loaded((shape for shape in shapes_of_urdf(model, text, 'collision')
                            if shape.body not in drawn), urdf_folder, packages)
    drawn |= {solid.body for solid in collision}
    boxes, _ = _loaded((shape for shape in (*inertia_boxes(model), *bones(model))
                        if shape.body not in drawn), None, ())
    return Solids([*visual, *collision, *boxes], missing)


def _loaded(shapes: Iterable[Shape], urdf_folder: Path | None, packages: Sequence[Path]
            ) -> tuple[list[Solid], list[str]]:
    """Return the solids of some shapes, and the names of the meshes that are missing."""
    solids, missing = [], []
    for shape in shapes:
        mesh = _triangles(shape, urdf_folder, packages)
        if mesh is None:
            missing.append(shape.file)
        else:
            solids.append(Solid(shape.body, mesh, shape.substitute))
    return solids, missing


def _triangles(shape: Shape, urdf_folder: Path | None, packages: Sequence[Path]
               ) -> LoadedMesh | None:
    """Return the triangles of a shape in the frame of its body; None for a missing mesh."""
    mesh: LoadedMesh | None
    if shape.kind == 'mesh':
        path = mesh_path(shape.file, urdf_folder, packages)
        mesh = None if path is None else load_mesh(path)
        if mesh is not None:
            mesh = LoadedMesh(mesh.vertices * np.array(shape.size), mesh.faces)
    else:
        mesh = _primitive(shape.kind, shape.size)
    if mesh is None:
        return None
    return LoadedMesh(mesh.vertices @ shape.pose.R.T + shape.pose.p, mesh.faces)


def _primitive(kind: str, size: tuple[float, ...]) -> LoadedMesh:
    from trimesh import creation
    made = (creation.box(size) if kind == 'box'
            else creation.icosphere(subdivisions=2, radius=size[0]) if kind == 'sphere'
            else creation.cylinder(radius=size[0], height=size[1], sections=24)
            if kind == 'cylinder' else _capsule(*size))
    return LoadedMesh(np.asarray(made.vertices), np.asarray(made.faces))


def _capsule(radius: float, length: float) -> Any:
    """Return a capsule whose middle is the origin."""
    from trimesh import creation
    made = creation.capsule(radius=radius, height=length, count=(12, 12))
    made.apply_translation(-made.bounds.mean(axis=0))
    return made
