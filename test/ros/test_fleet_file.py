"""Test the fleet file: what it gives to the launch file, and its errors."""

import pytest

from dynamics_node import DynamicsError
from dynamics_node.ros.fleet_file import read_fleet

ARGUMENTS = ('namespace', 'robot_description_file', 'mode', 'use_sim_time')


def test_every_robot_has_the_defaults_and_its_own_arguments(tmp_path):
    """Paths begin in the folder of the file."""
    path = tmp_path / 'fleet.yaml'
    path.write_text('defaults: {robot_description_file: arm.urdf, mode: gravity}\n'
                    'robots:\n  arm_1:\n  /cell/arm_2: {mode: impedance, use_sim_time: true}\n'
                    '  arm_3: {robot_description_file: /robots/other.urdf}\n')
    arm = str(tmp_path / 'arm.urdf')
    assert read_fleet(path, ARGUMENTS) == {
        'arm_1': {'robot_description_file': arm, 'mode': 'gravity'},
        'cell/arm_2': {'robot_description_file': arm, 'mode': 'impedance', 'use_sim_time': 'true'},
        'arm_3': {'robot_description_file': '/robots/other.urdf', 'mode': 'gravity'}}


@pytest.mark.parametrize('text, words', [
    ('', 'has None; expected a map such as'),
    ('robots: [arm_1]', 'expected a map such as'),
    ('robots: {}', 'expected a map such as'),
    ('robots: {arm_1: {}}\nrobot: {}', 'expected a map such as'),
    ('robots: {1arm: {}}', "a robot named '1arm'; its name is its namespace"),
    ('robots: {arm: {speed: 1}}', "robot arm of .* has 'speed'; valid are mode, robot_desc"),
    ('robots: {arm: {namespace: b}}', "has 'namespace'; valid are"),
    ('robots: {arm: {mode: [a]}}', 'has mode: .*; expected a text'),
    ('robots: {arm: 1}', 'robot arm of .*: 1 is not a map'),
    ('robots: {arm: {}, /arm: {}}', 'equal namespaces: arm, /arm'),
    ('robots: {arm: {}', 'is not valid YAML'),
])
def test_a_wrong_file_is_refused(tmp_path, text, words):
    path = tmp_path / 'fleet.yaml'
    path.write_text(text)
    with pytest.raises(DynamicsError, match=words):
        read_fleet(path, ARGUMENTS)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DynamicsError, match='fleet_file: .*missing.yaml'):
        read_fleet(tmp_path / 'missing.yaml', ARGUMENTS)
