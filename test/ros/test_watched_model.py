"""Test that the robot of the inspector is that of the node, with all its settings."""

import time

import numpy as np
import pytest
from geometry_msgs.msg import Vector3, Vector3Stamped
from support.differences import relative
from support.remote_node import wait_until
from support.tolerances import EXACT_MATHS

from dynamics_node.example_robots import ARM7, MECHANISMS
from dynamics_node.ros import watched_model
from dynamics_node.ros.watched_node import WatchedNode
from dynamics_node.srv import ModelReport

SPRINGS = 'springs: [{name: coil, joint: joint_2, stiffness: 30.0, rest: 0.1}]'
SETTINGS = (f'robot_description:={ARM7}', 'locked.joint_7:=0.2', 'armature.joint_1:=0.3',
            'damping.joint_2:=2.5', 'dry_friction.joint_3:=1.5', 'gravity:=[0.0, 1.0, -9.0]')


@pytest.fixture(scope='module')
def node(launch_once, tmp_path_factory):
    springs = tmp_path_factory.mktemp('springs') / 'springs.yaml'
    springs.write_text(SPRINGS)
    return launch_once(*SETTINGS, f'springs:={springs}', 'frame_prefix:=left/')


@pytest.fixture(scope='module')
def watched(node):
    opened = WatchedNode(node.name)
    yield opened
    opened.close()


def torque(node, robot, q, v, a):
    """Return the torque by the node."""
    reply = node.call('inverse_dynamics', joint_names=list(robot.joint_names), position=q.tolist(),
                      velocity=v.tolist(), acceleration=a.tolist())
    assert reply.success, reply.message
    return np.array(reply.effort)


def agrees(node, watched):
    """Return whether the robot here has the hash of the node's, no note and the same torques."""
    state = watched.read()
    if state.model is None or state.model.note:
        return False
    robot = state.model.robot
    if state.payloads:
        robot = robot.with_payloads(state.payloads)
    q, v, a = np.random.default_rng(2).normal(size=(3, robot.nv))
    expected = torque(node, robot, q, v, a)
    return relative(robot.inverse_dynamics(q, v, a), expected) < EXACT_MATHS


def test_locked_joints_armature_friction_springs_and_gravity_are_those_of_the_node(node, watched):
    wait_until(lambda: agrees(node, watched), 'the same torques')
    robot = watched.read().model.robot
    assert 'joint_7' not in robot.joint_names and robot.model.armature[0] == 0.3
    assert robot.springs[0].name == 'coil' and robot.gravity.tolist() == [0.0, 1.0, -9.0]
    assert watched._model._differs == 0 and watched.read().refusal == ''


def test_gravity_friction_and_payloads_of_services_are_followed(node, watched):
    node.call('set_gravity', gravity=Vector3Stamped(vector=Vector3(x=1.0, z=-5.0)))
    node.call('set_friction', joint_names=['joint_4'], damping=[7.0], friction=[0.5],
              stribeck=[0.3], stribeck_speed=[0.2], friction_asymmetry=[0.1],
              damping_asymmetry=[0.7], friction_speed=[0.05])
    wait_until(lambda: watched.read().model.robot.gravity.tolist() == [1.0, 0.0, -5.0],
               'the gravity')
    wait_until(lambda: agrees(node, watched), 'the same torques')
    key = watched.read().model.key
    payload = {'name': 'cup', 'frame': 'left/tool0'}
    request = node.call('set_payload', **payload, payload=_inertia(1.5))
    assert request.success, request.message
    wait_until(lambda: 'cup' in watched.read().payloads, 'the payload')
    wait_until(lambda: agrees(node, watched) and watched._model._current.payloads,
               'the same torques')
    assert watched.read().model.key == key and watched._model._differs == 0


def _inertia(mass):
    from geometry_msgs.msg import Inertia
    return Inertia(m=mass, com=Vector3(z=0.1), ixx=0.01, iyy=0.01, izz=0.02)


def test_a_mechanism_has_its_loops(launch_once, watched):
    bundled = MECHANISMS['four_bar']
    node = launch_once(f'robot_description:={bundled.urdf}', f'constraints:={bundled.loops}')
    other = watched_model.WatchedModel(watched._node, node.name)

    def found():
        other.request()
        watched.read()   # spins the node of both
        return other.model
    model = wait_until(found, 'the model')
    assert model.robot.loops.constraints and model.robot.loops.passive


def test_a_node_that_does_not_answer_is_shown_by_its_description_alone(watched, monkeypatch):
    monkeypatch.setattr(watched_model, 'PATIENCE', 0.05)
    alone = watched_model.WatchedModel(watched._node, '/absent')
    alone.describe(ARM7.read_text())
    alone.request()
    assert alone.model is None
    time.sleep(0.1)
    alone.request()
    assert alone.model.robot.nv == 7 and 'does not answer' in alone.model.note


def test_a_description_that_is_no_urdf_is_refused_and_the_robot_stays(watched):
    model = watched_model.WatchedModel(watched._node, '/absent')
    model._load(ARM7.read_text(), watched_model.ModelParameters(), '')
    before = model.model
    model._load('no urdf', watched_model.ModelParameters(), '')
    assert model.refusal and model.model is before and before.robot.nv == 7


def test_the_content_of_a_file_that_a_parameter_names_is_not_shown(watched, tmp_path):
    """A hostile node could name any file of the machine of the page."""
    secret = tmp_path / 'secret.yaml'
    secret.write_text('password-1234: [')
    model = watched_model.WatchedModel(watched._node, '/absent')
    model._description = ARM7.read_text()
    model._load(model._description, watched_model.ModelParameters(springs=str(secret)), '')
    assert model.model is None and 'parameter springs' in model.refusal
    assert 'password' not in model.refusal


@pytest.mark.parametrize('text', [
    '', '{', '[]', '{}', '{"joints": 3}', '{"joints": [3]}', '{"joints": [{"name": "joint_1"}]}',
    '{"joints": [{"name": [], "damping": 1}]}', '[' * 100_000])
def test_a_malformed_report_is_said_and_the_robot_stays(watched, text):
    """Whatever a node answers, the page goes on."""
    model = watched_model.WatchedModel(watched._node, '/absent')
    model._load(ARM7.read_text(), watched_model.ModelParameters(), '')
    before = model.model
    model._load(ARM7.read_text(), watched_model.ModelParameters(), '',
                ModelReport.Response(success=True, json=text))
    assert 'model_report is malformed' in model.refusal and model.model is before
