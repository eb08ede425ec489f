"""Test the torque pipeline: from the measured state to a permitted torque, without ROS."""

import numpy as np
import pytest
from support.node_states import Clocks
from support.pipeline_rig import IMPEDANCE, STEP, Rig, to
from support.tiny_robots import EVERY_KIND, NOTHING_MOVES, TWO_JOINTS, chain
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError
from dynamics_node.control.controller import Controller
from dynamics_node.control.driver_compensation import PRESETS
from dynamics_node.example_robots import ARM7
from dynamics_node.parameter import PerJoint
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters.declared import ModelParameters
from dynamics_node.ros.parameters.observer import ObserverParameters
from dynamics_node.ros.parameters.torque import TorqueParameters
from dynamics_node.ros.torque.pipeline import TorquePipeline
from dynamics_node.safety import SafetySettings

UNLIMITED = chain(('shoulder', 'revolute'), ('elbow', 'revolute'), ('wrist', 'revolute')).replace(
    'effort="50"', 'effort="0"', 2)


# Enable ------------------------------------------------------------------------------------------

def test_enable_is_refused_without_a_robot():
    clocks = Clocks()
    node_state = NodeState(lambda: clocks.now, lambda: clocks.seconds, ModelParameters())
    pipeline = TorquePipeline(node_state.current_robot, node_state.clock, TorqueParameters(),
                              SafetySettings(), pytest.fail)
    with pytest.raises(DynamicsError, match='there is no robot'):
        pipeline.enable(None)
    assert pipeline.on_state(None) is pipeline.tick() is None and pipeline.shutdown_sequence() == []


def test_a_robot_that_comes_later_can_be_driven():
    clocks = Clocks()
    node_state = NodeState(lambda: clocks.now, lambda: clocks.seconds, ModelParameters())
    pipeline = TorquePipeline(node_state.current_robot, node_state.clock, TorqueParameters(),
                              SafetySettings(), pytest.fail)
    node_state.load(TWO_JOINTS)
    pipeline.robot_changed()
    node_state.measured_state.take(clocks.now, ['shoulder', 'elbow'], [0.1, 0.2])
    pipeline.enable(node_state.snapshot())
    assert pipeline.on_state(node_state.snapshot()) is not None


@pytest.mark.parametrize('mode', ['gravity', 'feedforward'])
def test_a_joint_that_was_never_measured_is_a_refusal(mode):
    rig = Rig(TWO_JOINTS, mode=mode)
    rig.measured(joints=['elbow'])
    with pytest.raises(DynamicsError, match='no joint state has been measured'):
        rig.pipeline.enable(rig.node_state.snapshot())
    assert rig.step() is None and rig.state == 'disabled'
    rig.enabled()


def test_unknown_effort_limits_are_a_refusal_that_names_them():
    """Unknown is not zero, and not infinite."""
    with pytest.raises(DynamicsError, match='unknown: shoulder, elbow; give one'):
        Rig(UNLIMITED).enable()
    Rig(UNLIMITED, effort_limits=PerJoint(named={'shoulder': 20.0, 'elbow': 20.0})).enable()
    Rig(UNLIMITED, {'unknown_effort': 'assume'}).enable()
    Rig(UNLIMITED, joints=('wrist',)).enable()


@pytest.mark.parametrize('torque, expected', [
    ({**IMPEDANCE, 'kp': PerJoint(1.0, {'wrist': 2.0})},
     "torque.kp.wrist: no joint 'wrist'; the robot has: shoulder, elbow"),
    ({'gravity_scale': PerJoint(1.0, {'wrist': 1.0})}, 'torque.gravity_scale.wrist: no joint'),
    ({'mode': 'impedance'}, 'set torque.gains to kp_kd'),
    ({'joints': ('elbow', 'wrist')}, "'wrist'.*shoulder, elbow"),
    ({'joints': ('elbow', 'elbow')}, "torque.joints has 'elbow' twice"),
    ({'effort_limits': PerJoint(named={'wrist': 3.0})}, "'wrist'"),
    ({'effort_limits': PerJoint(named={'elbow': -3.0})}, "effort limit of joint 'elbow' is -3"),
    ({'slew_limits': PerJoint(named={'elbow': 1.0})},
     "slew limit of joint 'elbow' is 1 per second")],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else '')
