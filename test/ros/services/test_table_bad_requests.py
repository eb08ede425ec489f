"""Test refusals of bad requests: a reason, and no change of node and robot."""

import math

import pytest
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Inertia, Point, Pose, Quaternion, Vector3, Vector3Stamped
from support.remote_node import Served, joint_state, stamped_wrench
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.msg import FrameTarget, MotionTask, Task, TaskBound
from dynamics_node.ros.services.table import SERVICES

NAN, INF = math.nan, math.inf
JOINTS = [f'joint_{k}' for k in range(1, 8)]
LINKS = ['base_link', *(f'link_{k}' for k in range(1, 8))]
TWO = ['joint_5', 'joint_2']
LIFT = MotionTask(kind='velocity', frame='link_7')
# the services that take a state, and what else belongs to a request
STATES = {'inverse_dynamics': {}, 'forward_dynamics': {}, 'hybrid_dynamics': {},
          'dynamics_terms': {}, 'kinematics': {}, 'joint_reactions': {},
          'batch_dynamics': {'question': 'inverse'},
          'dynamics_derivatives': {'question': 'inverse'}, 'linearization': {},
          'directional_derivative': {'question': 'inverse'},
          'derivative_terms': {'regressor': True},
          'constrained_dynamics': {'question': 'inverse'},
          'contact_and_impact': {'question': 'distribution', 'contact_frames': ['link_7']},
          'operational_space': {'frames': ['link_7']}, 'task_control': {}}
ACCELERATIONS = [('inverse_dynamics', {}), ('hybrid_dynamics', {}),
                 ('batch_dynamics', {'question': 'inverse'}),
                 ('batch_dynamics', {'question': 'hybrid'}),
                 ('dynamics_derivatives', {'question': 'inverse'}),
                 ('dynamics_derivatives', {'question': 'hybrid'}),
                 ('constrained_dynamics', {'question': 'inverse'}),
                 ('constrained_dynamics', {'question': 'hybrid'}), ('joint_reactions', {}),
                 ('directional_derivative', {'question': 'hybrid'}),
                 ('derivative_terms', {'regressor': True})]
HYBRID = [('hybrid_dynamics', {}), ('batch_dynamics', {'question': 'hybrid'}),
          ('dynamics_derivatives', {'question': 'hybrid'}),
          ('constrained_dynamics', {'question': 'hybrid'})]
DRIVEN = [('forward_dynamics', {}), ('batch_dynamics', {'question': 'forward'}),
          ('dynamics_derivatives', {'question': 'forward'}), ('linearization', {}),
          ('constrained_dynamics', {'question': 'forward'})]
EFFORTS = [*HYBRID, *DRIVEN]
PUSHED = [*ACCELERATIONS[:-1], *DRIVEN, ('task_control', {})]  # derivative_terms takes no wrench


def bad_numbers(field):
    """Return (fields, words of the message) for an array with one entry per joint."""
    return [({'joint_names': TWO, field: [0.1] * 3}, [field, '3 entries', '2', *TWO]),
            ({field: [0.1] * 6}, [field, '6 entries', '7', *JOINTS]),
            ({'joint_names': TWO, field: [0.1, NAN]}, [f'{field}[1]', 'nan', 'finite']),
            ({'joint_names': TWO, field: [INF, 0.1]}, [f'{field}[0]', 'inf', 'finite']),
            ({'joint_names': TWO, field: [-INF, 0.1]}, [f'{field}[0]', '-inf', 'finite'])]


BAD_NAMES = [({'joint_names': ['joint_2', 'elbow']}, ['joint', "'elbow'", *JOINTS]),
             ({'joint_names': ['']}, ['joint', "''", *JOINTS]),
             ({'joint_names': ['joint_2', 'joint_4', 'joint_2']}, ['joint_names', "'joint_2'"])]


def point(q=(0.1, 0.2), seconds=0, **fields):
    return JointTrajectoryPoint(positions=list(q), time_from_start=Duration(sec=seconds), **fields)


