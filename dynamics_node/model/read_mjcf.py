"""Read an MJCF, MuJoCo's model format, as RobotLinks; MuJoCo compiles it.

MuJoCo's compiler resolves defaults, includes, angles, frames and the inertias of geoms; the links
are read from its result. A body with several joints becomes a chain of links without mass, the
last of which is the body. The notes say what is not carried over.
"""

import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError, ModelError, shown
from dynamics_node.model.links import RobotLink
from dynamics_node.model.urdf_text import is_path
from dynamics_node.spatial import se3, so3
from dynamics_node.spatial.se3 import Pose

JOINT_TYPES = {'free': 'floating', 'slide': 'prismatic', 'hinge': 'revolute'}
# Counts of MjModel that have no effect on the links: what they count.
LEFT_OUT = {'ntendon': 'tendons', 'neq': 'equality constraints', 'nu': 'actuators',
            'nflex': 'flexible bodies', 'nmocap': 'mocap bodies, fixed here',
            'nplugin': 'plugins', 'nsensor': 'sensors', 'nsite': 'sites',
            'ngeom': 'geoms: shapes and contacts; their inertia is in the links'}


class MjcfRobot(NamedTuple):
    """What an MJCF contains, as arguments of Robot.from_links.

    Robot.from_links(found.links, found.name, found.notes, gravity=found.gravity)
    """

    links: tuple[RobotLink, ...]   # the first is 'world'
    name: str
    notes: tuple[str, ...]         # what is not carried over, one sentence each
    gravity: tuple[float, ...]     # (3,) [m/s^2]


def read_mjcf(source: Any) -> MjcfRobot:
    """Return the links of an MJCF: of a text, of a file, or of a compiled mujoco.MjModel.

    :raise ModelError: MuJoCo refuses it, or it has a ball joint.
    :raise DynamicsError: MuJoCo is not installed.
    """
    try:
        import mujoco
    except ImportError as error:
        raise DynamicsError('an MJCF is compiled by MuJoCo, which is not installed: '
                            'pip install mujoco') from error
    model = source if isinstance(source, mujoco.MjModel) else _compiled(mujoco, source)
    names = _Names(mujoco, model)
    links, notes = [RobotLink(names.body(0))], list(_notes(model))
    for body in range(1, model.nbody):
        links += _links(model, names, body)
        notes += _joint_notes(model, names, body)
    name = bytes(model.names).split(b'\0', 1)[0].decode() or 'robot'
    return MjcfRobot(tuple(links), name, tuple(notes), tuple(model.opt.gravity.tolist()))


def _compiled(mujoco: ModuleType, source: Any) -> Any:
    if not isinstance(source, (str, os.PathLike)):
        raise ModelError(f'source is {shown(source)}; expected the text or the path of an MJCF, or '
                         'a mujoco.MjModel')
    try:
        if is_path(source):
            return mujoco.MjModel.from_xml_path(os.fspath(source))
        return mujoco.MjModel.from_xml_string(source)
    except Exception as error:  # ValueError, and others for texts that are no UTF-8
        raise ModelError(f'MuJoCo refuses the MJCF: {" ".join(str(error).split())}') from error


class _Names:
    """Names of bodies and joints; what has none is named by its number."""

    def __init__(self, mujoco: ModuleType, model: Any) -> None:
        self.objects, self.name = mujoco.mjtObj, mujoco.mj_id2name
        self.types, self.model = mujoco.mjtJoint, model

    def body(self, i: int) -> str:
        return self.name(self.model, self.objects.mjOBJ_BODY, i) or f'body_{i}'

    def joint(self, j: int) -> str:
        return self.name(self.model, self.objects.mjOBJ_JOINT, j) or f'joint_{j}'

    def joint_type(self, j: int) -> str:
        return self.types(self.model.jnt_type[j]).name.removeprefix('mjJNT_').lower()


# Links ----------------------------------------------------------------------------------------

