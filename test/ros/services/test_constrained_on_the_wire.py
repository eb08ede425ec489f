"""Test constrained dynamics, contact and impact over DDS; loops as a parameter of the node."""

import math

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from support.current_robots import (
    BLOCK,
    FEET,
    GRAVITY,
    MASS,
    STANDING,
    acceleration_of,
    close,
    mechanism,
    state_of,
)
from support.remote_node import PATIENCE, floats, joint_state, stamped_wrench
from support.reply_stamps import stamp_of
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynamics_node import DynamicsError, Robot, SoftContact, Target
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.ros.client import DynamicsClient

FOUR_BAR = MECHANISMS['four_bar']
PUSH = np.array([1.0, 0.0, 3.0, 0.0, 0.2, 0.0])
TIP = ['tip_x.n', 'tip_z.n']


@pytest.fixture(scope='module')
def four_bar(launch_once):
    """The four-bar, its loop closed, measured at rest where it is assembled."""
    node = launch_once(f'robot_description:={FOUR_BAR.urdf}', f'constraints:={FOUR_BAR.loops}')
    robot = mechanism('four_bar')
    node.measure(robot, 1_000_000_000, robot.joint_names, np.zeros(3), np.zeros(3), [0.3, 0, 0])
    return node


@pytest.fixture(scope='module')
def block(launch_once, tmp_path_factory):
    """A block that floats, with four feet."""
    urdf = tmp_path_factory.mktemp('block') / 'block.urdf'
    urdf.write_text(BLOCK)
    return launch_once(f'robot_description:={urdf}', 'base:=floating')


# What is right -------------------------------------------------------------------------------

@pytest.mark.parametrize('question', ['inverse', 'forward', 'hybrid'])
def test_named_joints_may_be_in_any_order(four_bar, question):
    """Results of the library, with a wrench; header, rows and report."""
    robot = mechanism('four_bar')
    q, v = state_of(robot)
    a, tau = acceleration_of(robot, q, v), np.array([0.4, 0.0, 0.0])
    order = np.array([2, 0, 1])
    fields = {'joint_names': [robot.joint_names[k] for k in order], 'position': floats(q[order]),
              'velocity': floats(v[order]), 'external_wrenches': [stamped_wrench('rocker', PUSH)]}
    wrenches = {'rocker': PUSH}
    given = np.array([True, False, False])
    if question == 'inverse':
        fields['acceleration'] = floats(a[order])
        want = robot.constrained_inverse_dynamics(q, v, a, wrenches=wrenches)
    elif question == 'forward':
        fields['effort'] = floats(tau[order])
        want = robot.constrained_forward_dynamics(q, v, tau, wrenches=wrenches)
    else:
        fields.update(acceleration=floats(a[order]), effort=floats(tau[order]),
                      acceleration_given=given[order].tolist())
        want = robot.constrained_hybrid_dynamics(q, v, a, tau, given, wrenches=wrenches)
    reply = four_bar.call('constrained_dynamics', question=question, **fields)
    assert (reply.success, reply.message) == (True, '')
    assert reply.model_id == four_bar.call('model_report').model_id
    report = reply.report
    assert (reply.row_names, report.rank, report.freedom, report.actuated) == (TIP, 2, 1, 1)
    assert (report.kind, report.driven_kind) == ('under-constrained', 'exactly constrained')
    assert '2 constraint rows of rank 2' in report.text
    close(reply.acceleration, want.a[order])
    close(reply.effort, want.tau[order])
    close(reply.multipliers, want.multipliers)


def test_fields_that_are_left_out_are_measured(four_bar):
    """An empty request: the present motion of the mechanism."""
    robot = mechanism('four_bar')
    reply = four_bar.call('constrained_dynamics', question='forward')
    assert stamp_of(reply) == 1_000_000_000
    want = robot.constrained_forward_dynamics(np.zeros(3), np.zeros(3), [0.3, 0.0, 0.0])
    close(reply.acceleration, want.a)
    reply = four_bar.call('constrained_dynamics', question='inverse', project=True,
                          joint_names=['crank_joint'], position=[0.5], velocity=[0.0])
    assert (reply.success, reply.position[0]) == (True, 0.5)
    assert np.abs(reply.residuals).max() < 1e-9


