"""Convert a URDF to a MuJoCo model: bodies and joints, optional loads and a table.

Only joints of one value (revolute, continuous, prismatic) are simulated: a URDF with a mimic,
planar or floating joint is refused. Lock it, or take it out.
"""

from xml.etree import ElementTree

import mujoco
import numpy as np

from dynamics_node.model.urdf_text import urdf_text

ONE_VALUE = ('revolute', 'continuous', 'prismatic', 'fixed')
GROUND = 'ground'
# Inertias as they are written, or a refusal; links stay bodies, so that each keeps its name.
COMPILER = {'balanceinertia': 'false', 'boundmass': '0', 'boundinertia': '0', 'fusestatic': 'false',
            'discardvisual': 'false', 'inertiafromgeom': 'false'}
# MuJoCo's contacts are springs, of this time constant; and a foot creeps under a tangential force
# unless that is answered much more stiffly than a normal one.
STIFF, NO_CREEP = 4e-3, 100.0


def read_spec(urdf, shapes=False):
    """Return the MjSpec of a URDF, text or path.

    :param shapes: keep boxes, cylinders and spheres of <visual>, for pictures. Meshes are always
        left out, so their files need not exist.
    :raise ValueError: MuJoCo refuses it, or a joint has not exactly one value of its own.
    """
    root = ElementTree.fromstring(urdf_text(urdf))
    odd = [joint.get('name') for joint in root.findall('joint')
           if joint.get('type') not in ONE_VALUE or joint.find('mimic') is not None]
    if odd:
        raise ValueError(f'joints {", ".join(odd)}: mimic, planar and floating joints are not '
                         'simulated; lock them')
    for part in ('material', 'transmission', 'gazebo', 'mujoco', 'ros2_control'):
        _cut(root, root.findall(part))
    for link in root.findall('link'):
        _cut(link, link.findall('collision'))
        _cut(link, [visual for visual in link.findall('visual')
                    if not shapes or visual.find('geometry/mesh') is not None])
        for visual in link.findall('visual'):
            _cut(visual, visual.findall('material'))
    ElementTree.SubElement(ElementTree.SubElement(root, 'mujoco'), 'compiler', COMPILER)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding='unicode'))
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    return spec


def add_load(spec, name, frame, mass, com=(0.0, 0.0, 0.0), inertia=None):
    """Fix a load to a link: a body of its own, without a joint.

    :param com: centre of mass in the link's frame [m].
    :param inertia: 3 x 3 about that centre, in the link's axes [kg m^2]; None is a point mass.
    """
    link = spec.body(frame)
    if link is None:
        raise ValueError(f"no link '{frame}'; the robot has "
                         f'{", ".join(body.name for body in spec.bodies[1:])}')
    moments, axes = np.linalg.eigh(np.zeros((3, 3)) if inertia is None else np.asarray(inertia))
    axes[:, 2] *= np.linalg.det(axes)  # principal axes, right-handed
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, axes.ravel())
    return link.add_body(name=f'load {name}', mass=mass, ipos=com, inertia=moments,
                         iquat=quaternion, explicitinertial=True)


def let_touch(spec, link, friction, radius, height=0.0):
    """Let a link touch a level ground with a sphere about its origin; nothing else touches it.

    :param friction: coefficient of sliding; 0 is none.
    :param radius, height: of the sphere, and of the ground in the root frame [m].
    """
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, NO_CREEP
    touches = {'contype': 1, 'conaffinity': 1, 'condim': 3 if friction else 1,
               'friction': [friction, 0.0, 0.0], 'solref': [STIFF, 1.0]}
    if spec.geom(GROUND) is None:
        spec.worldbody.add_geom(name=GROUND, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2, 2, 0.1],
                                pos=[0.0, 0.0, height], **touches)
    spec.body(link).add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0], **touches)


def force_of_ground(model, data, link):
    """Return the force of the ground on a link in the last time step, in world axes, (3,) [N]."""
    force, wrench, body = np.zeros(3), np.zeros(6), model.body(link).id
    for k in range(data.ncon):
        contact = data.contact[k]
        bodies = model.geom_bodyid[contact.geom]
        if body in bodies:   # along the contact's axes, by the first body on the second
            mujoco.mj_contactForce(model, data, k, wrench)
            sign = 1.0 if bodies[1] == body else -1.0
            force += sign * contact.frame.reshape(3, 3).T @ wrench[:3]
    return force


def _cut(element, parts):
    for part in parts:
        element.remove(part)
