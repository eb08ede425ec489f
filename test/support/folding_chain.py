"""Define a planar chain with shapes, and a motion in which its last link meets its first."""

import numpy as np

LINK = """<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
ixy="0" ixz="0" iyz="0"/></inertial><{element}><origin xyz="0.5 0 0" rpy="0 1.5707963267948966 0"/>
<geometry><{shape}/></geometry></{element}></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="100" velocity="3"/>
</joint>"""
CAPSULE = 'capsule radius="0.05" length="0.8"'
BOX = 'box size="0.1 0.1 0.9"'


def chain(shape=CAPSULE, element='collision'):
    """Return the URDF of a planar chain of three links of 1 m."""
    links = [LINK.format(name=f'link_{k}', shape=shape, element=element) for k in (1, 2, 3)]
    joints = [JOINT.format(name=f'joint_{k}', parent=parent, child=f'link_{k}', x=x)
              for k, parent, x in ((1, 'base', 0), (2, 'link_1', 1), (3, 'link_2', 1))]
    return f'<robot name="chain"><link name="base"/>{"".join((*links, *joints))}</robot>'


def folding(count=601):
    """Return (times, q): the last joint is at its time, the one before at 2 rad."""
    times = np.linspace(0.0, 3.0, count)
    return times, np.column_stack([0.3 * np.sin(times), np.full(count, 2.0), times])
