"""Test the end of torques in the pipeline: braking, the age of joint states, contacts."""

import re

import numpy as np
import pytest
from support.pipeline_rig import IMPEDANCE, STEP, Rig
from support.tiny_robots import MASSLESS, chain

from dynamics_node import DynamicsError, Robot
from dynamics_node.control.needed_joints import needed_joints
from dynamics_node.example_robots import ARM7
from dynamics_node.parameter import PerJoint
from dynamics_node.safety.faults import CONTACT

pytestmark = pytest.mark.usefixtures('awaited_kernels')

ARM_AND_FINGER = chain(('shoulder', 'revolute'), ('elbow', 'revolute'), ('finger', 'prismatic'))
COMPUTED = {'mode': 'computed_torque', 'gains': 'frequency', 'frequency': PerJoint(10.0)}
SUBSTEP = 1e-3   # [s] of the simulation


def simulate(rig, effort, seconds=STEP):
    """Move the robot of a rig without friction, by the efforts given."""
    robot = rig.robot.with_friction(*(dict.fromkeys(rig.robot.joint_names, 0.0),) * 2)
    for _ in range(round(seconds / SUBSTEP)):
        rig.v = rig.v + SUBSTEP * robot.forward_dynamics(rig.q, rig.v, effort)
        rig.q = rig.q + SUBSTEP * rig.v


def moving(source, speed, period=STEP, node=None, **torque):
    """Return a Rig with enabled torques whose robot moves."""
    safety = {'velocity_tolerance': 10.0, 'blind_gravity_time': 10.0}
    rig = Rig(source, safety=safety, node=node, **torque).enabled()
    rng = np.random.default_rng(4)
    limits = np.array([joint.max_velocity for joint in rig.robot.model.joints])
    rig.v = speed * limits * rng.choice([-1.0, 1.0], size=rig.robot.nv)
    rig.step(period)
    return rig


@pytest.mark.parametrize('period', [0.001, 0.01])
@pytest.mark.parametrize('torque', [{}, IMPEDANCE, COMPUTED],
                         ids=['gravity', 'impedance', 'computed torque'])
def test_a_disable_at_speed_brings_the_arm_to_rest_and_holds_it(torque, period):
    rig = moving(ARM7, 0.2, period, **torque)
    rig.pipeline.disable()
    assert rig.state == 'braking'
    energy, last = [], rig.releases[-1][0].effort
    while not rig.gate.idle:
        simulate(rig, last, period)
        energy.append(rig.robot.kinetic_energy(rig.q, rig.v))
        last = rig.step(period)
    assert energy[-1] < 1e-4 * energy[0]
    assert np.abs(last - rig.robot.gravity_torque(rig.q)).max() < 1e-9, 'the last one holds it'


def test_a_fault_of_the_law_brakes(monkeypatch):
    rig = moving(ARM7, 0.2, **COMPUTED)

    def fail(*_):
        raise DynamicsError('no torque today')
    monkeypatch.setattr('dynamics_node.control.controller.Controller.torque', fail)
    simulate(rig, rig.releases[-1][0].effort)
    last = rig.step()
    assert rig.state == 'fault' and rig.gate.braking
    while not rig.gate.idle:
        simulate(rig, rig.releases[-1][0].effort if last is None else last)
        last = rig.step()
    assert 'no torque today' in rig.reason and np.abs(rig.v).max() < 0.1


def test_a_braking_torque_that_cannot_be_computed_leads_to_the_safe_torque(monkeypatch):
    rig = moving(ARM7, 0.2)

    def fail(*_):
        raise DynamicsError('no brakes today')
    monkeypatch.setattr('dynamics_node.control.controller.Controller.braking_torque', fail)
    rig.run_out()
    assert rig.releases[-1][0].effort == pytest.approx(rig.robot.gravity_torque(rig.q))


@pytest.mark.parametrize('torque', [{}, IMPEDANCE, COMPUTED],
                         ids=['gravity', 'impedance', 'computed torque'])
def test_a_silence_at_speed_is_bridged_then_braked_by_the_predicted_state(torque):
    """The simulation goes on; the pipeline sees nothing of it."""
    rig = moving(ARM7, 0.2, node={'friction': False}, **torque)
    energy, last = [rig.robot.kinetic_energy(rig.q, rig.v)], rig.releases[-1][0].effort
    states = []
    while states.count('fault') < 40:   # braked for 0.1 s to 0.3 s, ramped for 0.1 s
        simulate(rig, last)
        released = rig.tick()
        last = last if released is None else released
        states.append(rig.state)
        energy.append(rig.robot.kinetic_energy(rig.q, rig.v))
    bridged = rig.settings.max_state_age + rig.settings.prediction_time
    assert states.index('fault') == pytest.approx(bridged / STEP, abs=1)
    assert min(energy) < 1e-3 * max(energy) and energy[-1] < 0.2 * max(energy)