def test_contact_and_impact_of_a_block_are_those_of_physics(block):
    """Its weight, and its fall."""
    state = {'position': STANDING, 'velocity': [0.0] * 6, 'contact_frames': FEET,
             'friction': [0.5]}
    for question in ('forces', 'distribution'):
        reply = block.call('contact_and_impact', question=question, **state)
        assert (reply.success, reply.message, reply.contact_names) == (True, '', FEET)
        assert sum(each.force.z for each in reply.contact_wrenches) == pytest.approx(MASS * GRAVITY)
        assert reply.verdicts == ['sticking'] * 4
        assert (reply.report.rank, len(reply.multipliers)) == (6, 12)
    state['velocity'] = [0.0, 0.0, -1.0, 0.0, 0.0, 0.0]
    reply = block.call('contact_and_impact', question='impact', restitution=[0.5], **state)
    close(reply.velocity, [0.0, 0.0, 0.5, 0.0, 0.0, 0.0])
    assert reply.energy_loss == pytest.approx(0.75 * 0.5 * MASS)


# Through the client --------------------------------------------------------------------------

def test_supports_and_soft_contacts_are_those_of_the_library(block):
    """Matrices in their shape; touch points are given back as they came."""
    dynamics = DynamicsClient(block.client, block.name, timeout=PATIENCE)
    robot = Robot.from_urdf(BLOCK, base='floating', compile=False)
    v = np.array([0.3, 0.1, -0.2, 0.5, 0.4, 0.2])
    feet = [Constraint(foot, 'point_contact', foot) for foot in FEET[:2]]
    reply, want = (dynamics.contact_and_impact('support', feet, STANDING, v),
                   robot.support_consistent_dynamics(STANDING, v, feet))
    for field, wanted in want._asdict().items():
        got = getattr(reply, 'bias_acceleration' if field == 'drift' else field)
        np.testing.assert_array_equal(got, wanted)
    soft = [SoftContact('heel', 'foot_0', 2e4, 100.0, 0.3), SoftContact('toe', 'foot_3', 1e4)]
    q, touch = [*STANDING[:2], STANDING[2] - 0.002, *STANDING[3:]], None
    for _ in range(2):
        reply = dynamics.contact_and_impact('soft_forces', q=q, v=v, soft_contacts=soft,
                                            touch=() if touch is None else touch)
        want = robot.soft_contact_forces(q, v, soft, touch)
        touch = reply.touch_points
        np.testing.assert_array_equal(touch, want.touch)
        np.testing.assert_array_equal(reply.depths, want.depth)
        np.testing.assert_array_equal([[each.x, each.y, each.z] for each in reply.soft_forces],
                                      want.force)



def test_the_client_accepts_arrays_dicts_and_constraints(four_bar, block):
    """It returns arrays; a refusal is raised."""
    robot = mechanism('four_bar')
    q, v = state_of(robot)
    a = acceleration_of(robot, q, v)
    dynamics = DynamicsClient(four_bar.client, four_bar.name, timeout=PATIENCE)
    reply = dynamics.constrained_dynamics('inverse', q, v, a, wrenches={'rocker': PUSH})
    want = robot.constrained_inverse_dynamics(q, v, a, wrenches={'rocker': PUSH})
    close(reply.effort, want.tau)
    close(reply.multipliers, want.multipliers)
    reply = dynamics.constrained_dynamics('inverse', {'crank_joint': 0.2}, {'crank_joint': 0.1},
                                          {'crank_joint': 1.0}, project=True)
    assert reply.acceleration[0] == 1.0
    lock = Constraint('lock', 'weld', 'crank')
    reply = dynamics.constrained_dynamics('forward', np.zeros(3), np.zeros(3), tau=np.ones(3),
                                          constraints=[lock])
    assert (reply.report.freedom, len(reply.row_names)) == (0, 8)
    close(reply.acceleration, np.zeros(3))
    with pytest.raises(DynamicsError, match="choice is 'any'"):
        dynamics.constrained_dynamics('inverse', q, v, a, choice='any')
    feet = DynamicsClient(block.client, block.name, timeout=PATIENCE)
    reply = feet.contact_and_impact('forces', [{'name': 'sole', 'kind': 'flat_contact',
                                                'frame': 'block', 'friction': 0.4}],
                                    STANDING, np.zeros(6))
    close(reply.margins, [0.4 * MASS * GRAVITY])
    reply = feet.contact_and_impact('impact', q=STANDING, v=[0, 0, -1, 0, 0, 0],
                                    contact_frames=FEET)
    close(reply.velocity, np.zeros(6))


