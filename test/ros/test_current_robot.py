"""The robot that is held: what outlives a new description, and what is refused without a trace."""

import numpy as np
import pytest
from support.tiny_robots import TWO_JOINTS, chain

from dynamics_node import DynamicsError, Robot
from dynamics_node.ros.current_robot import MOST_PAYLOADS, CurrentRobot
from dynamics_node.ros.parameters.declared import ModelParameters

WITH_WRIST = chain(('shoulder', 'revolute'), ('elbow', 'revolute'), ('wrist', 'revolute'))
ONE_JOINT = chain(('shoulder', 'revolute'))
LOAD = ('elbow_link', 2.0, (0.1, 0.2, 0.3), np.diag([0.03, 0.04, 0.05]))
STATE = np.array([0.3, -0.7]), np.array([1.1, -0.4]), np.array([0.2, 0.9])


class Clock:
    """Seconds that pass when told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def held(clock):
    """Holds the robot of two joints."""
    held = CurrentRobot(clock)
    assert held.load(TWO_JOINTS, ModelParameters())
    return held


def torque(held):
    return held.robot.inverse_dynamics(*STATE).tobytes()


def everything_set(held):
    held.set_payload('box', LOAD, 0.0)
    held.set_gravity(np.array([1.0, 2.0, -9.0]))
    held.set_friction({'shoulder': 7.0}, {'elbow': 3.0})


def test_before_any_description_there_is_no_robot_and_the_error_says_where_it_would_come_from():
    """Topic and parameter are named."""
    held = CurrentRobot(Clock())
    assert not held.exists
    with pytest.raises(DynamicsError, match="topic robot_description.*'robot_description'"):
        held.robot  # noqa: B018


def test_it_is_the_robot_of_the_description(held):
    """The parameters are those of Robot.from_urdf."""
    parameters = ModelParameters(base='floating', gravity=(1.0, 2.0, 3.0), locked='elbow=0.25',
                            armature='shoulder=0.5', friction=False, friction_speed=0.5)
    held.load(TWO_JOINTS, parameters)
    want = Robot.from_urdf(TWO_JOINTS, base='floating', gravity=(1.0, 2.0, 3.0),
                           locked={'elbow': 0.25}, armature={'shoulder': 0.5}, friction=False,
                           friction_speed=0.5)
    q, v, a = want.random_configuration(1), np.ones(want.nv), np.ones(want.nv)
    assert held.robot.joint_names == want.joint_names == ('floating_base', 'shoulder')
    assert (held.robot.inverse_dynamics(q, v, a) == want.inverse_dynamics(q, v, a)).all()


def test_payload_gravity_and_friction_survive_a_new_description(held):
    """The new robot answers as one that was given all of them directly."""
    everything_set(held)
    assert held.load(WITH_WRIST, ModelParameters())
    want = Robot.from_urdf(WITH_WRIST, gravity=(1.0, 2.0, -9.0)).with_friction(
        {'shoulder': 7.0}, {'elbow': 3.0}).with_payload('box', *LOAD)
    state = np.full((3, 3), 0.4)
    assert (held.robot.inverse_dynamics(*state) == want.inverse_dynamics(*state)).all()


@pytest.mark.parametrize('bad', ['<robot name="r"/>', 'no/such/file.urdf', '<robot', '',
                                 TWO_JOINTS.replace('mass value="2"', 'mass value="nan"')])
def test_a_bad_text_is_refused_and_all_is_as_before(held, bad):
    """The same model_id, the same bits, and a reason."""
    everything_set(held)
    before = torque(held), held.model_id, held.payloads
    with pytest.raises(DynamicsError) as refused:
        held.load(bad, ModelParameters())
    assert held.refusal == f'the robot description was refused: {refused.value}'
    assert (torque(held), held.model_id, held.payloads) == before
    assert held.load(TWO_JOINTS, ModelParameters()) is False
    assert held.refusal == ''


def test_a_bad_first_description_is_told_to_who_asks():
    """Instead of the robot that there is not."""
    held = CurrentRobot(Clock())
    with pytest.raises(DynamicsError):
        held.load('<robot name="r"/>', ModelParameters())
    with pytest.raises(DynamicsError, match='no robot: .*refused: .*<link>'):
        held.robot  # noqa: B018


@pytest.mark.parametrize('name', ['locked', 'armature'])
def test_parameters_that_name_a_joint_the_robot_has_not_are_refused(held, name):
    """As a bad text is."""
    before = torque(held), held.model_id
    with pytest.raises(DynamicsError, match='nobody.*shoulder, elbow'):
        held.load(TWO_JOINTS, ModelParameters(**{name: 'nobody=0.1'}))
    assert (torque(held), held.model_id) == before


def test_a_payload_on_a_frame_that_the_new_robot_lacks_is_refused(held):
    """It would be dropped in silence, and the arm would drop with it."""
    held.set_payload('box', LOAD, 0.0)
    before = torque(held), held.model_id
    with pytest.raises(DynamicsError, match="payload 'box'.*'elbow_link'.*remove"):
        held.load(ONE_JOINT, ModelParameters())
    assert (torque(held), held.model_id) == before
    held.remove_payload('box', 0.0)
    assert held.load(ONE_JOINT, ModelParameters())


def test_a_payload_on_its_way_out_is_no_reason_to_refuse_a_robot_without_its_frame(held, clock):
    """Who took it off has done what can be done."""
    held.set_payload('box', LOAD, 0.0)
    held.remove_payload('box', 4.0)
    clock.now += 1.0
    assert held.load(ONE_JOINT, ModelParameters())
    assert held.robot.total_mass == Robot.from_urdf(ONE_JOINT).total_mass
    assert held.settled_robot()[1] == held.model_id


def test_trying_a_description_changes_nothing(held):
    """What a parameter change asks before it is allowed."""
    before = torque(held), held.model_id
    described, robot, model_id = held.try_load(WITH_WRIST, ModelParameters())
    assert robot.joint_names == ('shoulder', 'elbow', 'wrist')
    assert model_id != held.model_id
    with pytest.raises(DynamicsError):
        held.try_load('<robot name="r"/>', ModelParameters())
    assert (torque(held), held.model_id, held.refusal) == (*before, '')


@pytest.mark.parametrize('duration', [0.0, 2.0])
def test_taking_a_payload_off_gives_back_the_same_bits_and_the_same_model_id(held, clock, duration):
    """Whatever else was carried before, and however gently it went."""
    held.set_payload('tool', ('shoulder_link', 1.0, (0.0, 0.0, 0.1), np.zeros((3, 3))), 0.0)
    before = torque(held), held.model_id
    held.set_payload('box', LOAD, duration)
    clock.now += duration
    assert torque(held) != before[0]
    assert held.model_id != before[1]
    held.remove_payload('box', duration)
    clock.now += duration
    assert (torque(held), held.model_id) == before


def test_in_a_transition_the_robot_is_between_the_two(held, clock):
    """Linear in time, since torque is linear in mass and inertia; the id is told in advance."""
    empty = held.robot.inverse_dynamics(*STATE)
    held.set_payload('box', LOAD, 4.0)
    settled, settled_id = held.settled_robot()
    full = settled.inverse_dynamics(*STATE)
    seen = set()
    for u in (0.0, 0.25, 0.5, 1.0):
        clock.now = 100.0 + 4.0 * u
        tau = held.robot.inverse_dynamics(*STATE)
        assert tau == pytest.approx((1 - u) * empty + u * full)
        assert held.payloads['box'][1] == u
        seen.add(held.model_id)
    assert len(seen) == 4
    assert held.model_id == settled_id
    assert torque(held) == full.tobytes()


def test_when_nothing_changes_any_more_the_robot_is_one_and_the_same(held, clock):
    """Its kernels are bound once; in a transition it is made anew for who asks."""
    held.set_payload('box', LOAD, 4.0)
    assert held.robot is not held.robot
    clock.now += 4.0
    assert held.robot is held.robot


def test_payloads_without_end_are_refused_and_taking_off_never_is(held, clock):
    """Each makes every torque a little later. Those that leave count as well, until they have."""
    for k in range(MOST_PAYLOADS):
        held.set_payload(f'box {k}', LOAD, 1.0)
    with pytest.raises(DynamicsError, match=f'carries {MOST_PAYLOADS} payloads already'):
        held.set_payload('one more', LOAD, 0.0)
    held.set_payload('box 7', ('elbow_link', 3.0), 0.0)   # in place of one
    held.remove_payload('box 8', 2.0)
    with pytest.raises(DynamicsError, match='in transition included'):
        held.set_payload('one more', LOAD, 1.0)
    clock.now += 2.0
    held.set_payload('one more', LOAD, 1.0)
    assert held.robot.payloads['box 7'].mass == 3.0
    assert len(held.robot.payloads) == MOST_PAYLOADS


def test_many_payloads_are_put_together_in_one_go(held):
    """As if they had been attached one after the other."""
    one_by_one = held.robot
    for k in range(5):
        load = ('elbow_link', 1.0 + k, (0.1 * k, 0.2, 0.3), np.diag([0.03, 0.04, 0.05]))
        held.set_payload(f'box {k}', load, 0.0)
        one_by_one = one_by_one.with_payload(f'box {k}', *load)
    assert held.robot.payloads == one_by_one.payloads
    assert torque(held) == one_by_one.inverse_dynamics(*STATE).tobytes()


def test_a_new_description_in_the_midst_of_a_transition_does_not_stop_it(held, clock):
    """It goes on with the new robot."""
    held.set_payload('box', LOAD, 4.0)
    clock.now += 1.0
    held.load(WITH_WRIST, ModelParameters())
    bare = Robot.from_urdf(WITH_WRIST).total_mass
    assert held.robot.total_mass == pytest.approx(bare + 0.25 * 2.0)
    clock.now += 3.0
    assert held.robot.total_mass == pytest.approx(bare + 2.0)


@pytest.mark.parametrize('change', [
    lambda held: held.set_payload('box', LOAD, 0.0),
    lambda held: held.set_gravity(np.array([0.0, 0.0, -1.62])),
    lambda held: held.set_friction({'shoulder': 7.0}, {}),
    lambda held: held.set_friction({}, {'shoulder': 7.0}),
    lambda held: held.load(WITH_WRIST, ModelParameters()),
    lambda held: held.load(TWO_JOINTS, ModelParameters(base='floating')),
    lambda held: held.load(TWO_JOINTS, ModelParameters(gravity=(0.0, 0.0, -1.62))),
    lambda held: held.load(TWO_JOINTS, ModelParameters(locked='elbow=0.1')),
    lambda held: held.load(TWO_JOINTS, ModelParameters(armature='elbow=0.1')),
    lambda held: held.load(TWO_JOINTS, ModelParameters(friction=False)),
    lambda held: held.load(TWO_JOINTS, ModelParameters(friction_speed=0.5)),
])
def test_whatever_changes_the_answers_changes_the_model_id(held, change):
    """Sixteen hexadecimal digits, the same in every process."""
    before = held.model_id
    change(held)
    assert held.model_id != before
    assert len(held.model_id) == 16
    assert int(held.model_id, 16) >= 0


@pytest.mark.parametrize('change', [
    lambda held: held.load(TWO_JOINTS, ModelParameters()),
    lambda held: held.load(f'\n  {TWO_JOINTS}\n'.encode(), ModelParameters()),
    lambda held: held.load(TWO_JOINTS, ModelParameters(max_state_age=1.0)),
    lambda held: held.load(TWO_JOINTS, ModelParameters(compile=False)),
    lambda held: held.set_gravity(np.array([-0.0, 0.0, -9.81])),
    lambda held: held.set_friction({'shoulder': 0.5}, {'elbow': 0.25}),  # as the URDF has them
    lambda held: held.set_friction({}, {}, reset=['shoulder', 'elbow']),
])
def test_what_does_not_change_the_answers_does_not_change_the_model_id(held, change):
    """The bits are the same too."""
    before = torque(held), held.model_id
    change(held)
    assert (torque(held), held.model_id) == before


def test_gravity_is_known_by_what_it_is_not_by_who_set_it(held):
    """The parameter or the service."""
    moon = (0.0, 0.0, -1.62)
    held.set_gravity(np.array(moon))
    by_service = torque(held), held.model_id
    held.load(TWO_JOINTS, ModelParameters(gravity=moon))
    assert (torque(held), held.model_id) == by_service


def test_a_new_value_of_the_gravity_parameter_is_the_newer_word(held):
    """It takes the place of what the service set; other parameters do not."""
    held.set_gravity(np.array([0.0, 0.0, -1.62]))
    held.load(TWO_JOINTS, ModelParameters(friction_speed=0.5))
    assert held.robot.gravity.tolist() == [0.0, 0.0, -1.62]
    held.load(TWO_JOINTS, ModelParameters(gravity=(0.0, 0.0, -3.7)))
    assert held.robot.gravity.tolist() == [0.0, 0.0, -3.7]


def test_friction_of_a_joint_that_is_gone_waits_for_its_return(held):
    """And is no reason to refuse the robot without it."""
    held.set_friction({'elbow': 7.0, 'shoulder': 6.0}, {'elbow': 5.0})
    before = torque(held), held.model_id
    held.load(ONE_JOINT, ModelParameters())
    assert held.robot.model.damping.tolist() == [6.0]
    held.load(TWO_JOINTS, ModelParameters())
    assert (torque(held), held.model_id) == before


def test_friction_is_reset_joint_by_joint(held):
    """To what the URDF says."""
    held.set_friction({'elbow': 7.0, 'shoulder': 6.0}, {'elbow': 5.0})
    held.set_friction({}, {'elbow': 1.0}, reset=['elbow'])
    assert held.robot.model.damping.tolist() == [6.0, 0.5]
    assert held.robot.model.friction.tolist() == [0.25, 1.0]


@pytest.mark.parametrize('change', [
    lambda held: held.set_payload('box', ('nowhere', 1.0, (0, 0, 0), np.zeros((3, 3))), 1.0),
    lambda held: held.set_payload('box', ('base', -1.0, (0, 0, 0), np.zeros((3, 3))), 1.0),
    lambda held: held.set_payload('box', ('base', 1.0, (0, 0, 0), np.diag([1.0, 1.0, 3.0])), 1.0),
    lambda held: held.remove_payload('box', 1.0),
    lambda held: held.set_gravity(np.array([0.0, np.nan, 0.0])),
    lambda held: held.set_friction({'shoulder': 1.0}, {'elbow': -1.0}, reset=['shoulder']),
    lambda held: held.set_friction({'nobody': 1.0}, {}),
])
def test_what_cannot_be_right_is_refused_without_a_trace(held, change):
    """Not even half of it counts."""
    held.set_friction({'shoulder': 2.0}, {})
    held.set_payload('tool', LOAD, 0.0)
    before = torque(held), held.model_id, held.payloads
    with pytest.raises(DynamicsError):
        change(held)
    assert (torque(held), held.model_id, held.payloads) == before


def test_who_began_with_the_old_robot_ends_with_it(held):
    """A robot that was asked for does not change under one's hands."""
    robot, before = held.robot, torque(held)
    everything_set(held)
    held.load(WITH_WRIST, ModelParameters())
    assert robot.inverse_dynamics(*STATE).tobytes() == before