def path(*points, names=TWO):
    return {'trajectory': JointTrajectory(joint_names=names, points=points)}


GOOD_PATH = path(point(), point(seconds=1))
TRAJECTORIES = [
    (path(point(), names=['joint_2', 'elbow']), ["'elbow'", *JOINTS]),
    (path(point(), names=['joint_2', 'joint_2']), ['joint_names', "'joint_2'"]),
    (path(point(), names=[]), ['trajectory.joint_names']),
    (path(), ['trajectory.points']),
    (path(point(), point([0.1], seconds=1)), ['points[1].positions', '1 entries', '2']),
    (path(point([0.1, NAN])), ['points[0].positions', 'nan', 'finite']),
    (path(point([0.1, INF])), ['points[0].positions', 'inf', 'finite']),
    (path(point([])), ['points[0].positions']),
    (path(point(velocities=[1.0, 2.0]), point(seconds=1)), ['points[1].velocities', '2']),
    (path(point(velocities=[1.0, 2.0], accelerations=[NAN, 0.0])),
     ['points[0].accelerations', 'nan']),
    (path(point(seconds=1), point(seconds=1)), ['points[1].time_from_start']),
    ({**GOOD_PATH, 'effort_limits': [1.0]}, ['effort_limits', '1 entries', '2']),
    ({**GOOD_PATH, 'effort_limits': [1.0, -1.0]}, ['effort_limits', '-1.0', 'positive']),
    ({**GOOD_PATH, 'effort_limits': [1.0, NAN]}, ['effort_limits', 'nan', 'positive']),
    ({**GOOD_PATH, 'check_period': -0.1}, ['check_period', '-0.1', 'positive']),
    ({**GOOD_PATH, 'check_period': NAN}, ['check_period', 'nan']),
    ({**GOOD_PATH, 'check_period': 1e-9}, ['check_period', 'longer']),
    ({**GOOD_PATH, 'payload_frame': 'hand'}, ["'hand'", *LINKS]),
    ({**GOOD_PATH, 'payload_frame': 'link_7', 'payload_com': Point(x=NAN)},
     ['payload_com', 'nan', 'finite']),
]


def load(**fields):
    """Return a SetPayload request, good but for what is given."""
    inertia = {'m': 2.0, 'ixx': 0.1, 'iyy': 0.1, 'izz': 0.1,
               **{key: value for key, value in fields.items() if key not in ('name', 'frame')}}
    return {'name': fields.get('name', 'tool'), 'frame': fields.get('frame', 'link_7'),
            'payload': Inertia(**inertia)}


PAYLOADS = [
    (load(name=''), ['name', 'empty']),
    (load(frame='hand'), ["'hand'", *LINKS]),
    (load(frame=''), ["''", *LINKS]),
    (load(m=0.0), ['payload.m', '0.0', 'positive']),
    (load(m=-1.0), ['payload.m', '-1.0', 'positive']),
    (load(m=NAN), ['payload.m', 'nan', 'positive']),
    (load(m=INF), ['mass', 'inf', 'finite']),
    (load(com=Vector3(y=NAN)), ['com', 'nan', 'finite']),
    (load(ixy=NAN), ['inertia', 'nan', 'finite']),
    (load(izz=INF), ['inertia', 'inf', 'finite']),
    (load(izz=0.3), ['inertia', 'triangle inequality', '0.1, 0.1, 0.3']),
    (load(ixx=-0.1), ['inertia', 'negative']),
    (load(ixy=0.2), ['inertia', 'negative']),
    ({**load(), 'transition_time': Duration(sec=-1)}, ['transition_time', '-1']),
    ({'name': 'tool', 'remove': True}, ["'tool'", 'payload']),
]


def earth(x=0.0, y=0.0, z=-9.81, frame=''):
    message = Vector3Stamped(vector=Vector3(x=x, y=y, z=z))
    message.header.frame_id = frame
    return {'gravity': message}