# What is wrong -------------------------------------------------------------------------------

STATE = {'position': [0.0] * 3, 'velocity': [0.0] * 3}


@pytest.mark.parametrize(('fields', 'words'), [
    ({'question': 'backward'}, ["'backward'", 'inverse, forward, hybrid']),
    ({'position': [0.0, math.nan, 0.0]}, ['position[1] is nan']),
    ({'position': [0.1, 0.0, 0.0]}, ['the position violates constraint row', 'project']),
    ({'velocity': [1.0, 0.0, 0.0]}, ['the velocity violates constraint row']),
    ({'acceleration': [1.0, 0.0, 0.0]}, ['the acceleration violates constraint row']),
    ({'joint_names': ['elbow']}, ["'elbow'", 'crank_joint']),
    ({'constraint_names': ['knee']}, ["'knee'", 'tip_x']),
    ({'constraints_yaml': '- {name: a, kind: weld, frame: nobody}'}, ["'nobody'", 'crank']),
    ({'constraints_yaml': '&a [*a]'}, ['constraints_yaml']),
    ({'constraints_yaml': '!!python/object/apply:os.system [ls]'}, ['constraints_yaml']),
    ({'constraints_yaml': ' ' * 9 + 'x' * 300_000}, ['characters']),
    ({'choice': 'any'}, ["choice is 'any'"]),
    ({'passive_joints': ['crank_joint', 'coupler_joint', 'rocker_joint']}, ['under-actuated']),
    ({'effort_weights': [-1.0, 1.0, 1.0]}, ['effort_weights']),
    ({'question': 'forward', 'stabilisation': [math.inf, 1.0]}, ['stabilisation']),
    ({'question': 'hybrid', 'acceleration_given': [True, True, True],
      'acceleration': [1.0, 0.0, 0.0]}, ['contradict']),
    ({'external_wrenches': [stamped_wrench('nobody', PUSH)]}, ["'nobody'"])])
def test_bad_constraints_are_refused_and_the_node_continues(four_bar, fields, words):
    """Each with its field, and nothing has changed."""
    before = four_bar.call('model_report').model_id
    reply = four_bar.call('constrained_dynamics', **{'question': 'inverse', **STATE, **fields})
    assert not reply.success
    assert [word for word in words if word not in reply.message] == [], reply.message
    assert four_bar.call('model_report').model_id == before


@pytest.mark.parametrize(('fields', 'words'), [
    ({'question': 'slide'}, ["'slide'", 'forces, distribution, impact']),
    ({'contact_frames': []}, ['no contacts']),
    ({'contact_frames': ['hand']}, ["'hand'"]),
    ({'contact_kinds': ['round']}, ["'round'", 'flat_contact']),
    ({'friction': [-1.0]}, ['friction']),
    ({'question': 'impact', 'restitution': [2.0]}, ['restitution']),
    ({'contacts_yaml': 'name: [}'}, ['contacts_yaml']),
    ({'position': [0.0] * 7}, ['quaternion']),
    ({'velocity': [math.inf] * 6}, ['velocity[0] is inf'])])
def test_bad_contacts_are_refused(block, fields, words):
    """Each with its field."""
    reply = block.call('contact_and_impact', **{
        'question': 'forces', 'position': STANDING, 'velocity': [0.0] * 6,
        'contact_frames': FEET, **fields})
    assert not reply.success
    assert [word for word in words if word not in reply.message] == [], reply.message


# The parameter -------------------------------------------------------------------------------

