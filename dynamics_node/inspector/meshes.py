"""Find and load the mesh files that a URDF names."""

import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from dynamics_node.files import read_file

MAX_BYTES = 50_000_000     # of one file
KINDS = {'.stl', '.obj', '.ply', '.off', '.glb', '.dae'}
PACKAGE = 'package://'


class LoadedMesh(NamedTuple):
    """A surface of triangles."""

    vertices: np.ndarray   # (n, 3) [m]
    faces: np.ndarray      # (m, 3) indices


def mesh_path(file: str, urdf_folder: Path | None, packages: Sequence[Path]) -> Path | None:
    """Return the path of a mesh that a URDF names, None if it is not found.

    Names are package://package/path, file:///path, or a path relative to the URDF. A name that
    leads out of its folder by '..', or without the suffix of a mesh, is not looked up.

    :param packages: folders in which packages are, as in `package_folders`.
    """
    in_package = file.startswith(PACKAGE)
    path = PurePosixPath(file.removeprefix(PACKAGE).removeprefix('file://'))
    if '..' in path.parts or path.suffix.lower() not in KINDS or '\0' in file:
        return None
    if in_package and path.is_absolute():
        return None
    if in_package:
        places = [folder / path for folder in packages]
    elif path.is_absolute():
        places = [Path(path)]
    else:
        places = [] if urdf_folder is None else [urdf_folder / path]
    return next((place for place in places if place.is_file()), None)


def package_folders(urdf_folder: Path | None, environment: Mapping[str, str]) -> list[Path]:
    """Return where packages may be: around the URDF, and on the paths of ROS 2 and ROS 1."""
    around = [] if urdf_folder is None else [urdf_folder, *urdf_folder.parents]
    shares = [Path(prefix) / 'share'
              for prefix in environment.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if prefix]
    sources = [Path(path)
               for path in environment.get('ROS_PACKAGE_PATH', '').split(os.pathsep) if path]
    return [*around, *shares, *sources]


def load_mesh(path: Path) -> LoadedMesh | None:
    """Return the triangles of a mesh file, None if it cannot be read.

    Only the file itself is read: textures and other files that it names are not.
    """
    import trimesh

    load: Callable = trimesh.load
    try:
        data = read_file(path, MAX_BYTES)
        mesh = load(io.BytesIO(data), file_type=path.suffix[1:].lower(), force='mesh')
        vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    except Exception:   # besides FileError: each parser of trimesh fails in its own way
        return None
    if not len(faces) or not np.isfinite(vertices).all():
        return None
    return LoadedMesh(vertices, faces)
