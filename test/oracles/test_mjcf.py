"""Test robots read from MJCF: MuJoCo's and Pinocchio's dynamics of the same models."""

import mujoco
import numpy as np
import pinocchio
import pytest
from support.differences import relative
from support.mujoco_oracle import MujocoOracle
from support.real_robots import ROBOTS
from support.tolerances import MUJOCO, PINOCCHIO

from dynamics_node import ModelError, Robot, read_mjcf
from dynamics_node.spatial import so3

BOX = '<geom type="box" size="0.1 0.2 0.3" pos="0.1 0.05 -0.1" euler="20 30 40"/>'
# Several joints in one body, anchors beside the origin, a reference, a free body with an arm.
RICH = f"""
<mujoco model="rich"><option gravity="1 -2 -9"/><worldbody>
  <body name="cart" pos="0.1 0.2 0.3" euler="10 20 30">{BOX}
    <joint name="x" type="slide" axis="1 0 0" pos="0.3 0 0" armature="0.2" damping="0.5"/>
    <joint name="y" type="slide" axis="0 1 0.5" range="-1 2" limited="true"/>
    <joint name="yaw" axis="0.2 0.1 1" pos="0.1 -0.2 0.3" ref="25" range="-90 60"
     limited="true" actuatorfrcrange="-30 40"/>
    <body name="arm" pos="0.2 0 0.5">{BOX}
      <joint name="elbow" axis="0 1 0" pos="0 0.1 0.2" damping="0.3" frictionloss="0.4"/>
      <body name="hand" pos="0 0 0.4" euler="0 90 0">{BOX}
        <body>{BOX}<joint type="slide" axis="0 0 1" armature="0.1"/></body>
      </body>
    </body>
  </body>
  <body name="drone" pos="1 2 3" euler="40 50 60">{BOX}<freejoint name="flight"/>
    <body name="rotor" pos="0.1 0 0.2">{BOX}<joint name="spin" pos="0 0.1 0"/></body>
  </body>
</worldbody></mujoco>"""
RIGHT = [robot for robot in ROBOTS if not robot.refused]


def robot_of(found):
    """Return the robot without dry friction, which MuJoCo has as a constraint."""
    robot = Robot.from_links(found.links, found.name, found.notes, gravity=found.gravity,
                             compile=False)
    return robot.with_friction(friction=dict.fromkeys(robot.joint_names, 0.0))


def torques_by_mujoco(model, robot, q, v, a):
    """Return the torques by mj_inverse, in the coordinates of the robot."""
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data, turned = mujoco.MjData(model), []
    for joint in robot.model.joints:
        its = model.joint(joint.name) if not joint.name.startswith('joint_') else model.joint(
            int(joint.name.removeprefix('joint_')))
        here, there = joint.v, slice(its.dofadr[0], its.dofadr[0] + joint.v.stop - joint.v.start)
        speed, rate, R = v[here].copy(), a[here].copy(), None
        if joint.kind == 'floating':   # linear velocity in world axes
            R = so3.from_quaternion(q[joint.q][3:])
            position = [*q[joint.q][:3], q[joint.q][6], *q[joint.q][3:6]]
            rate[:3] = R @ (rate[:3] + np.cross(speed[3:], speed[:3]))
            speed[:3] = R @ speed[:3]
        else:
            position = q[joint.q] + model.qpos0[its.qposadr[0]]
        data.qpos[its.qposadr[0]:its.qposadr[0] + len(position)] = position
        data.qvel[there], data.qacc[there] = speed, rate
        turned.append((here, there, R))
    mujoco.mj_inverse(model, data)
    tau = np.empty(robot.nv)
    for here, there, R in turned:
        tau[here] = data.qfrc_inverse[there]
        if R is not None:
            tau[here][:3] = R.T @ tau[here][:3]
    return tau


def assert_agrees(model, robot, seed):
    rng = np.random.default_rng(seed)
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    assert relative(robot.inverse_dynamics(q, v, a),
                    torques_by_mujoco(model, robot, q, v, a)) < MUJOCO


@pytest.mark.parametrize('seed', range(4))
def test_torques_are_those_of_mujoco(seed):
    """Joints of every type, chains within a body, anchors, references, armature, damping."""
    assert_agrees(mujoco.MjModel.from_xml_string(RICH), robot_of(read_mjcf(RICH)), seed)


