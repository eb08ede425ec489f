"""Read the robots of the benchmark: one URDF text each, the same for every engine.

Fingers are fixed. Friction is removed, since Pinocchio ignores it.
"""

from importlib import metadata
from xml.etree import ElementTree

FILES = {  # below robots/ of example-robot-data
    'panda': 'panda_description/urdf/panda.urdf',
    'ur5': 'ur_description/urdf/ur5_robot.urdf',
    'kinova': 'kinova_description/robots/kinova.urdf',
    'talos': 'talos_data/robots/talos_reduced.urdf',
}
# of benchmark/constraints.py and humanoids.py
LEGGED = {'solo12': 'solo_description/robots/solo12.urdf',
          'g1': 'g1_description/urdf/g1_29dof_rev_1_0.urdf'}
FIXED = ('panda_finger_joint1', 'panda_finger_joint2')
IRRELEVANT = {'robot': ('material', 'transmission', 'gazebo'), 'link': ('visual', 'collision'),
              'joint': ('dynamics', 'mimic', 'safety_controller', 'calibration')}


def urdf(name):
    """Return the URDF text of a robot."""
    data = metadata.distribution('example-robot-data')
    wanted = f'example-robot-data/robots/{ {**FILES, **LEGGED}[name]}'
    path = next(data.locate_file(file) for file in data.files if str(file).endswith(wanted))
    root = ElementTree.parse(path).getroot()
    for tag, parts in IRRELEVANT.items():
        for element in list(root.iter(tag)):
            for part in [part for part in element if part.tag in parts]:
                element.remove(part)
    for joint in root.findall('joint'):
        if joint.get('name') in FIXED:
            joint.set('type', 'fixed')
    return ElementTree.tostring(root, encoding='unicode')


def chain(links):
    """Return the URDF text of a chain of links; each joint axis is normal to the one before."""
    parts = ['<robot name="chain"><link name="link0"/>']
    for k in range(1, links + 1):
        twist = 1.5707963267948966 * (-1) ** k
        parts.append(f"""
          <link name="link{k}"><inertial><origin xyz="0.01 0.02 0.05"/><mass value="1"/>
            <inertia ixx="0.01" iyy="0.012" izz="0.008" ixy="5e-4" ixz="3e-4" iyz="-4e-4"/>
          </inertial></link>
          <joint name="joint{k}" type="continuous">
            <parent link="link{k - 1}"/><child link="link{k}"/>
            <origin xyz="0 0 0.1" rpy="{twist} 0 0"/><axis xyz="0 0 1"/>
          </joint>""")
    return '\n'.join([*parts, '</robot>'])
