"""Load the real robots of PyPI's example-robot-data, and read their mimic joints.

Nothing here asks dynamics_node: the XML is read once more, by the standard library.
"""

from dataclasses import dataclass
from functools import cache
from importlib import metadata
from xml.etree import ElementTree

BASE = {'fixed': (0, 0), 'floating': (7, 6)}   # coordinates and velocities of the base
MOVING = ('revolute', 'continuous', 'prismatic')
# Why MuJoCo refuses some, in its words: a link's inertia is one that no body has.
NO_POSITIVE_INERTIA = 'inertia must have positive eigenvalues'
NO_TRIANGLE = 'inertia must satisfy A + B >= C'


@dataclass(frozen=True, eq=False)
class Example:
    """A robot, its base, and the reason why MuJoCo refuses it, if it does."""

    name: str
    file: str            # below robots/ of example-robot-data
    kind: str
    base: str = 'fixed'
    refused: str = ''    # by MuJoCo

    def __str__(self):
        return self.name

    @property
    def path(self):
        """The path of the URDF file, wherever pip has put it."""
        return next(path for path in _urdf_paths()
                    if str(path).endswith(f'example-robot-data/robots/{self.file}'))

    @property
    def urdf(self):
        """The argument of Robot.from_urdf: the path of the file."""
        return self.path

    def xml(self):
        """Return the root element of the URDF."""
        return ElementTree.parse(self.path).getroot()

    def text(self):
        """Return the URDF as a text."""
        return ElementTree.tostring(self.xml(), encoding='unicode')

    def link_names(self):
        """Return the names of all links, in the order of the text."""
        return [link.get('name') for link in self.xml().findall('link')]

    def mimics(self):
        """Return {moving joint: (its independent joint, ratio, offset)}; itself, 1, 0 if free."""
        joints = {joint.get('name'): joint for joint in self.xml().findall('joint')
                  if joint.get('type') in MOVING}
        return {name: _independent(joints, name) for name in joints}


@cache
def _urdf_paths():
    """Return the paths of all URDF files of the package, whose list has thousands of files."""
    data = metadata.distribution('example-robot-data')
    return [data.locate_file(file) for file in data.files if file.suffix == '.urdf']


def _independent(joints, name):
    mimic = joints[name].find('mimic')
    if mimic is None:
        return name, 1.0, 0.0
    ratio, offset = float(mimic.get('multiplier', 1.0)), float(mimic.get('offset', 0.0))
    master, its_ratio, its_offset = _independent(joints, mimic.get('joint'))
    return master, ratio * its_ratio, ratio * its_offset + offset


class Coupled(Example):
    """A robot whose third moving joint follows the first, and the fifth the third.

    The mimic joints of real robots have ratios of +-1 and no offsets.
    """

    def __str__(self):
        return f'{self.name}_coupled'

    @property
    def urdf(self):
        """The argument of Robot.from_urdf: the text."""
        return self.text()

    def xml(self):
        """Return the root element of the URDF, its mimic joints added."""
        root = super().xml()
        moving = [joint for joint in root.findall('joint') if joint.get('type') in MOVING]
        for leader, follower, ratio, offset in ((0, 2, '-0.7', '0.2'), (2, 4, '1.3', '-0.1')):
            ElementTree.SubElement(moving[follower], 'mimic', joint=moving[leader].get('name'),
                                   multiplier=ratio, offset=offset)
        return root


ARM, MOBILE, DUAL = 'arm', 'mobile manipulator', 'dual arm'
QUADRUPED, BIPED, HUMANOID, FLYING = 'quadruped', 'biped', 'humanoid', 'flying arm'

ROBOTS = (
    Example('double_pendulum', 'double_pendulum_description/urdf/double_pendulum_continuous.urdf',
            ARM),
    Example('panda', 'panda_description/urdf/panda.urdf', ARM),
    Example('ur5', 'ur_description/urdf/ur5_robot.urdf', ARM),
    Example('ur10', 'ur_description/urdf/ur10_robot.urdf', ARM),
    Example('kinova', 'kinova_description/robots/kinova.urdf', ARM),
    Example('xarm7', 'xarm_description/urdf/xarm7.urdf', ARM),
    Example('z1', 'z1_description/urdf/z1.urdf', ARM),
    Example('so101', 'so_arm_description/urdf/so101.urdf', ARM),
    Example('talos_left_arm', 'talos_data/robots/talos_left_arm.urdf', ARM),
    Example('allegro_hand', 'allegro_hand_description/urdf/allegro_right_hand.urdf', 'hand',
            refused=NO_TRIANGLE),
    Example('baxter', 'baxter_description/urdf/baxter.urdf', DUAL),
    Example('tiago', 'tiago_description/robots/tiago_no_hand.urdf', MOBILE,
            refused=NO_POSITIVE_INERTIA),
    Example('tiago_hand', 'tiago_description/robots/tiago.urdf', MOBILE, 'floating',
            refused=NO_POSITIVE_INERTIA),
    Example('tiago_pro', 'tiago_pro_description/robots/tiago_pro.urdf', MOBILE),
    Example('pr2', 'pr2_description/urdf/pr2.urdf', MOBILE, refused=NO_TRIANGLE),
    Example('anymal_kinova', 'anymal_b_simple_description/robots/anymal-kinova.urdf', MOBILE,
            'floating', refused=NO_POSITIVE_INERTIA),
    Example('solo12', 'solo_description/robots/solo12.urdf', QUADRUPED, 'floating'),
    Example('anymal_b', 'anymal_b_simple_description/robots/anymal.urdf', QUADRUPED, 'floating',
            refused=NO_POSITIVE_INERTIA),
    Example('anymal_c', 'anymal_c_simple_description/urdf/anymal.urdf', QUADRUPED, 'floating',
            refused=NO_TRIANGLE),
    Example('hyq', 'hyq_description/robots/hyq_no_sensors.urdf', QUADRUPED, 'floating',
            refused=NO_POSITIVE_INERTIA),
    Example('a1', 'a1_description/urdf/a1.urdf', QUADRUPED, 'floating'),
    Example('go2', 'go2_description/urdf/go2.urdf', QUADRUPED, 'floating'),
    Example('bolt', 'bolt_description/robots/bolt.urdf', BIPED, 'floating'),
    Example('borinot', 'borinot_description/urdf/borinot_flying_arm_2.urdf', FLYING, 'floating'),
    Example('talos_fixed', 'talos_data/robots/talos_reduced.urdf', HUMANOID),
    Example('talos', 'talos_data/robots/talos_reduced.urdf', HUMANOID, 'floating'),
    Example('talos_grippers', 'talos_data/robots/talos_full_v2.urdf', HUMANOID, 'floating'),
    Example('icub', 'icub_description/robots/icub_reduced.urdf', HUMANOID, 'floating',
            refused=NO_POSITIVE_INERTIA),
    Example('g1', 'g1_description/urdf/g1_29dof_rev_1_0.urdf', HUMANOID, 'floating'),
    Example('simple_humanoid', 'simple_humanoid_description/urdf/simple_humanoid.urdf', HUMANOID,
            'floating'),
    Example('centauro', 'centauro_description/urdf/centauro.urdf', HUMANOID, 'floating'),
    Coupled('ur10', 'ur_description/urdf/ur10_robot.urdf', ARM),
    Coupled('kinova', 'kinova_description/robots/kinova.urdf', ARM),
    Coupled('tiago', 'tiago_description/robots/tiago_no_hand.urdf', MOBILE,
            refused=NO_POSITIVE_INERTIA),
    Coupled('solo12', 'solo_description/robots/solo12.urdf', QUADRUPED, 'floating'),
)