def test_parameters_that_do_not_fit_the_robot_are_refused(torque, expected):
    """On enable; robot_mismatch.py refuses them when they are set."""
    rig = Rig(TWO_JOINTS, **torque)
    with pytest.raises(DynamicsError, match=expected):
        rig.enable()
    rig.pipeline.use(TorqueParameters(), rig.settings)
    rig.enabled()


def test_parameters_for_another_robot_are_refused_until_it_comes():
    rig = Rig(TWO_JOINTS, joints=('wrist',))
    with pytest.raises(DynamicsError, match="'wrist'"):
        rig.enable()
    rig.node_state.load(chain(('wrist', 'revolute')))
    rig.pipeline.robot_changed()
    rig.robot, rig.q, rig.v = rig.node_state.robot, np.zeros(1), np.zeros(1)
    rig.enabled()
    assert rig.pipeline.joints == ['wrist']


def test_enable_is_refused_without_joints():
    rig = Rig(NOTHING_MOVES)
    with pytest.raises(DynamicsError, match='no robot model with a joint to drive'):
        rig.pipeline.enable(rig.node_state.snapshot())


def test_a_stale_state_is_a_refusal():
    rig = Rig(TWO_JOINTS)
    rig.measured(age=0.06)
    with pytest.raises(DynamicsError, match="'shoulder' 0.06 s ago.* at most 0.05 s"):
        rig.pipeline.enable(rig.node_state.snapshot())


def test_a_state_from_the_future_is_a_refusal():
    rig = Rig(TWO_JOINTS)
    rig.measured(age=-0.06)
    with pytest.raises(DynamicsError, match='0.06 s in the future; max_state_age is 0.05 s'):
        rig.pipeline.enable(rig.node_state.snapshot())


def test_another_publisher_is_a_refusal():
    rig = Rig(TWO_JOINTS)
    rig.pipeline.other_publisher = True
    with pytest.raises(DynamicsError, match='another publisher is on the command topic'):
        rig.enable()
    rig.pipeline.other_publisher = False
    rig.enabled()
    rig.pipeline.other_publisher = True
    rig.step()
    assert rig.state == 'fault'
    assert rig.reason == 'another publisher is on the command topic or on ~/torque'


def test_a_second_enable_changes_nothing():
    rig = Rig(TWO_JOINTS).enabled()
    rig.pipeline.enable(rig.node_state.snapshot())
    assert rig.state == 'enabled'


# What is released --------------------------------------------------------------------------------

@pytest.mark.parametrize('source', [ARM7, TWO_JOINTS], ids=['arm7', 'two joints'])
def test_mode_gravity_releases_the_torque_of_the_controller(source):
    rig = Rig(source).enabled()
    controller, rng = Controller(rig.robot), np.random.default_rng(0)
    for _ in range(20):
        rig.q = rig.q + rng.uniform(-0.01, 0.01, rig.robot.nv)
        effort, (_, stamp) = rig.step(), rig.releases[-1]
        assert stamp == rig.node_state.clocks.now
        assert effort == pytest.approx(controller.torque(rig.q), abs=EXACT_MATHS)


def first_torque(rig, **observer):
    """Return the torque at which the ramp starts."""
    rig.measured()
    rig.pipeline.enable(rig.node_state.snapshot(), ObserverParameters(**observer))
    release, _ = rig.pipeline.on_state(rig.node_state.snapshot())
    return release.effort


def test_the_ramp_begins_at_gravity_if_the_meaning_of_effort_is_not_declared():
    """An effort in milliampere, as it was measured on an arm that was flung."""
    rig = Rig(ARM7)
    rig.effort = np.full(7, 3400.0)
    assert first_torque(rig) == pytest.approx(rig.robot.gravity_torque(rig.q))