def test_loops_can_be_changed_while_the_node_runs(launch):
    """By parameter, text or path, whole or not at all; an invalid start is reported."""
    node = launch(f'robot_description:={FOUR_BAR.urdf}')
    request = {'question': 'forward', **STATE, 'effort': [0.0] * 3}
    tree = node.call('constrained_dynamics', **request)
    assert (tree.row_names, tree.report.freedom) == ([], 3)
    assert node.set_parameters({'constraints': FOUR_BAR.loops.read_text()}) == ''
    closed = node.call('constrained_dynamics', **request)
    assert (closed.row_names, closed.report.freedom) == (TIP, 1)
    assert closed.model_id != tree.model_id
    assert 'tip_x: point_on_plane of coupler to rocker' in node.call('model_report').report
    reason = node.set_parameters({'constraints': 'constraints: [{name: a, kind: weld, frame: b}]'})
    assert reason.startswith('parameter constraints: ') and "'b'" in reason
    assert node.call('constrained_dynamics', **request).model_id == closed.model_id
    assert node.set_parameters({'constraints': ''}) == ''
    assert node.call('constrained_dynamics', **request).model_id == tree.model_id


def test_springs_can_be_changed_while_the_node_runs(block):
    """By parameter; terms and torques are those of the library; an invalid list changes nothing."""
    text = ('springs: [{name: rope, stiffness: 30, damping: 2, frame: foot_0, to_point: [1, 2, 3]}]'
            '\nactuators: [{name: rod, frame: foot_1, to_point: [0, 0, 2]}]')
    robot = Robot.from_urdf(BLOCK, base='floating', compile=False).with_springs(text)
    v = [0.3, 0.1, -0.2, 0.5, 0.4, 0.2]
    before = block.call('model_report').model_id
    assert block.set_parameters({'springs': text}) == ''
    dynamics = DynamicsClient(block.client, block.name, timeout=PATIENCE)
    reply, rod = dynamics.dynamics_terms(STANDING, v), robot.actuator_motion(STANDING, v)
    close(reply.springs, robot.spring_torque(STANDING, v))
    close(reply.moment_arms, rod.moment_arms)
    close(reply.actuator_lengths, rod.length)
    close(dynamics.inverse_dynamics(STANDING, v, v).effort, robot.inverse_dynamics(STANDING, v, v))
    reason = block.set_parameters({'springs': 'springs: [{name: rope, frame: hand}]'})
    assert reason.startswith("parameter springs: spring 'rope': frame: no frame 'hand'")
    assert len(block.call('dynamics_terms', position=STANDING, velocity=v).springs) == 6
    assert block.set_parameters({'springs': ''}) == ''
    assert block.call('model_report').model_id == before


def test_a_bad_list_at_start_is_a_diagnostic(launch):
    """Services refuse until the loops are valid."""
    node = launch(f'robot_description:={FOUR_BAR.urdf}', 'constraints:=/no/such/file.yaml',
                  f'shared_folders:=[{FOUR_BAR.loops.resolve().parent}]')
    said = node.wait_for_diagnostics(lambda status: status.level == b'\x02', 'an error')
    assert 'parameter constraints: ' in said.message and '/no/such/file.yaml' in said.message
    reply = node.call('constrained_dynamics', question='forward', **STATE)
    assert not reply.success and 'no such file' in reply.message.lower()
    assert node.set_parameters({'constraints': str(FOUR_BAR.loops.resolve())}) == ''
    assert node.call('constrained_dynamics', question='forward', effort=[0.0] * 3,
                     **STATE).row_names == TIP


def test_torques_of_a_mechanism_go_to_its_motors_alone(launch):
    """The crank is commanded, with the weight of the whole mechanism; passive joints are not."""
    from sensor_msgs.msg import JointState
    from std_srvs.srv import SetBool
    robot = mechanism('four_bar')
    node = launch(f'robot_description:={FOUR_BAR.urdf}', f'constraints:={FOUR_BAR.loops}',
                  'safety.unknown_start:=zero', 'safety.max_state_age:=1.0')
    heard = []
    node.client.create_subscription(JointState, f'{node.name}/torque', heard.append, 10)
    assert "'rocker_joint'" in node.set_parameters(
        {'torque.joints': ['crank_joint', 'rocker_joint']})
    stamp = node.client.get_clock().now().nanoseconds
    node.measure(robot, stamp, robot.joint_names, np.zeros(3), np.zeros(3))
    reply = node.ask(SetBool, 'enable', SetBool.Request(data=True))
    assert reply.success, reply.message
    want = robot.constrained_inverse_dynamics(np.zeros(3), np.zeros(3), np.zeros(3)).tau[0]

    def state():
        now = node.client.get_clock().now().nanoseconds
        return joint_state(now, robot.joint_names, np.zeros(3), np.zeros(3))

    def arrived():
        node.publish(state())
        return bool(heard) and abs(heard[-1].effort[0] - want) < 1e-9
    node.publish_until(arrived, state())
    assert all(list(each.name) == ['crank_joint'] for each in heard)