GRAVITIES = [(earth(x=NAN), ['gravity', 'nan', 'finite']),
             (earth(z=-INF), ['gravity', 'inf', 'finite']),
             (earth(z=0.0), ['gravity', 'zero']),
             (earth(frame='moon'), ["'moon'", *LINKS])]
FRICTIONS = [(fields, words) for field in ('damping', 'friction') for fields, words in [
    ({'joint_names': TWO, field: [0.1]}, [field, '1 entries', '2', *TWO]),
    ({field: [0.1] * 8}, [field, '8 entries', '7', *JOINTS]),
    ({'joint_names': TWO, field: [0.1, -0.1]}, [field, 'joint_2', '-0.1', 'positive']),
    ({'joint_names': TWO, field: [NAN, 0.1]}, [field, 'joint_5', 'nan', 'finite']),
    ({'joint_names': TWO, field: [INF, 0.1]}, [field, 'joint_5', 'inf', 'finite']),
    ({'joint_names': TWO, field: [-0.1, 0.1], 'reset': True}, [field, 'joint_5', '-0.1'])]]
WRENCHES = [([stamped_wrench('link_2', [1.0] * 6), stamped_wrench('hand', [1.0] * 6)],
             ["'hand'", *LINKS]),
            ([stamped_wrench('', [1.0] * 6)], ["''", *LINKS]),
            ([stamped_wrench('link_2', [1.0, NAN, *[0.0] * 4])],
             ['external_wrenches[0]', 'nan', 'finite']),
            ([stamped_wrench('link_2', [1.0, *[0.0] * 4, INF])],
             ['external_wrenches[0]', 'inf', 'finite'])]

TIP = {'frame': 'link_7', 'kind': 'pose'}
TARGETS = [  # more of them: test_handlers_inverse_kinematics.py
    *(({'targets': [FrameTarget(**{**TIP, **bad})]}, ['targets[0]', *words]) for bad, words in [
        ({'frame': 'hand'}, ["'hand'", *LINKS]), ({'kind': 'place'}, ["'place'", 'orientation']),
        ({'pose': Pose(orientation=Quaternion(w=2.0))}, ['orientation', 'norm 2']),
        ({'pose': Pose(position=Point(x=NAN))}, ['position', 'nan', 'finite']),
        ({'position_weight': -1.0}, ['position_weight', '-1.0', 'positive'])]),
    ({'targets': []}, ['targets', 'empty']),
    ({'targets': [FrameTarget(**TIP)], 'tolerance': -1.0}, ['tolerance', '-1.0', 'positive']),
    ({'targets': [FrameTarget(**TIP)], 'restarts': 10 ** 9}, ['restarts', '1000'])]
TASKS = [  # more of them: test_handlers_task_refusals.py
    *(({'tasks': [Task(**{'name': 'tip', 'kind': 'frame', 'frame': 'link_7', **bad})]},
       ["task 'tip'", *words]) for bad, words in [
        ({'frame': 'hand'}, ["'hand'", *LINKS]), ({'kind': 'dance'}, ["'dance'", 'posture']),
        ({'position': [0.0] * 3}, ['position', '3 numbers', '7']),
        ({'position': [0.0] * 7}, ['position', 'norm 0', 'norm 1']),
        ({'value': [1.0]}, ['value is given']), ({'weight': -1.0}, ['weight', '-1.0'])]),
    ({'bounds': [TaskBound(kind='speed')]}, ["'speed'", 'torque', 'friction']),
    ({'bounds': [TaskBound(kind='torque', limit=[-1.0])]}, ['limit', '-1.0', 'positive']),
    ({'constraints_yaml': '- {name: a, kind: weld, frame: hand}'}, ["'a'", "'hand'", *LINKS])]

