"""Define small URDF texts to build robots from, valid and invalid."""

INERTIA = 'ixx="0.1" ixy="0.01" ixz="0.02" iyy="0.2" iyz="0.03" izz="0.25"'
LIMIT = '<limit lower="-2" upper="2" effort="10" velocity="3"/>'


def robot(*parts, name='test'):
    """Return a URDF text of these links and joints."""
    return '\n'.join([f'<robot name="{name}">', *parts, '</robot>'])


def link(name, mass=1.0, inertia=INERTIA, origin='<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>'):
    """Return a link; without <inertial> where mass is None."""
    if mass is None:
        return f'<link name="{name}"/>'
    return (f'<link name="{name}"><inertial>{origin}<mass value="{mass}"/>'
            f'<inertia {inertia}/></inertial></link>')


def joint(name, parent, child, kind='revolute', inside=LIMIT + '<axis xyz="0 0 1"/>',
          origin='<origin xyz="0 0.1 0.5" rpy="0.3 -0.2 0.1"/>'):
    """Return a joint; `inside` holds its other elements."""
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/>{origin}{inside}</joint>')


def mimic(master, multiplier=1.0, offset=0.0):
    """Return the elements inside a joint that follows another."""
    return (f'{LIMIT}<axis xyz="0 1 0"/><mimic joint="{master}" multiplier="{multiplier}" '
            f'offset="{offset}"/>')


def arm(*parts):
    """Return a URDF text: base, shoulder joint, upper link; and what else is given."""
    return robot(link('base'), link('upper'), joint('shoulder', 'base', 'upper'), *parts)


# Every joint type, a mimic chain across joint types, damping, a link without inertia.
EVERYTHING = robot(
    link('base'), link('a'), link('b'), link('c'), link('d'), link('e'), link('f'), link('g'),
    link('h'), link('tool', mass=None),
    joint('turn', 'base', 'a', inside=LIMIT + '<axis xyz="0 1 1"/>'
          '<dynamics damping="0.5" friction="0.2"/>'),
    joint('spin', 'a', 'b', 'continuous', '<axis xyz="1 0 0"/>'),
    joint('slide', 'b', 'c', 'prismatic', LIMIT + '<axis xyz="0 0 2"/>'),
    joint('weld', 'c', 'd', 'fixed', ''),
    joint('plane', 'base', 'e', 'planar', '<axis xyz="0 0 1"/>'),
    joint('free', 'e', 'f', 'floating', ''),
    joint('follow', 'd', 'g', 'prismatic', mimic('turn', 0.1, 0.05)),
    joint('follow_on', 'g', 'h', 'revolute', mimic('follow', -2.0, 0.3)),
    joint('flange', 'h', 'tool', 'fixed', ''),
)
