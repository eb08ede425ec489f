"""Test parameters of the robot, descriptions and modes that change while torques are published.

Each case ends in Arm.check, which looks at every message since it began.
"""

from pathlib import Path

import pytest
from geometry_msgs.msg import Vector3, Vector3Stamped
from support.gate_states import moved
from support.torque_wire import EFFORT, REST

from dynamics_node.example_robots import ARM7
from dynamics_node.ros.services.table import SERVICES

pytestmark = pytest.mark.long

TEXT = Path(ARM7).read_text()
SAME = TEXT.replace('<link name="link_3">', '<!-- the elbow -->\n<link name="link_3"><visual>'
                    '<geometry><sphere radius="0.1"/></geometry></visual>')
SETTINGS = {'friction': True, 'compile': True, 'friction_speed': 0.01,
            'torque.gravity_scale.default': 1.0, 'torque.task_frame': ''}
TILTED = [0.5, 0.0, -9.7]   # [m/s^2]


@pytest.fixture
def arm(driven_arm):
    """An arm at rest, its torques disabled."""
    return driven_arm.prepared()


def goes_on(arm):
    """Assert that torques are published and hold the arm."""
    arm.run(20)
    arm.is_held()
    assert arm.said('enabled')
    arm.check()


def test_another_robot_by_parameter_is_refused_while_enabled(arm):
    """It needs a new robot: whatever of it changes, the torque goes on."""
    arm.enabled()
    before = arm.model_id()
    for name, value in (('locked.joint_7', 0.1), ('armature.joint_1', 0.1),
                        ('base', 'floating'), ('friction_speed', 0.5),
                        ('springs', 'springs: [{name: coil, stiffness: 3, joint: joint_2}]'),
                        ('robot_description', TEXT.replace('mass value="4.2"', 'mass value="5"')),
                        ('missing_velocity', 'fault'), ('velocity_filter_time', 0.0)):
        result = arm.set(**{name.replace('.', '__'): value})
        assert not result.successful and 'disable first' in result.reason, (name, result.reason)
    assert arm.model_id() == before
    goes_on(arm)


def test_gravity_by_parameter_is_applied_as_by_service(arm):
    """Smoothly; too much of it is refused with the same words."""
    arm.enabled()
    kind = SERVICES['set_gravity'].kind
    refused = arm.set(gravity=[0.0, 0.0, -1.62])
    vector = Vector3Stamped(vector=Vector3(z=-1.62))
    assert not refused.successful and 'at most 2 at once' in refused.reason
    assert arm.ask(kind, 'set_gravity', kind.Request(gravity=vector)).message == refused.reason
    assert arm.set(gravity=TILTED).successful
    arm.robot = arm.robot.with_gravity(TILTED)
    goes_on(arm)
    assert arm.set(gravity=[0.0, 0.0, -9.81]).successful
    arm.robot = arm.robot.with_gravity([0.0, 0.0, -9.81])
    goes_on(arm)


def test_friction_by_parameter_is_applied_as_by_service(arm):
    """At once, without the end of torques; the newer one of both counts."""
    arm.enabled()
    kind = SERVICES['set_friction'].kind
    first = arm.model_id()
    for values in ({'friction': False}, {'damping__joint_1': 0.7},
                   {'dry_friction__joint_2': 0.4}):
        assert arm.set(**values).successful
    assert arm.ask(kind, 'set_friction', kind.Request(
        joint_names=['joint_1'], damping=[0.9], friction=[0.0])).success
    by_service = arm.model_id()
    assert arm.set(damping__joint_1=0.8).successful
    assert len({first, by_service, arm.model_id()}) == 3
    goes_on(arm)
    assert arm.set(friction=True, damping__joint_1=None, dry_friction__joint_2=None).successful
    assert arm.model_id() == first


def test_a_description_of_the_same_robot_keeps_torques_and_model_id(arm):
    """It differs by a comment and a visual; by topic and by parameter."""
    assert SAME != TEXT
    arm.enabled()
    before = arm.model_id()
    arm.node.describe(SAME)
    assert arm.set(robot_description=SAME.replace('elbow', 'third link')).successful
    goes_on(arm)
    assert arm.model_id() == before


def test_every_change_of_mode_while_enabled(arm):
    """At the pose of a reference: no torque jumps, and each mode ends in its own torque."""
    arm.prepared(torque__mode='impedance', torque__task_frame='tool0').enabled()
    arm.follow(moved(7, 0.05), 0.3)
    arm.is_held(50.0 * (moved(7, 0.05) - REST))
    for mode, spring in (('impedance_with_bias', 50.0), ('gravity', 0.0), ('feedforward', 0.0),
                         ('task_space', 0.0), ('computed_torque', 0.0), ('gravity', 0.0)):
        result = arm.run_until(
            lambda mode=mode: (result := arm.set(torque__mode=mode)).successful and result, mode)
        assert result.successful
        arm.is_held(spring * (moved(7, 0.05) - REST))
        assert arm.said('enabled'), mode
    arm.check()


def test_gains_that_do_not_fit_are_refused_in_any_mode(arm):
    result = arm.set(torque__kp__elbow=1.0)
    assert not result.successful
    assert result.reason.startswith("torque.kp.elbow: no joint 'elbow'; the robot has: joint_1, ")


def test_parameters_that_a_robot_outgrows_are_reported_and_set_one_by_one(arm):
    """Until then torques are refused, and every other parameter can change."""
    assert arm.set(torque__kp__joint_7=40.0, torque__kd__joint_7=4.0,
                   torque__gravity_scale__joint_7=1.0, torque__joints=['']).successful
    assert arm.set(locked__joint_7=0.1).successful
    arm.run_until(lambda: arm.said("torque.kp.joint_7: no joint 'joint_7'"), 'diagnostics')
    arm.arrive()
    reply = arm.enable()
    assert not reply.success and "torque.kp.joint_7: no joint 'joint_7'" in reply.message
    assert 'torques cannot be enabled until these parameters fit the robot: torque.' in arm.log()
    assert arm.set(max_state_age=2.0).successful and arm.set(max_state_age=0.0).successful
    assert not arm.set(torque__kp__joint_7=50.0).successful
    for name in ('kd', 'gravity_scale', 'kp'):
        assert arm.set(**{f'torque__{name}__joint_7': None}).successful
    arm.run_until(lambda: not arm.said('no joint'), 'diagnostics')
    assert arm.set(locked__joint_7=None).successful
    arm.order = list(EFFORT)
    arm.enabled()
    goes_on(arm)