@pytest.mark.parametrize('together', [False, True])
def test_a_state_that_was_seen_before_is_not_taken_for_a_present_one(together):
    """Messages without the joints that count, or late ones, leave the old state in place."""
    rig = moving(ARM7, 0.2, **COMPUTED)
    rig.pass_time()
    rig.measured(together=together)
    assert rig.note(rig.pipeline.on_state(rig.node_state.snapshot()), STEP) is not None
    count = len(rig.releases)
    rig.pass_time(0.001)
    assert rig.pipeline.on_state(rig.node_state.snapshot()) is None
    rig.pass_time(0.04)
    stamped = rig.pipeline.on_state(rig.node_state.snapshot())
    assert stamped is not None and len(rig.releases) == count, 'overdue: predicted'
    assert rig.state == 'enabled'


def test_a_joint_that_is_measured_less_often_does_not_slow_the_torque():
    """A torso at 50 Hz below an arm at 1 kHz: each state of the arm causes a torque."""
    rig = moving(ARM7, 0.0)
    arm = rig.robot.joint_names[1:]
    for _ in range(4):
        rig.pass_time(0.001)
        rig.measured(arm)
        assert rig.pipeline.on_state(rig.node_state.snapshot()) is not None


def test_a_robot_with_a_singular_mass_matrix_is_not_predicted():
    """It can be enabled; in a silence its torque goes to that of gravity."""
    rig = moving(MASSLESS, 0.2, node={'friction': False})
    last = [rig.tick() for _ in range(14)][-1]
    assert rig.state == 'enabled' and last == pytest.approx(rig.robot.gravity_torque(rig.q))
    for _ in range(10):
        rig.tick()
    assert rig.state == 'fault' and not rig.errors


def test_a_robot_with_loops_is_not_predicted(monkeypatch):
    """Its torque goes to that of gravity."""
    rig = moving(ARM7, 0.2)
    monkeypatch.setattr('dynamics_node.control.controller.Controller.can_predict', False)
    last = [rig.tick() for _ in range(14)][-1]
    assert rig.state == 'enabled' and last == pytest.approx(rig.robot.gravity_torque(rig.q))


def test_a_contact_brakes():
    rig = moving(ARM7, 0.2)
    rig.pipeline.report_fault('contact at joint_3', CONTACT)
    assert rig.state == 'fault' and rig.gate.braking and rig.reason == 'contact at joint_3'


# Ages ---------------------------------------------------------------------------------------------

def test_a_joint_that_carries_no_driven_one_may_be_old():
    """A gripper at 2 Hz beside an arm at 100 Hz."""
    rig = Rig(ARM_AND_FINGER, joints=('shoulder', 'elbow')).enabled()
    for _ in range(100):
        rig.pass_time()
        rig.measured(joints=('shoulder', 'elbow'))
        rig.note(rig.pipeline.on_state(rig.node_state.snapshot()), STEP)
    assert rig.state == 'enabled' and rig.gate.status().bridged == 0


def test_a_joint_that_carries_a_driven_one_may_not_be_old():
    rig = Rig(ARM_AND_FINGER, joints=('elbow',)).enabled()
    for _ in range(60):
        rig.pass_time()
        rig.measured(joints=('elbow', 'finger'))
        rig.note(rig.pipeline.on_state(rig.node_state.snapshot()), STEP)
    assert rig.state == 'fault'
    assert re.match(r"the state of joint 'shoulder' is 0\.\d+ s old; max_state_age", rig.reason)


def test_a_silence_of_all_joints_names_none_and_that_of_one_names_it():
    """Also by time alone, when no joint state arrives any more."""
    silent = Rig(ARM_AND_FINGER).enabled()
    while silent.state == 'enabled':
        silent.tick()
    assert silent.reason.startswith('the joint state is 0.')
    one = Rig(ARM_AND_FINGER).enabled()
    one.pass_time()
    one.measured(joints=('shoulder', 'finger'))
    one.pipeline.on_state(one.node_state.snapshot())
    while one.state == 'enabled':
        one.tick()
    assert one.reason.startswith("the state of joint 'elbow' is 0.")


def test_the_needed_joints_of_a_chain_are_those_up_to_the_last_driven_one():
    robot = Robot.from_urdf(ARM7)
    assert needed_joints(robot, ['joint_3']).tolist() == [0, 1, 2]
    assert needed_joints(robot, robot.joint_names).tolist() == list(range(7))


def test_enable_names_the_joints_that_were_never_measured():
    rig = Rig(ARM_AND_FINGER)
    rig.measured(joints=('shoulder', 'elbow'))
    with pytest.raises(DynamicsError, match='measured of: finger'):
        rig.pipeline.enable(rig.node_state.snapshot())
