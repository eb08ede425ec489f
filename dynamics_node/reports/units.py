"""In which units are the entries of v and tau? A turn and a slide differ."""

SLIDES = ('prismatic',)
# joint kind -> for each of its degrees of freedom, whether it slides
_MIXED = {'planar': (True, True, False), 'floating': (True,) * 3 + (False,) * 3}


def slides(robot):
    """Return for each degree of freedom whether it is a length, a list of booleans."""
    return [slide for joint in robot.model.joints
            for slide in _MIXED.get(joint.kind, (joint.kind in SLIDES,))]


def effort_units(robot):
    """Return the unit of each entry of tau."""
    return ['N' if slide else 'N m' for slide in slides(robot)]


def speed_units(robot):
    """Return the unit of each entry of v."""
    return ['m/s' if slide else 'rad/s' for slide in slides(robot)]