# The closed mechanism --------------------------------------------------------------------------

def test_a_client_gets_the_terms_of_the_closed_mechanism_in_their_shapes(four_bar):
    """The same numbers as the library's, to the last digits; coordinates by name."""
    dynamics = DynamicsClient(four_bar.client, four_bar.name, timeout=PATIENCE)
    robot = mechanism('four_bar')
    q, v = state_of(robot)
    for coordinates in ((), ('rocker_joint',)):
        reply = dynamics.dynamics_terms(q, v, closed=True, coordinates=coordinates)
        want = robot.closed_dynamics(q, v, coordinates=coordinates or None)
        assert reply.coordinates == list(coordinates or ('crank_joint',))
        for field in want._fields:
            close(getattr(reply, field), getattr(want, field))
    assert dynamics.dynamics_terms(q, v).mass_matrix.shape == (3, 3)
    tau = np.array([0.4, 0.0, 0.0])
    reply, want = dynamics.linearization(q, v, tau, closed=True), robot.closed_linearization(
        q, v, tau)
    close(reply.state_matrix, want.A)
    close(reply.input_matrix, want.B)
    reply = dynamics.dynamics_derivatives('forward', q, v, tau=tau, closed=True)
    want = robot.closed_forward_derivatives(q, v, tau)
    for field, part in (('acceleration', want.a), ('by_position', want.dq),
                        ('by_velocity', want.dv), ('by_input', want.dtau)):
        close(getattr(reply, field), part)


def test_a_client_gets_the_frames_of_the_closed_mechanism_in_their_shapes(four_bar):
    """One column, that of the crank; inverse kinematics closes the loop."""
    dynamics = DynamicsClient(four_bar.client, four_bar.name, timeout=PATIENCE)
    robot = mechanism('four_bar')
    q, v = state_of(robot)
    reply = dynamics.kinematics(['rocker'], q, v, rates=True, closed=True)
    want = robot.closed_jacobian(q, v, 'rocker')
    close(reply.jacobians, [want.jacobian])
    close(reply.jacobian_rates, [want.rate])
    reply = dynamics.operational_space('rocker', q, v, axes=['ry'], closed=True)
    want = robot.operational_space(q, v, 'rocker', ['ry'], closed=True)
    for field in ('inertia', 'jacobian', 'consistent_inverse', 'null_space'):
        close(getattr(reply, field), getattr(want, field))
    found = dynamics.inverse_kinematics(Target.pose('rocker', robot.frame_pose(q, 'rocker')))
    assert found.solved
    assert np.abs(robot.constraint_rows(found.position, 0 * v).residual).max() < 1e-9


def test_a_trajectory_of_the_crank_has_the_torques_of_the_closed_mechanism(four_bar):
    """The coupler and the rocker are not named; of the open tree they would rest."""
    dynamics = DynamicsClient(four_bar.client, four_bar.name, timeout=PATIENCE)
    robot = mechanism('four_bar')
    points = [JointTrajectoryPoint(positions=[x], velocities=[w], accelerations=[alpha],
                                   time_from_start=Duration(sec=k))
              for k, (x, w, alpha) in enumerate(((0.0, 1.0, 2.0), (0.7, 1.5, -1.0)))]
    path = JointTrajectory(joint_names=['crank_joint'], points=points)
    reply = dynamics.trajectory_torques(path, closed=True)
    for point in reply.trajectory.points:
        q = robot.project_configuration([point.positions[0], 0.0, 0.0], fixed=['crank_joint'])
        found = robot.closed_dynamics(q, [point.velocities[0], 0.0, 0.0])
        torque = (found.mass_matrix @ point.accelerations + found.coriolis + found.gravity
                  + found.friction)
        close(point.effort, torque)