@pytest.mark.parametrize('driver', PRESETS)
@pytest.mark.parametrize('meaning', ['output_torque', 'motor_torque', 'current', 'without_gravity'])
def test_the_ramp_begins_at_the_command_of_the_measured_effort(meaning, driver):
    """Of a drive that holds the arm and pushes a little."""
    rig = Rig(ARM7, driver=driver)
    gravity, push = rig.robot.gravity_torque(rig.q), 0.1 * np.arange(7)
    constants = {name: 0.5 + k for k, name in enumerate(rig.robot.joint_names)}
    rig.effort = gravity + push
    if meaning == 'without_gravity':
        rig.effort = push
    if meaning == 'current':
        rig.effort = rig.effort / np.array(list(constants.values()))
    found = first_torque(rig, effort_meaning=meaning, torque_constants=PerJoint(
        named=constants if meaning == 'current' else {}))
    # without a payload, every driver that adds something adds the gravity of this robot
    assert found == pytest.approx(push + (gravity if driver == 'full' else 0.0))


@pytest.mark.parametrize('meaning', ['motor_torque', 'without_gravity'])
def test_an_effort_of_another_meaning_than_declared_is_refused(meaning):
    """Milliampere, again."""
    rig = Rig(ARM7)
    rig.effort = np.full(7, 3400.0)
    with pytest.raises(DynamicsError, match="joint 'joint_1' 34.*expected -24 to 24"):
        first_torque(rig, effort_meaning=meaning)
    assert rig.state == 'disabled' and rig.step() is None


def test_a_declaration_that_does_not_fit_the_robot_is_refused():
    with pytest.raises(DynamicsError, match='torque_constants lack shoulder, elbow'):
        first_torque(Rig(TWO_JOINTS), effort_meaning='current')


def test_a_joint_without_an_effort_begins_at_gravity():
    rig = Rig(ARM7)
    rig.effort = np.array([0.5, np.nan, 0.0, 0.0, 0.0, 0.0, np.nan])
    expected = np.where(np.isnan(rig.effort), rig.robot.gravity_torque(rig.q), rig.effort)
    assert first_torque(rig, effort_meaning='motor_torque') == pytest.approx(expected)


def test_only_the_driven_joints_get_torque():
    rig = Rig(TWO_JOINTS, joints=('elbow',)).enabled()
    effort = rig.step()
    assert effort[0] == 0.0 and effort[1] != 0.0
    assert rig.pipeline.joints == ['elbow']


def test_joints_of_other_kinds_are_not_driven():
    """A planar joint cannot be driven, and is measured otherwise."""
    rig = Rig(EVERY_KIND, effort_limits=PerJoint(
        named={'lift': 200.0, 'turn': 200.0, 'elbow': 200.0}))
    state = rig.node_state.measured_state
    names = ['lift', 'turn', 'elbow']

    def measured():
        state.take(rig.node_state.clocks.now, names, [0.1] * 3)
        state.take_joint(rig.node_state.clocks.now, 'drift', np.zeros(3), np.zeros(3))
    measured()
    rig.pipeline.enable(rig.node_state.snapshot())
    for _ in range(20):
        rig.pass_time()
        measured()
        release, _ = rig.pipeline.on_state(rig.node_state.snapshot())
    assert rig.pipeline.joints == names
    expected = rig.robot.gravity_torque(state.q)
    for name, wanted, effort in zip(release.names, expected, release.effort):
        assert effort == (pytest.approx(wanted) if name in names else 0.0)


# Disable, fault, exit ----------------------------------------------------------------------------