LOADS = [  # of a node that does not know what efforts mean
    ('guess', {}, ['question', "'guess'", 'motion', 'poses']),
    ('motion', {}, ['effort_meaning is unknown', 'motor_torque']),
    ('unloaded', {'frame': ''}, ['effort_meaning is unknown']),
    ('pose', {'frame': ''}, ['effort_meaning is unknown']),
    ('pose', {}, ['frame is given', 'only motion and poses']),
    ('poses', {}, ['no poses']),
    ('poses', {'frame': 'hand'}, ["'hand'", *LINKS]),
    ('poses', {'frame': 'base_link'}, ["'base_link'", 'does not move']),
    ('poses', {'set': True}, ['name is empty']),
    ('poses', {'position': [0.1] * 7, 'effort': [0.1] * 6}, ['effort', '6 entries', '7']),
    ('poses', {'position': [NAN] * 7, 'effort': [0.1] * 7}, ['position[0]', 'nan']),
    ('poses', {'joint_names': TWO, 'position': [0.1] * 2, 'effort': [0.1] * 2}, ["'joint_1'"]),
    ('poses', {'position': [0.1] * 14, 'effort': [0.1] * 14}, ['2 poses', '3 or more'])]

DIRECTIONS = [
    ({'gravity_rate': [1.0, 2.0]}, ['gravity_rate', '2 entries', '3']),
    ({'gravity_rate': [1.0, 2.0, NAN]}, ['gravity_rate[2]', 'nan', 'finite']),
    ({'inertia_frames': ['link_1'], 'inertia_rates': [1.0] * 9}, ['inertia_rates', '9', '10']),
    ({'inertia_rates': [1.0] * 10}, ['inertia_rates', '10 entries', '0', 'inertia_frames']),
    ({'inertia_frames': ['hand'], 'inertia_rates': [1.0] * 10}, ["'hand'", *LINKS]),
    ({'origin_joints': ['elbow'], 'origin_rates': [1.0] * 6}, ["'elbow'", *JOINTS]),
    ({'origin_joints': TWO, 'origin_rates': [1.0] * 6}, ['origin_rates', '6 entries', '12']),
    ({'axis_joints': ['joint_1'] * 2, 'axis_rates': [1.0] * 12}, ['axis_joints', 'each once']),
    ({'axis_joints': ['joint_1'], 'axis_rates': [INF] * 6}, ['axis_rates[0]', 'inf', 'finite']),
    ({'effort_rate': [0.1] * 7}, ['effort_rate', 'forward and hybrid'])]
TERMS = [({}, ['nothing is requested', 'regressor', 'weights', 'christoffel_symbols']),
         ({'gravity_stiffness': True, 'armature': True}, ['armature', 'regressor']),
         ({'gravity_stiffness': True, 'velocity_direction': [0.1] * 7}, ['velocity_direction',
                                                                         'weights']),
         ({'gravity_stiffness': True, 'acceleration': [0.1] * 7}, ['acceleration', 'regressor']),
         ({'weights': [0.1] * 6}, ['weights', '6 entries', '7', *JOINTS])]

