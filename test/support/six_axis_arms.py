"""Make six-axis arms from random Denavit-Hartenberg parameters, with a chosen structure."""

import numpy as np

from dynamics_node import Robot, RobotLink, links_from_dh

# name -> rows of the table whose a, alpha, d are zero. Row i leads from axis i to axis i + 1, in
# the standard convention, both counted from zero.
STRUCTURES = {
    'wrist': ((3, 4), (), (4,)),
    'wrist, shoulder axes meet': ((0, 3, 4), (), (4,)),
    'wrist, shoulder axes parallel': ((3, 4), (0,), (4,)),
    'spherical shoulder': ((0, 1), (), (1,)),
    'spherical shoulder, last axes parallel': ((0, 1), (4,), (1,)),
    'parallel 2 3 4': ((), (1, 2), ()),
    'parallel 2 3 4, last axes meet': ((4,), (1, 2), ()),
    'parallel 2 3 4, last axes parallel': ((), (1, 2, 4), ()),
    'parallel 3 4 5': ((), (2, 3), ()),
}
TIP = 'l5'
# An arm as robots are built: shoulder axes that meet, parallel elbow, spherical wrist.
INDUSTRIAL = np.array([[0.0, 0.4, 0.0, 0.0, 0.0, 0.0],
                       [-np.pi / 2, 0.0, -np.pi / 2, np.pi / 2, -np.pi / 2, 0.0],
                       [0.4, 0.0, 0.0, 0.5, 0.0, 0.1], [0.0] * 6])
# As UR5: axes 2, 3, 4 parallel, axes 5 and 6 meet.
UR = np.array([[0.0, -0.425, -0.392, 0.0, 0.0, 0.0],
               [np.pi / 2, 0.0, 0.0, np.pi / 2, -np.pi / 2, 0.0],
               [0.089, 0.0, 0.0, 0.109, 0.095, 0.082], [0.0] * 6])


def table(structure, rng):
    """Return a, alpha, d, theta, (4, 6); lengths of 0.2 to 0.6 m, angles away from zero."""
    rows = np.stack([rng.uniform(0.2, 0.6, 6) * rng.choice([-1.0, 1.0], 6),
                     rng.uniform(0.5, 2.5, 6) * rng.choice([-1.0, 1.0], 6),
                     rng.uniform(0.2, 0.6, 6) * rng.choice([-1.0, 1.0], 6),
                     rng.uniform(-3.0, 3.0, 6)])
    for row, zeros in zip(rows, STRUCTURES[structure]):
        row[list(zeros)] = 0.0
    return rows


def arm(rows, joint='continuous', **options):
    """Return the robot of a table; the tip is a link beside the last joint."""
    names = ['base', *(f'l{k}' for k in range(6))]
    links = [RobotLink(name, parent, joint, mass=1.0, com=(0.1, 0.0, 0.0),
                       inertia=np.eye(3) * 0.1, **options)
             for parent, name in zip(names, names[1:])]
    return Robot.from_links([RobotLink('base'), *links_from_dh(links, *rows)], compile=False)


def differences(one, other):
    """Return the greatest angle between configurations, whole turns left out, (...,)."""
    return np.abs((one - other + np.pi) % (2.0 * np.pi) - np.pi).max(axis=-1)
