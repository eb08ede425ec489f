"""Test the current robot: settings survive a new description, refusals change nothing."""

import numpy as np
import pytest
from support.tiny_robots import TWO_JOINTS, chain

from dynamics_node import DynamicsError, Robot
from dynamics_node.parameter import PerJoint
from dynamics_node.ros.current_robot import MOST_PAYLOADS, CurrentRobot
from dynamics_node.ros.parameters.declared import ModelParameters

WITH_WRIST = chain(('shoulder', 'revolute'), ('elbow', 'revolute'), ('wrist', 'revolute'))
ONE_JOINT = chain(('shoulder', 'revolute'))
ELBOW = PerJoint(named={'elbow': 0.1})
LOAD = ('elbow_link', 2.0, (0.1, 0.2, 0.3), np.diag([0.03, 0.04, 0.05]))
STATE = np.array([0.3, -0.7]), np.array([1.1, -0.4]), np.array([0.2, 0.9])


class Clock:
    """Seconds that pass on request."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def current(clock):
    """The CurrentRobot with two joints."""
    current = CurrentRobot(clock)
    assert current.load(TWO_JOINTS, ModelParameters())
    return current


def torque(current):
    return current.robot.inverse_dynamics(*STATE).tobytes()


def everything_set(current):
    current.set_payload('box', LOAD, 0.0)
    current.set_gravity(np.array([1.0, 2.0, -9.0]))
    current.set_friction({'shoulder': 7.0}, {'elbow': 3.0})


def test_without_a_description_the_error_names_topic_and_parameter():
    """There is no robot."""
    current = CurrentRobot(Clock())
    assert not current.exists
    with pytest.raises(DynamicsError, match="topic robot_description.*'robot_description'"):
        current.robot  # noqa: B018


def test_the_robot_is_that_of_the_description(current):
    """The parameters are those of Robot.from_urdf."""
    parameters = ModelParameters(base='floating', gravity=(1.0, 2.0, 3.0),
                                 locked=PerJoint(named={'elbow': 0.25}),
                                 armature=PerJoint(named={'shoulder': 0.5}), friction=False,
                                 friction_speed=0.5)
    current.load(TWO_JOINTS, parameters)
    want = Robot.from_urdf(TWO_JOINTS, base='floating', gravity=(1.0, 2.0, 3.0),
                           locked={'elbow': 0.25}, armature={'shoulder': 0.5}, friction=False,
                           friction_speed=0.5)
    q, v, a = want.random_configuration(1), np.ones(want.nv), np.ones(want.nv)
    assert current.robot.joint_names == want.joint_names == ('floating_base', 'shoulder')
    assert (current.robot.inverse_dynamics(q, v, a) == want.inverse_dynamics(q, v, a)).all()


def test_payload_gravity_and_friction_survive_a_new_description(current):
    """The results are those of a robot with the same settings."""
    everything_set(current)
    assert current.load(WITH_WRIST, ModelParameters())
    want = Robot.from_urdf(WITH_WRIST, gravity=(1.0, 2.0, -9.0)).with_friction(
        {'shoulder': 7.0}, {'elbow': 3.0}).with_payload('box', *LOAD)
    state = np.full((3, 3), 0.4)
    assert (current.robot.inverse_dynamics(*state) == want.inverse_dynamics(*state)).all()


@pytest.mark.parametrize('bad', ['<robot name="r"/>', 'no/such/file.urdf', '<robot', '',
                                 TWO_JOINTS.replace('mass value="2"', 'mass value="nan"')])
def test_a_bad_text_is_refused_and_nothing_changes(current, bad):
    """The same model_id, the same bits, and a reason."""
    everything_set(current)
    before = torque(current), current.model_id, current.payloads
    with pytest.raises(DynamicsError) as refused:
        current.load(bad, ModelParameters())
    assert current.refusal == f'the robot description was refused: {refused.value}'
    assert (torque(current), current.model_id, current.payloads) == before
    assert current.load(TWO_JOINTS, ModelParameters()) is False
    assert current.refusal == ''


def test_a_bad_first_description_is_the_reason_of_later_refusals():
    """There is no robot."""
    current = CurrentRobot(Clock())
    with pytest.raises(DynamicsError):
        current.load('<robot name="r"/>', ModelParameters())
    with pytest.raises(DynamicsError, match='no robot: .*refused: .*<link>'):
        current.robot  # noqa: B018


@pytest.mark.parametrize('name', ['locked', 'armature'])
def test_parameters_that_name_an_unknown_joint_are_refused(current, name):
    """As a bad text is."""
    before = torque(current), current.model_id
    with pytest.raises(DynamicsError, match='knee.*shoulder, elbow'):
        current.load(TWO_JOINTS, ModelParameters(**{name: PerJoint(named={'knee': 0.1})}))
    assert (torque(current), current.model_id) == before


def test_a_payload_on_a_frame_that_the_new_robot_lacks_is_refused(current):
    """Without it the arm would fall."""
    current.set_payload('box', LOAD, 0.0)
    before = torque(current), current.model_id
    with pytest.raises(DynamicsError, match="payload 'box'.*'elbow_link'.*remove"):
        current.load(ONE_JOINT, ModelParameters())
    assert (torque(current), current.model_id) == before
    current.remove_payload('box', 0.0)
    assert current.load(ONE_JOINT, ModelParameters())


def test_a_payload_being_removed_does_not_refuse_a_new_robot(current, clock):
    """Without its frame."""
    current.set_payload('box', LOAD, 0.0)
    current.remove_payload('box', 4.0)
    clock.now += 1.0
    assert current.load(ONE_JOINT, ModelParameters())
    assert current.robot.total_mass == Robot.from_urdf(ONE_JOINT).total_mass
    assert current.settled_robot()[1] == current.model_id


def test_trying_a_description_changes_nothing(current):
    """As the check of a parameter change does."""
    before = torque(current), current.model_id
    plan = current.try_load(WITH_WRIST, ModelParameters())
    assert plan.robot.joint_names == ('shoulder', 'elbow', 'wrist')
    assert plan.model_id != current.model_id
    with pytest.raises(DynamicsError):
        current.try_load('<robot name="r"/>', ModelParameters())
    assert (torque(current), current.model_id, current.refusal) == (*before, '')


@pytest.mark.parametrize('duration', [0.0, 2.0])
def test_removing_a_payload_restores_the_robot_and_its_model_id(current, clock, duration):
    """To the bit, for any other payloads and transitions."""
    current.set_payload('tool', ('shoulder_link', 1.0, (0.0, 0.0, 0.1), np.zeros((3, 3))), 0.0)
    before = torque(current), current.model_id
    current.set_payload('box', LOAD, duration)
    clock.now += duration
    assert torque(current) != before[0]
    assert current.model_id != before[1]
    current.remove_payload('box', duration)
    clock.now += duration
    assert (torque(current), current.model_id) == before


def test_the_robot_in_a_transition_is_between_the_two(current, clock):
    """Linear in time, since torque is linear in mass and inertia; the id is that of the end."""
    empty = current.robot.inverse_dynamics(*STATE)
    current.set_payload('box', LOAD, 4.0)
    settled, settled_id = current.settled_robot()
    full = settled.inverse_dynamics(*STATE)
    seen = set()
    for u in (0.0, 0.25, 0.5, 1.0):
        clock.now = 100.0 + 4.0 * u
        tau = current.robot.inverse_dynamics(*STATE)
        assert tau == pytest.approx((1 - u) * empty + u * full)
        assert current.payloads['box'][1] == u
        seen.add(current.model_id)
    assert len(seen) == 4
    assert current.model_id == settled_id
    assert torque(current) == full.tobytes()


def test_the_robot_object_stays_the_same_without_a_transition(current, clock):
    """Its kernels are bound once; in a transition each call makes a new one."""
    current.set_payload('box', LOAD, 4.0)
    assert current.robot is not current.robot
    clock.now += 4.0
    assert current.robot is current.robot


def test_the_version_changes_with_the_robot_and_only_then(current, clock):
    """The torque process reads it for each joint state, instead of the robot."""
    seen = [current.version]

    def changed():
        robot = current.robot
        seen.append(current.version)
        assert current.robot is robot or current.changing
        return seen[-1] != seen[-2]
    assert not changed()
    current.set_gravity((0.0, 0.0, -1.6))
    assert changed() and not current.changing
    current.set_payload('box', LOAD, 2.0)
    assert changed() and current.changing
    clock.now += 1.0
    assert changed() and current.changing
    clock.now += 2.0
    assert changed() and not current.changing
    assert not changed()
    current.load(WITH_WRIST, ModelParameters())
    assert changed()


def test_the_number_of_payloads_is_bounded_and_removal_never_refused(current, clock):
    """Each delays every torque. Those being removed count until they are gone."""
    for k in range(MOST_PAYLOADS):
        current.set_payload(f'box {k}', LOAD, 1.0)
    with pytest.raises(DynamicsError, match=f'carries {MOST_PAYLOADS} payloads already'):
        current.set_payload('one more', LOAD, 0.0)
    current.set_payload('box 7', ('elbow_link', 3.0), 0.0)   # in place of one
    current.remove_payload('box 8', 2.0)
    with pytest.raises(DynamicsError, match='in transition included'):
        current.set_payload('one more', LOAD, 1.0)
    clock.now += 2.0
    current.set_payload('one more', LOAD, 1.0)
    assert current.robot.payloads['box 7'].mass == 3.0
    assert len(current.robot.payloads) == MOST_PAYLOADS


def test_many_payloads_are_attached_together(current):
    """As one after the other."""
    one_by_one = current.robot
    for k in range(5):
        load = ('elbow_link', 1.0 + k, (0.1 * k, 0.2, 0.3), np.diag([0.03, 0.04, 0.05]))
        current.set_payload(f'box {k}', load, 0.0)
        one_by_one = one_by_one.with_payload(f'box {k}', *load)
    assert current.robot.payloads == one_by_one.payloads
    assert torque(current) == one_by_one.inverse_dynamics(*STATE).tobytes()


def test_a_new_description_does_not_stop_a_transition(current, clock):
    """It goes on with the new robot."""
    current.set_payload('box', LOAD, 4.0)
    clock.now += 1.0
    current.load(WITH_WRIST, ModelParameters())
    bare = Robot.from_urdf(WITH_WRIST).total_mass
    assert current.robot.total_mass == pytest.approx(bare + 0.25 * 2.0)
    clock.now += 3.0
    assert current.robot.total_mass == pytest.approx(bare + 2.0)


@pytest.mark.parametrize('change', [
    lambda current: current.set_payload('box', LOAD, 0.0),
    lambda current: current.set_gravity(np.array([0.0, 0.0, -1.62])),
    lambda current: current.set_friction({'shoulder': 7.0}, {}),
    lambda current: current.set_friction({}, {'shoulder': 7.0}),
    lambda current: current.load(WITH_WRIST, ModelParameters()),
    lambda current: current.load(TWO_JOINTS, ModelParameters(base='floating')),
    lambda current: current.load(TWO_JOINTS, ModelParameters(gravity=(0.0, 0.0, -1.62))),
    lambda current: current.load(TWO_JOINTS, ModelParameters(locked=ELBOW)),
    lambda current: current.load(TWO_JOINTS, ModelParameters(armature=ELBOW)),
    lambda current: current.load(TWO_JOINTS, ModelParameters(friction=False)),
    lambda current: current.load(TWO_JOINTS, ModelParameters(friction_speed=0.5)),
])
def test_the_model_id_depends_on_all_that_changes_results(current, change):
    """Sixteen hexadecimal digits, the same in every process."""
    before = current.model_id
    change(current)
    assert current.model_id != before
    assert len(current.model_id) == 16
    assert int(current.model_id, 16) >= 0


@pytest.mark.parametrize('change', [
    lambda current: current.load(TWO_JOINTS, ModelParameters()),
    lambda current: current.load(f'\n  {TWO_JOINTS}\n'.encode(), ModelParameters()),
    lambda current: current.load(TWO_JOINTS, ModelParameters(max_state_age=1.0)),
    lambda current: current.load(TWO_JOINTS, ModelParameters(compile=False)),
    lambda current: current.set_gravity(np.array([-0.0, 0.0, -9.81])),
    lambda current: current.set_friction({'shoulder': 0.5}, {'elbow': 0.25}),  # those of the URDF
    lambda current: current.set_friction({}, {}, reset=['shoulder', 'elbow']),
])
def test_the_model_id_does_not_depend_on_anything_else(current, change):
    """The results are the same to the bit."""
    before = torque(current), current.model_id
    change(current)
    assert (torque(current), current.model_id) == before


def test_the_model_id_depends_on_gravity_and_not_on_its_source(current):
    """The parameter or the service."""
    moon = (0.0, 0.0, -1.62)
    current.set_gravity(np.array(moon))
    by_service = torque(current), current.model_id
    current.load(TWO_JOINTS, ModelParameters(gravity=moon))
    assert (torque(current), current.model_id) == by_service


def test_a_new_gravity_parameter_replaces_that_of_the_service(current):
    """Other parameters do not."""
    current.set_gravity(np.array([0.0, 0.0, -1.62]))
    current.load(TWO_JOINTS, ModelParameters(friction_speed=0.5))
    assert current.robot.gravity.tolist() == [0.0, 0.0, -1.62]
    current.load(TWO_JOINTS, ModelParameters(gravity=(0.0, 0.0, -3.7)))
    assert current.robot.gravity.tolist() == [0.0, 0.0, -3.7]


def test_gravity_and_friction_by_parameter_change_the_same_robot(current):
    assert not current.load(TWO_JOINTS, ModelParameters(
        gravity=(0.0, 0.0, -1.0), friction=False, damping=PerJoint(named={'elbow': 1.0}),
        dry_friction=PerJoint(named={'elbow': 2.0})))
    assert current.robot.gravity.tolist() == [0.0, 0.0, -1.0]
    assert current.robot.model.damping.tolist() == [0.0, 1.0]
    assert current.robot.model.friction.tolist() == [0.0, 2.0]


def test_further_terms_of_friction_come_by_parameter(current):
    """Each in its place; without the friction of the URDF, an asymmetry needs friction."""
    def one(value):
        return PerJoint(named={'elbow': value})
    assert not current.load(TWO_JOINTS, ModelParameters(
        stribeck_friction=one(0.4), stribeck_speed=one(0.3), friction_asymmetry=one(0.1),
        damping_asymmetry=one(-0.2), friction_speeds=one(0.05)))
    terms = current.robot.model.friction_terms
    assert [float(each[1]) for each in terms] == [0.4, 0.3, 0.1, -0.2, 0.05]
    assert [float(each[0]) for each in terms] == [0.0, 0.1, 0.0, 0.0, 0.01]
    with pytest.raises(DynamicsError, match=r"friction_asymmetry\['elbow'\] is 0.1; expected -0 "):
        current.load(TWO_JOINTS, ModelParameters(friction=False, friction_asymmetry=one(0.1)))


def test_a_new_friction_parameter_replaces_that_of_the_service(current):
    """A parameter that stays the same does not."""
    current.set_friction({'shoulder': 7.0}, {})
    current.load(WITH_WRIST, ModelParameters())
    current.load(TWO_JOINTS, ModelParameters(gravity=(0.0, 0.0, -1.0)))
    assert current.robot.model.damping.tolist() == [7.0, 0.5]
    current.load(TWO_JOINTS, ModelParameters(damping=PerJoint(named={'elbow': 2.0})))
    assert current.robot.model.damping.tolist() == [0.5, 2.0]


def test_friction_of_a_missing_joint_is_kept_for_its_return(current):
    """A robot without the joint is accepted."""
    current.set_friction({'elbow': 7.0, 'shoulder': 6.0}, {'elbow': 5.0})
    before = torque(current), current.model_id
    current.load(ONE_JOINT, ModelParameters())
    assert current.robot.model.damping.tolist() == [6.0]
    current.load(TWO_JOINTS, ModelParameters())
    assert (torque(current), current.model_id) == before


def test_friction_is_reset_joint_by_joint(current):
    """To what the URDF says."""
    current.set_friction({'elbow': 7.0, 'shoulder': 6.0}, {'elbow': 5.0})
    current.set_friction({}, {'elbow': 1.0}, reset=['elbow'])
    assert current.robot.model.damping.tolist() == [6.0, 0.5]
    assert current.robot.model.friction.tolist() == [0.25, 1.0]


@pytest.mark.parametrize('change', [
    lambda current: current.set_payload('box', ('nowhere', 1.0, (0, 0, 0), np.zeros((3, 3))), 1.0),
    lambda current: current.set_payload('box', ('base', -1.0, (0, 0, 0), np.zeros((3, 3))), 1.0),
    lambda current: current.set_payload(
        'box', ('base', 1.0, (0, 0, 0), np.diag([1.0, 1.0, 3.0])), 1.0),
    lambda current: current.remove_payload('box', 1.0),
    lambda current: current.set_gravity(np.array([0.0, np.nan, 0.0])),
    lambda current: current.set_friction({'shoulder': 1.0}, {'elbow': -1.0}, reset=['shoulder']),
    lambda current: current.set_friction({'nobody': 1.0}, {}),
])
def test_invalid_settings_are_refused_and_nothing_changes(current, change):
    """Not even the valid part is applied."""
    current.set_friction({'shoulder': 2.0}, {})
    current.set_payload('tool', LOAD, 0.0)
    before = torque(current), current.model_id, current.payloads
    with pytest.raises(DynamicsError):
        change(current)
    assert (torque(current), current.model_id, current.payloads) == before


def test_a_robot_that_was_returned_never_changes(current):
    """A caller finishes with the robot it began with."""
    robot, before = current.robot, torque(current)
    everything_set(current)
    current.load(WITH_WRIST, ModelParameters())
    assert robot.inverse_dynamics(*STATE).tobytes() == before
