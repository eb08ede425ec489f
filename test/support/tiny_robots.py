"""Define robots of a few joints, as URDF texts."""

INERTIAL = ('<inertial><origin xyz="0.1 0.02 0.3"/><mass value="2"/><inertia ixx="0.03" '
            'ixy="0.002" ixz="0.001" iyy="0.04" iyz="0.003" izz="0.05"/></inertial>')


def chain(*joints, name='chain'):
    """Return a URDF whose joints follow each other; the link after joint j is called j_link.

    :param joints: (name, type), or (name, type, more XML in the joint).
    """
    parts, parent = [f'<robot name="{name}"><link name="base">{INERTIAL}</link>'], 'base'
    for joint, kind, *more in joints:
        child = f'{joint}_link'
        parts.append(
            f'<link name="{child}">{INERTIAL}</link><joint name="{joint}" type="{kind}">'
            f'<parent link="{parent}"/><child link="{child}"/>'
            '<origin xyz="0.1 -0.2 0.4" rpy="0.3 -0.4 0.5"/><axis xyz="0 0.6 0.8"/>'
            '<limit lower="-2" upper="2" effort="50" velocity="3"/>'
            '<dynamics damping="0.5" friction="0.25"/>'
            f'{"".join(more)}</joint>')
        parent = child
    return ''.join([*parts, '</robot>'])


TWO_JOINTS = chain(('shoulder', 'revolute'), ('elbow', 'revolute'))
# its last link has no inertia: the mass matrix is singular
MASSLESS = TWO_JOINTS.replace(f'<link name="elbow_link">{INERTIAL}</link>',
                              '<link name="elbow_link"/>')
# a coordinate of each kind that a JointState can hold, and what it cannot
EVERY_KIND = chain(('lift', 'prismatic'), ('turn', 'continuous'), ('drift', 'planar'),
                   ('elbow', 'revolute'), ('flange', 'fixed'),
                   ('follower', 'revolute', '<mimic joint="elbow" multiplier="-2" offset="0.1"/>'))
NOTHING_MOVES = chain(('flange', 'fixed'), name='pedestal')
