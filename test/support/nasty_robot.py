"""A robot whose every name is markup: two joints, one of them slides."""

from xml.sax.saxutils import quoteattr

NASTY = '<script>alert("1")</script>&amp;\'</svg>'

_ROBOT, _BASE, _ARM, _SLIDE, _TURN, _LIFT = (quoteattr(f'{NASTY}{k}') for k in range(6))
_INERTIAL = ('<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" '
             'iyz="0"/></inertial>')
_LIMIT = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="2"/>'
NASTY_URDF = (
    f'<robot name={_ROBOT}><link name={_BASE}/><link name={_ARM}>{_INERTIAL}</link>'
    f'<link name={_SLIDE}>{_INERTIAL}</link><joint name={_TURN} type="revolute">'
    f'<parent link={_BASE}/><child link={_ARM}/><origin xyz="0 0 1"/>{_LIMIT}</joint>'
    f'<joint name={_LIFT} type="prismatic"><parent link={_ARM}/><child link={_SLIDE}/>{_LIMIT}'
    '</joint></robot>')
