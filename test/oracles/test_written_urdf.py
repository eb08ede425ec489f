"""Test the URDF texts of real robots: read again by us, and by Pinocchio's parser."""

from importlib import metadata

import numpy as np
import pinocchio
import pytest
from support.differences import relative
from support.real_robots import ROBOTS
from support.same_model import assert_same_model
from support.tolerances import EXACT_MATHS, PINOCCHIO

from dynamics_node import Robot

DATA = metadata.distribution('example-robot-data')
INVALID = ('alex_psyonic_hands', 'ur3')   # mimics a joint that is not there; has no link
FILES = sorted(file for file in DATA.files if file.suffix == '.urdf' and file.stem not in INVALID)
ARMS = [robot for robot in ROBOTS if str(robot) in ('ur5', 'xarm7', 'z1', 'panda', 'baxter')]


def read(text, **options):
    return Robot.from_urdf(text, compile=False, **options)


@pytest.mark.parametrize('file', FILES, ids=lambda file: file.stem)
def test_all_example_robots_are_the_same_when_read_again(file):
    robot = read(DATA.locate_file(file))
    assert_same_model(read(robot.to_urdf()).model, robot.model, EXACT_MATHS)


@pytest.mark.parametrize('example', ROBOTS, ids=str)
def test_robots_with_their_bases_and_mimic_joints_are_the_same_when_read_again(example):
    robot = read(example.urdf, base=example.base)
    again = read(robot.to_urdf(), base=example.base)
    assert_same_model(again.model, robot.model, EXACT_MATHS)


@pytest.mark.parametrize('example', ARMS, ids=str)
def test_pinocchio_reads_the_same_robot(example):
    """Its own parser, which requires more of a URDF than ours; mass matrix and gravity."""
    robot = read(example.urdf)
    model = pinocchio.buildModelFromXML(robot.to_urdf(), mimic=True)
    names = [joint.name for joint in robot.model.joints]
    order = [names.index(name) for joint, name in enumerate(model.names)
             if joint and model.joints[joint].nv]
    assert sorted(order) == list(range(robot.nv)) and model.nq == robot.nq
    data, q = model.createData(), robot.random_configuration(0)
    M = pinocchio.crba(model, data, q[order])
    M = np.triu(M) + np.triu(M, 1).T
    assert relative(robot.mass_matrix(q)[np.ix_(order, order)], M) < PINOCCHIO
    g = pinocchio.computeGeneralizedGravity(model, data, q[order])
    assert relative(robot.gravity_torque(q)[order], g) < PINOCCHIO