@pytest.mark.parametrize('action', ['gravity', 'zero', 'hold'])
def test_disable_and_exit_end_in_the_safe_torque(action):
    """Then there are no releases."""
    for leave in (Rig.run_out, Rig.exit):
        rig = Rig(TWO_JOINTS, {'safe_action': action}).enabled()
        leave(rig)
        assert rig.state == 'disabled' and rig.gate.idle
        safe = rig.robot.gravity_torque(rig.q) if action == 'gravity' else np.zeros(2)
        assert rig.releases[-1][0].effort == pytest.approx(safe, abs=EXACT_MATHS)
        assert rig.step() is rig.tick(1.0) is None and rig.pipeline.shutdown_sequence() == []


def test_exit_without_a_release_releases_nothing():
    rig = Rig(TWO_JOINTS)
    assert rig.pipeline.shutdown_sequence() == []
    rig.enable()
    assert rig.pipeline.shutdown_sequence() == [] and rig.state == 'disabled'


def test_states_that_stop_are_a_fault():
    rig = Rig(TWO_JOINTS).enabled()
    stamp = rig.node_state.clocks.now
    while rig.state == 'enabled':
        rig.tick()
    silent = (rig.node_state.clocks.now - stamp) * 1e-9
    assert silent == pytest.approx(rig.settings.max_state_age + rig.settings.bridge_time, abs=STEP)
    while not rig.gate.idle:
        before = rig.releases[-1][0].effort
        assert (np.abs(rig.tick()) <= np.abs(before)).all()
    assert not rig.releases[-1][0].effort.any()
    assert all(stamp == each for _, each in rig.releases[-20:])
    assert 'max_state_age' in rig.reason and rig.step() is None
    rig.enabled()


def test_an_exception_in_the_law_is_a_fault(monkeypatch):
    rig = Rig(TWO_JOINTS).enabled()

    def stumble(self, q):
        raise ZeroDivisionError('a joint fell off')
    with monkeypatch.context() as patch:
        patch.setattr(Controller, 'holding_torque', stumble)
        rig.step()
        assert (rig.state, len(rig.errors)) == ('fault', 1)
        assert rig.reason == 'the torque could not be computed: a joint fell off'
        assert 'Traceback' in rig.errors[0] and 'a joint fell off' in rig.errors[0]
        while not rig.gate.idle:
            rig.step()
    assert not rig.releases[-1][0].effort.any()
    rig.enabled()


def test_a_refusal_of_the_law_needs_no_traceback():
    """Velocities no arm has: the torque is not finite."""
    rig = Rig(TWO_JOINTS, mode='computed_torque').enabled()
    rig.v = np.array([1.2e154, 1.2e154])
    rig.step()
    assert rig.state == 'fault' and 'not finite' in rig.reason and rig.errors == []
    while not rig.gate.idle:
        rig.step()
    assert not rig.releases[-1][0].effort.any()


# What changes meanwhile --------------------------------------------------------------------------

def test_a_payload_with_a_transition_is_no_fault():
    """Fast against the ramp, slow against the steps; the torque of the new payload."""
    rig = Rig(ARM7).enabled()
    without = rig.step()
    rig.node_state.current_robot.set_payload('box', ('tool0', 2.0), 0.5)
    loaded = rig.robot.with_payload('box', 'tool0', 2.0).gravity_torque(rig.q)
    one_step = np.abs(loaded - without).max() * STEP / 0.5 * 1.01  # it may lag by that
    for k in range(50):
        share, effort = (k + 1) * STEP / 0.5, rig.step()
        expected = (1.0 - share) * without + share * loaded
        assert effort == pytest.approx(expected, rel=0.0, abs=one_step)
    assert rig.step() == pytest.approx(loaded) and rig.state == 'enabled'
    assert np.abs(loaded - without).max() > 1.0


def test_a_payload_without_transition_is_slew_limited():
    rig = Rig(ARM7, slew_limits=PerJoint()).enabled()
    rig.node_state.current_robot.set_payload('box', ('tool0', 2.0), 0.0)
    loaded = rig.robot.with_payload('box', 'tool0', 2.0).gravity_torque(rig.q)
    assert rig.run(0.2) == pytest.approx(loaded) and rig.state == 'enabled'