# (service, fields of the request, words of the message)
TABLE = [
    *((service, {**more, **bad}, words) for service, more in STATES.items()
      for bad, words in [*BAD_NAMES, *bad_numbers('position'), *bad_numbers('velocity')]),
    *((service, {**more, **bad}, words) for service, more in ACCELERATIONS
      for bad, words in bad_numbers('acceleration')),
    *((service, {**more, **bad}, words) for service, more in EFFORTS
      for bad, words in bad_numbers('effort')),
    *((service, {**more, 'external_wrenches': wrenches}, words) for service, more in PUSHED
      for wrenches, words in WRENCHES),
    *((service, {**more, 'joint_names': TWO, 'acceleration_given': [True]},
       ['acceleration_given', '1 entries', '2']) for service, more in HYBRID),
    *((service, {field: [0.1] * 14}, [field, '14 entries', '7', *JOINTS])  # two states
      for service in list(STATES)[:6] for field in ('position', 'velocity')),
    ('kinematics', {'frames': ['link_1', 'hand']}, ["'hand'", *LINKS]),
    ('kinematics', {'acceleration': [0.1] * 7}, ['acceleration', 'accelerations']),
    ('kinematics', {'rotation_parameters': 'euler'}, ['rotation_parameters', "'euler'",
                                                      'euler_zyx', 'quaternion']),
    ('kinematics', {'rotation_parameters': 'matrix', 'position_parameters': 'polar'},
     ['position_parameters', "'polar'", 'cylindrical']),
    ('kinematics', {'position_parameters': 'spherical'}, ['position_parameters',
                                                          'rotation_parameters']),
    *(('kinematics', {'accelerations': True, **bad}, words)
      for bad, words in bad_numbers('acceleration')),
    ('joint_reactions', {'sensor_links': ['link_1', 'hand']}, ["'hand'", *LINKS]),
    ('joint_reactions', {'sensor_links': ['base_link']}, ["'base_link'", 'does not move']),
    ('joint_reactions', {'sensor_links': ['link_2'], 'sensor_frames': ['link_5']},
     ["'link_5'", "'link_2'", 'fixed']),
    ('joint_reactions', {'sensor_links': ['link_2'], 'sensor_frames': ['link_2'] * 2},
     ['sensor_frames', '2 entries', '1']),
    *(('operational_space', {'frames': frames}, LINKS) for frames in ([], ['link_1', 'hand'])),
    *(('inverse_kinematics', fields, words) for fields, words in TARGETS),
    *(('task_control', fields, words) for fields, words in TASKS),
    *(('differential_kinematics', {'tasks': [LIFT], **bad}, words) for bad, words in [
        *BAD_NAMES, *bad_numbers('position'), *bad_numbers('joint_weights'),
        *bad_numbers('preferred_velocity')]),
    ('differential_kinematics', {'tasks': [MotionTask(kind='velocity', frame='hand')]},
     ['tasks[0]', "'hand'", *LINKS]),
    ('batch_dynamics', {'question': 'both'}, ['question', "'both'", 'inverse', 'forward', 'hybrid',
                                              'terms']),
    ('batch_dynamics', {}, ['question', "''", 'inverse']),
    ('batch_dynamics', {'question': 'terms', 'position': [0.1] * 21, 'velocity': [0.1] * 14},
     ['position has 3', 'velocity has 2']),
    ('batch_dynamics', {'question': 'inverse', 'position': [0.1] * 21, 'acceleration': [0.1] * 14},
     ['position has 3', 'acceleration', 'has 2']),
    ('dynamics_derivatives', {'question': 'terms'}, ['question', "'terms'", 'inverse', 'forward',
                                                     'hybrid']),
    *(('directional_derivative', {'question': 'hybrid', **bad}, words)
      for field in ('position_rate', 'effort_rate', 'damping_rate')
      for bad, words in bad_numbers(field)),
    *(('directional_derivative', {'question': 'inverse', **fields}, words)
      for fields, words in DIRECTIONS),
    *(('derivative_terms', fields, words) for fields, words in TERMS),
    *(('derivative_terms', {'weights': [1.0] * 7, **bad}, words)
      for bad, words in bad_numbers('velocity_direction')[1:2]),
    *(('linearization', {'step': step}, ['step', str(step), 'positive']) for step in (
        -0.001, NAN, INF)),
    *((service, {**more, 'position': [0.1] * 21, 'velocity': [0.1] * 14},
       ['position has 3', 'velocity has 2']) for service, more in (ACCELERATIONS[4], DRIVEN[3])),
    *(('trajectory_torques', fields, words) for fields, words in TRAJECTORIES),
    *(('set_payload', fields, words) for fields, words in PAYLOADS),
    *(('set_gravity', fields, words) for fields, words in GRAVITIES),
    *(('set_friction', fields, words) for fields, words in [*BAD_NAMES, *FRICTIONS]),
    *(('identify_payload', {'question': question, 'frame': 'link_7', **fields}, words)
      for question, fields, words in LOADS),
    ('self_test', {'samples': 1001}, ['samples', '1001', '1000']),
]


def holds(node):
    """Return all that a request could have changed, to the bit."""
    reply, report = node.call('inverse_dynamics'), node.call('model_report')
    return (list(reply.effort), reply.state_stamp, reply.model_id, report.model_id,
            report.gravity, report.report, report.never_measured, node.call('list_payloads'))