@pytest.mark.parametrize('example', RIGHT, ids=str)
def test_real_robots_compiled_by_mujoco_have_its_torques(example):
    """Mimic joints are joints of their own there."""
    model = MujocoOracle(example, (), damping=True).model
    robot = robot_of(read_mjcf(model))
    assert robot.nv == model.nv
    assert_agrees(model, robot, 0)


def test_mass_matrix_is_that_of_pinocchio(tmp_path):
    """By its own reader of MJCF, which takes a file."""
    text = f"""<mujoco><worldbody><body name="one" pos="0 0 1" euler="10 20 30">{BOX}
      <joint name="a" axis="0 1 0" range="-90 90" limited="true" armature="0.3"/>
      <body name="two" pos="0.3 0 0">{BOX}
      <joint name="b" axis="1 0 1" range="-90 90" limited="true"/><body name="three">{BOX}
      <joint name="c" type="slide" axis="0 0 1"/></body></body></body></worldbody></mujoco>"""
    file = tmp_path / 'three.xml'
    file.write_text(text)
    robot, model = robot_of(read_mjcf(file)), pinocchio.buildModelFromMJCF(str(file))
    q = np.array([0.3, -0.4, 0.5])
    M = pinocchio.crba(model, model.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    assert relative(robot.mass_matrix(q), M) < PINOCCHIO


def test_names_limits_and_gravity_are_read():
    found = read_mjcf(RICH)
    robot = robot_of(found)
    assert (found.name, found.gravity) == ('rich', (1.0, -2.0, -9.0))
    assert robot.joint_names == ('x', 'y', 'yaw', 'elbow', 'joint_4', 'flight', 'spin')
    assert {'world', 'cart_x', 'cart_y', 'cart', 'hand', 'body_4', 'drone'} <= {*robot.frame_names}
    y, yaw, elbow = (robot.model.joint(name) for name in ('y', 'yaw', 'elbow'))
    assert (y.kind, y.lower, y.upper, elbow.kind) == ('prismatic', -1.0, 2.0, 'continuous')
    assert np.allclose(np.degrees([yaw.lower, yaw.upper]), [-115.0, 35.0])
    assert yaw.max_effort == 30.0 and np.isnan(y.max_effort)
    assert {link.joint_name: link.friction for link in found.links}['elbow'] == 0.4


def test_what_is_not_carried_over_is_said():
    """In the notes and in the report of the robot."""
    text = f"""<mujoco><option density="1.2"/><worldbody><site name="s"/>
      <body name="one" gravcomp="1">{BOX}<freejoint name="f"/></body>
      <body name="two">{BOX}<joint name="a" stiffness="2" ref="30"/>
        <joint name="b" axis="1 0 0"/></body>
      <body name="three" mocap="true"/></worldbody>
      <tendon><fixed name="t"><joint joint="a" coef="1"/></fixed></tendon>
      <equality><joint joint1="a" joint2="b"/></equality>
      <actuator><motor joint="a"/></actuator><sensor><jointpos joint="a"/></sensor></mujoco>"""
    found = read_mjcf(text)
    notes = '\n'.join(found.notes)
    for each in ('1 tendons', '1 equality constraints', '1 actuators', '1 mocap', '1 sensors',
                 '1 sites', '2 geoms', 'fluid', 'gravcomp', "spring of joint 'a'",
                 "joint 'a' has the reference 0.523599"):
        assert each in notes, each
    assert {*found.notes} <= {finding.text for finding in robot_of(found).report().findings}
    assert not [note for note in read_mjcf(RICH).notes if 'spring' in note or 'tendon' in note]


@pytest.mark.parametrize('source, message', [
    (RICH.replace('<freejoint name="flight"/>', '<joint name="flight" type="ball"/>'),
     "joint 'flight' is of type ball, .* these have: free, slide, hinge"),
    ('<mujoco><nonsense/></mujoco>', 'MuJoCo refuses the MJCF: .*nonsense'),
    ('/no/such/file.xml', 'MuJoCo refuses the MJCF'), (3, 'source is 3; expected the text'),
])
def test_invalid_sources_are_refused(source, message):
    with pytest.raises(ModelError, match=message):
        read_mjcf(source)