@pytest.mark.parametrize('torque', [{}, IMPEDANCE], ids=['gravity', 'impedance'])
@pytest.mark.parametrize('other', [TWO_JOINTS.replace('mass value="2"', 'mass value="3"'),
                                   chain(('wrist', 'revolute')), ARM7],
                         ids=['same joints', 'one other joint', 'arm7'])
def test_a_new_description_is_a_fault(torque, other):
    """The present torque decays under its own names; the new robot waits for enable."""
    rig = Rig(TWO_JOINTS, **torque).enabled()
    before = len(rig.releases)
    rig.node_state.load(other)
    rig.pipeline.robot_changed()
    assert (rig.state, rig.reason) == ('fault', 'the model or its limits changed')
    with pytest.raises(DynamicsError, match='the former model is still decaying'):
        rig.pipeline.enable(rig.node_state.snapshot())
    n = rig.node_state.robot.nv
    rig.q, rig.v = np.full(n, 0.1), np.zeros(n)
    while not rig.gate.idle:
        rig.step()
    assert rig.errors == []
    assert len(rig.releases) > before
    assert {release.names for release, _ in rig.releases} == {('shoulder', 'elbow')}
    assert not rig.releases[-1][0].effort.any() and rig.state == 'fault'
    rig.robot, rig.releases = rig.node_state.robot, []
    rig.enabled()
    assert rig.step() == pytest.approx(rig.node_state.robot.gravity_torque(rig.q))


def test_a_new_description_that_was_never_measured_decays_too():
    """No joint of it has a state."""
    rig = Rig(TWO_JOINTS).enabled()
    stamp = rig.node_state.clocks.now
    rig.node_state.load(ARM7)
    rig.pipeline.robot_changed()
    while not rig.gate.idle:
        assert rig.tick() is not None and rig.releases[-1][1] == stamp
    assert not rig.releases[-1][0].effort.any()


def test_limits_and_robot_cannot_change_while_enabled():
    """Gains can."""
    rig = Rig(TWO_JOINTS, **{**IMPEDANCE, 'max_start_error': 0.3}).enabled()
    rig.pipeline.follow(*to([0.25, 0.15], 0.5))
    rig.run(1.0)
    stiffer = {**IMPEDANCE, 'max_start_error': 0.3, 'kp': PerJoint(60.0)}
    rig.pipeline.check(TorqueParameters(**stiffer), rig.settings)
    rig.pipeline.use(TorqueParameters(**stiffer), rig.settings)
    gravity = rig.robot.gravity_torque(rig.q)
    assert rig.run(0.3) == pytest.approx(gravity + 60.0 * np.array([0.05, -0.05]))
    for other in ({'joints': ('elbow',)}, {'effort_limits': PerJoint(named={'elbow': 3.0})},
                  {'driver': 'without_gravity'}, {'max_start_error': 0.4}):
        with pytest.raises(DynamicsError, match='disable first'):
            rig.pipeline.check(TorqueParameters(**{**stiffer, **other}), rig.settings)
    with pytest.raises(DynamicsError, match='disable first'):
        rig.pipeline.check(TorqueParameters(**stiffer), SafetySettings(max_state_age=0.2))
    with pytest.raises(DynamicsError, match='disable first'):
        rig.pipeline.check(TorqueParameters(**stiffer), rig.settings, another=True)
    assert rig.state == 'enabled'
    rig.pipeline.disable()
    rig.run(0.5)
    rig.pipeline.check(TorqueParameters(), SafetySettings(max_state_age=0.2))


def test_records_that_are_made_without_their_constructors_are_complete():
    """A new field of one of them would otherwise be missing on the torque path only."""
    rig = Rig(TWO_JOINTS).enabled()
    rig.pass_time()
    rig.measured(together=True)
    measured = rig.node_state.snapshot()
    release, _ = rig.pipeline.on_state(measured)
    proposal = rig.pipeline.proposal
    for record in (measured, proposal, proposal.measured, release, rig.gate.last_valid()):
        assert len(record) == len(record._fields), type(record)
