"""Test the parameter `springs`: springs and actuators are part of the current robot."""

import numpy as np
import pytest
from support.node_states import ask, node_state_of, refused
from support.tiny_robots import TWO_JOINTS
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot
from dynamics_node.model.read_force_elements import force_elements_of
from dynamics_node.ros.parameters.declared import ModelParameters
from dynamics_node.ros.shared_folders import ParameterFiles, SharedFolders

SPRINGS = """
springs:
  - {name: coil, stiffness: 12, damping: 0.5, rest: 0.3, joint: elbow}
  - {name: rope, stiffness: 90, damping: 2, rest: 0.1, frame: elbow_link, to_point: [1, 2, 3]}
actuators:
  - {name: rod, frame: elbow_link, point: [0.1, 0, 0.2], to_point: [0, 0.5, 0]}
"""
Q, V, A = np.array([[0.4, -0.7], [0.3, 0.2], [1.0, -2.0]])


@pytest.fixture
def robot():
    return Robot.from_urdf(TWO_JOINTS, compile=False).with_springs(SPRINGS)


@pytest.fixture
def node_state():
    return node_state_of(TWO_JOINTS, springs=SPRINGS)


def test_springs_are_part_of_the_robot(tmp_path):
    """Text or path; model_id and report change with them; an invalid list changes nothing."""
    file = tmp_path / 'springs.yaml'
    file.write_text(SPRINGS)
    node_state = node_state_of(TWO_JOINTS)
    ids = [node_state.current_robot.model_id]
    assert 'springs' not in ask(node_state, 'model_report').report
    for springs in (str(file), SPRINGS):
        node_state.use(ModelParameters(springs=springs))
        node_state.load(TWO_JOINTS)
        found = node_state.robot
        assert (found.springs, found.actuators) == force_elements_of(found.model, SPRINGS)
        ids.append(node_state.current_robot.model_id)
    assert ids[0] != ids[1] == ids[2]
    assert ask(node_state, 'model_report').report.endswith(
        'springs:\n  coil: at elbow\n  rope: from elbow_link to world\n\n'
        'actuators:\n  rod: from elbow_link to world')
    before = node_state.robot
    for bad, words in (('springs: [{name: a, joint: knee}]', "spring 'a': joint: no joint 'knee'"),
                       ('springs: [{name: a, stifness: 3}]', "'stifness' is not a field"),
                       ('/no/such/file.yaml', 'cannot read')):
        node_state.use(ModelParameters(springs=bad))
        with pytest.raises(DynamicsError, match=words):
            node_state.load(TWO_JOINTS)
        assert node_state.current_robot.refusal.startswith(
            'the robot description was refused: parameter springs: ')
        assert node_state.robot is before
    node_state.use(ModelParameters(springs=SPRINGS))
    assert not node_state.load(TWO_JOINTS)
    node_state.use(ModelParameters(springs=SPRINGS.replace('12', '13')))
    assert node_state.load(TWO_JOINTS)  # another spring is another robot
    node_state.use(ModelParameters())
    assert node_state.load(TWO_JOINTS)
    assert node_state.current_robot.model_id == ids[0]


def test_springs_survive_payloads_gravity_and_friction(node_state, robot):
    """They belong to the description."""
    node_state.current_robot.set_payload('cup', ('elbow_link', 0.5, (0.0, 0.0, 0.0), None), 0.0)
    node_state.current_robot.set_gravity(np.array([0.0, 0.0, -3.0]))
    node_state.current_robot.set_friction({'elbow': 0.3}, {})
    assert (node_state.robot.springs, node_state.robot.actuators) == (robot.springs,
                                                                      robot.actuators)