def _links(model: Any, names: _Names, body: int) -> list[RobotLink]:
    """Return the links of a body: one for each of its joints, the last with its inertia."""
    name, parent = names.body(body), names.body(model.body_parentid[body])
    placement = _pose(model.body_pos[body], model.body_quat[body])
    axes = _pose(np.zeros(3), model.body_iquat[body]).R
    inertia = {'mass': float(model.body_mass[body]), 'com': model.body_ipos[body],
               'inertia': axes @ np.diag(model.body_inertia[body]) @ axes.T}
    joints = _joints_of(model, body)
    if not joints:
        return [RobotLink(name, parent, placement=placement.matrix(), **inertia)]
    made = []
    for j in joints:
        last = j == joints[-1]
        link = name if last else f'{name}_{names.joint(j)}'
        fields = _joint(model, names, j)
        # A free joint's coordinates are the pose in the world, whatever the body's pose is.
        pose = se3.IDENTITY if fields['joint'] == 'floating' else placement
        made.append(RobotLink(link, parent, placement=pose.matrix(), **fields,
                              **(inertia if last else {})))
        parent, placement = link, se3.IDENTITY
    return made


def _joints_of(model: Any, body: int) -> range:
    first = model.body_jntadr[body]
    return range(first, first + model.body_jntnum[body])


def _joint(model: Any, names: _Names, j: int) -> dict[str, Any]:
    """Return the fields of a RobotLink that are of its joint."""
    kind = names.joint_type(j)
    if kind not in JOINT_TYPES:
        raise ModelError(f"joint '{names.joint(j)}' is of type {kind}, which has no counterpart "
                         f'here; these have: {", ".join(JOINT_TYPES)}')
    dof = model.jnt_dofadr[j]
    fields = {'joint': JOINT_TYPES[kind], 'joint_name': names.joint(j),
              'axis': model.jnt_axis[j], 'anchor': model.jnt_pos[j],
              'damping': float(model.dof_damping[dof]), 'armature': float(model.dof_armature[dof]),
              'friction': float(model.dof_frictionloss[dof])}
    if model.jnt_limited[j]:
        lower, upper = model.jnt_range[j] - model.qpos0[model.jnt_qposadr[j]]
        fields |= {'lower': float(lower), 'upper': float(upper)}
    elif kind == 'hinge':
        fields['joint'] = 'continuous'
    if model.jnt_actfrclimited[j]:
        effort = float(np.abs(model.jnt_actfrcrange[j]).min())
        fields['max_effort'] = effort or np.nan
    return fields


def _pose(position: np.ndarray, wxyz: np.ndarray) -> Pose:
    w, x, y, z = wxyz / np.linalg.norm(wxyz)
    R = so3.from_quaternion(np.array([x, y, z, w]))
    return se3.Pose(se3.right_angles_exact(R), np.array(position))


# What is not carried over ---------------------------------------------------------------------

def _notes(model: Any) -> Iterator[str]:
    for key, what in LEFT_OUT.items():
        if getattr(model, key):
            yield f'not carried over: {getattr(model, key)} {what}'
    if model.opt.density or model.opt.viscosity or model.opt.wind.any():
        yield 'not carried over: forces of a fluid (density, viscosity, wind)'
    if model.body_gravcomp.any():
        yield 'not carried over: gravity compensation of bodies (gravcomp)'


def _joint_notes(model: Any, names: _Names, body: int) -> Iterator[str]:
    for j in _joints_of(model, body):
        where, dof = f"joint '{names.joint(j)}'", model.jnt_dofadr[j]
        free = names.joint_type(j) == 'free'
        zero = 0.0 if free else float(model.qpos0[model.jnt_qposadr[j]])
        if zero:
            yield f'{where} has the reference {zero:g}: its position here is less by this'
        if model.jnt_stiffness[j] or _nonlinear(model, 'jnt_stiffnesspoly', j):
            yield f'not carried over: the spring of {where}'
        if _nonlinear(model, 'dof_dampingpoly', dof):
            yield f'not carried over: the nonlinear damping of {where}'
        if free and model.dof_armature[dof]:
            yield f'{where} has armature, which acts on velocities in body axes here'


def _nonlinear(model: Any, key: str, i: int) -> bool:
    """Return whether a row of coefficients is not zero; older versions of MuJoCo have none."""
    return hasattr(model, key) and getattr(model, key)[i].any()