@pytest.mark.parametrize(('service', 'fields', 'words'), TABLE, ids=[
    f'{service}-{k}' for k, (service, _, _) in enumerate(TABLE)])
def test_a_bad_request_is_refused_with_a_reason(arm, service, fields, words):
    """The message has the field, its value and the valid ones; nothing else has changed."""
    before = holds(arm.node)
    reply = arm.node.call(service, **fields)
    for word in words:
        assert word in reply.message
    assert reply == type(reply)(success=False, message=reply.message), 'half an answer'
    assert holds(arm.node) == before
    assert before[0] == list(arm.robot.inverse_dynamics(arm.q, arm.v, [0.0] * 7))
    assert 'Traceback' not in arm.node.process.log()


def test_every_service_with_fields_has_bad_requests():
    """New ones too."""
    assert {service for service, _, _ in TABLE} == set(SERVICES) - {'list_payloads', 'model_report'}


# What is not known yet ---------------------------------------------------------------------------

@pytest.fixture(scope='module')
def unmeasured(launch_once):
    """A node with three measured joints, one of them without its effort."""
    node, robot = launch_once(f'robot_description:={ARM7}'), Robot.from_urdf(ARM7)
    node.publish_until(lambda: node.call('model_report').never_measured == JOINTS[3:],
                       joint_state(1, JOINTS[:3], [0.1] * 3, [0.2] * 3, [0.3, NAN, 0.3]))
    return Served(node, robot, None, None, None, 1)


@pytest.mark.parametrize(('service', 'fields', 'quantity', 'missing'), [
    *((service, more, 'position and velocity', JOINTS[3:]) for service, more in STATES.items()),
    ('inverse_dynamics', {'position': [0.1] * 7}, 'velocity', JOINTS[3:]),
    ('inverse_dynamics', {'velocity': [0.1] * 7}, 'position', JOINTS[3:]),
    ('inverse_dynamics', {'joint_names': ['joint_6', 'joint_4'], 'position': [0.1] * 2,
                          'velocity': [0.1] * 2}, 'position and velocity', ['joint_5', 'joint_7']),
    ('trajectory_torques', GOOD_PATH, 'position', ['joint_4', 'joint_6', 'joint_7']),
    ('set_gravity', earth(frame='link_7'), 'position', JOINTS[3:]),
    *((service, {'position': [0.1] * 7, 'velocity': [0.1] * 7, **more}, 'effort',
       ['joint_2', *JOINTS[3:]]) for service, more in EFFORTS),
])
def test_joints_that_were_never_measured_are_named(unmeasured, service, fields, quantity, missing):
    """The joints and the missing quantity."""
    node = unmeasured.node
    before = node.call('model_report').model_id
    reply = node.call(service, **fields)
    assert reply == type(reply)(success=False, message=reply.message)
    assert reply.message.startswith(f'no {quantity}')
    assert [name for name in JOINTS if name in reply.message] == missing
    assert node.call('model_report').model_id == before


def test_requests_that_need_no_measured_state_are_served_without(unmeasured):
    """All joints given, or none needed."""
    state = {'position': [0.1] * 7, 'velocity': [0.2] * 7}
    for service, more in STATES.items():
        effort = {'effort': [0.3] * 7} if (service, {}) in EFFORTS else {}
        assert unmeasured.node.call(service, **more, **state, **effort).success, service
    for service in ('model_report', 'list_payloads', 'self_test'):
        assert unmeasured.node.call(service).success, service
    assert unmeasured.node.call('set_gravity', **earth(frame='base_link')).success


def test_without_a_robot_every_service_refuses_with_the_reason(launch):
    """Neither topic nor parameter has a description."""
    node = launch()
    for service in SERVICES:
        reply = node.call(service, **STATES.get(service, {}))
        assert reply == type(reply)(success=False, message=reply.message), service
        assert reply.message.startswith('no robot yet'), service
        assert 'robot_description' in reply.message
