"""Robots and data sets of these tests."""

import pytest
from support.robot_data_sets import two_joint_arm, write_data_set


@pytest.fixture(scope='module')
def robot(kernels):
    """The bundled arm with two joints, compiled."""
    return two_joint_arm()


@pytest.fixture(scope='module')
def data_set(robot, tmp_path_factory):
    """Three episodes, one file each."""
    return write_data_set(tmp_path_factory.mktemp('data_set'), robot)