def test_every_service_uses_the_robot_with_its_springs(node_state, robot):
    """To the last digit; named joints may be in another order."""
    plain = robot.with_springs(None)
    state = {'joint_names': ['elbow', 'shoulder'], 'position': Q[::-1], 'velocity': V[::-1]}
    tau = robot.inverse_dynamics(Q, V, A)
    assert np.abs(tau - plain.inverse_dynamics(Q, V, A)).min() > 1.0
    assert ask(node_state, 'inverse_dynamics', acceleration=A[::-1], **state
               ).effort.tolist() == tau[::-1].tolist()
    assert ask(node_state, 'forward_dynamics', effort=A[::-1], **state
               ).acceleration.tolist() == robot.forward_dynamics(Q, V, A)[::-1].tolist()
    by_q = ask(node_state, 'dynamics_derivatives', question='inverse', acceleration=A[::-1], **state
               ).by_position
    assert np.reshape(by_q, (2, 2)).tolist() == (
        robot.inverse_dynamics_derivatives(Q, V, A).dq[::-1, ::-1].tolist())
    linear = ask(node_state, 'linearization', position=Q, velocity=V, effort=A)
    assert np.reshape(linear.state_matrix, (4, 4)).tolist() == robot.linearize(Q, V, A).A.tolist()


def test_the_terms_have_springs_and_actuators(node_state, robot):
    """The equation of motion holds; energies contain that of the springs."""
    state = {'joint_names': ['elbow', 'shoulder'], 'position': Q[::-1], 'velocity': V[::-1]}
    reply = ask(node_state, 'dynamics_terms', **state)
    assert reply.springs.tolist() == robot.spring_torque(Q, V)[::-1].tolist()
    sum_of_terms = (np.reshape(reply.mass_matrix, (2, 2)) @ A[::-1] + reply.coriolis
                    + reply.gravity + reply.friction + reply.springs)
    np.testing.assert_allclose(sum_of_terms, robot.inverse_dynamics(Q, V, A)[::-1],
                               rtol=EXACT_MATHS)
    assert reply.potential_energy == robot.potential_energy(Q)
    found = robot.actuator_motion(Q, V)
    assert reply.actuator_names == ['rod']
    assert reply.actuator_lengths.tolist() == found.length.tolist()
    assert reply.actuator_rates.tolist() == found.rate.tolist()
    assert reply.moment_arms.tolist() == found.moment_arms[0, ::-1].tolist()
    batch = ask(node_state, 'batch_dynamics', question='terms', position=[*Q, *V],
                velocity=[*V, *A])
    assert batch.springs.tolist() == robot.spring_torque([Q, V], [V, A]).ravel().tolist()
    assert len(ask(node_state_of(TWO_JOINTS), 'dynamics_terms', **state).springs) == 0


def test_a_state_in_which_a_spring_has_no_length_is_refused_by_its_name():
    """The shoulder's origin is where the spring is fixed to the world."""
    node_state = node_state_of(TWO_JOINTS, springs='springs: [{name: strut, stiffness: 3, '
                               'frame: shoulder_link, to_point: [0.1, -0.2, 0.4]}]')
    assert "spring 'strut': both ends meet at this q" in refused(
        node_state, 'inverse_dynamics', position=[0.0, 0.0], velocity=[0.0, 0.0])


def test_files_of_peers_are_read_below_the_shared_folders_only(tmp_path):
    """As those of constraints; the content is not shown."""
    (tmp_path / 'springs.yaml').write_text('springs: [{name: secret, joint: secret}]')
    shared = tmp_path / 'shared'
    shared.mkdir()
    files = ParameterFiles({}, SharedFolders.of([str(shared)]))
    with pytest.raises(DynamicsError, match='parameter springs is .* expected a path below'), (
            files.checked(b'', '', str(tmp_path / 'springs.yaml'))):
        pass
    with pytest.raises(DynamicsError, match='no robot can be built with here.yaml') as refusal, (
            files.checked(b'', '', 'here.yaml')):
        raise DynamicsError('secret')
    assert 'secret' not in str(refusal.value)


def test_too_many_springs_are_refused():
    many = [f'{{name: s{k}, joint: elbow}}' for k in range(51)]
    with pytest.raises(DynamicsError, match=r'springs: 51, at most 50 \(model\.max_springs\)$'):
        node_state_of(TWO_JOINTS, springs=f'springs: [{", ".join(many)}]')
