"""Test changes of payloads, gravity and gains while torques are published, without ROS."""

import numpy as np
import pytest
from support.pipeline_rig import STEP, Rig

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.parameter import PerJoint
from dynamics_node.ros.parameters.torque import TorqueParameters
from dynamics_node.ros.torque.change_checks import CHANGE_TIMES

SPRINGS = {'mode': 'impedance', 'gains': 'kp_kd', 'kp': PerJoint(50.0), 'kd': PerJoint(5.0)}
POSE = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])


def rig_of(**torque):
    """Return a Rig whose robot is changed as in the torque process: checked first."""
    rig = Rig(ARM7, **torque)
    rig.q, current = POSE.copy(), rig.node_state.current_robot
    known = current.shared().serial

    def share(changed):
        state = changed.shared(known)
        rig.pipeline.check(rig.pipeline.parameters, rig.settings,
                           current.robots_of(state, *CHANGE_TIMES))
    current._share = share
    return rig


def tune(rig, **torque):
    parameters = TorqueParameters(**{**vars(rig.parameters), **torque})
    rig.pipeline.check(parameters, rig.settings)
    rig.pipeline.use(parameters, rig.settings)
    rig.parameters = parameters


@pytest.mark.parametrize('transition', [0.0, 0.5, 60.0])
def test_a_payload_that_cannot_be_carried_is_refused(transition):
    """However slowly it comes; the torque does not change."""
    rig = rig_of().enabled()
    before = rig.step()
    with pytest.raises(DynamicsError, match="cannot hold the arm in this pose.*'joint_2'.* of 120"):
        rig.node_state.current_robot.set_payload('box', ('tool0', 1e6), transition)
    assert rig.run(0.3) == pytest.approx(before) and rig.state == 'enabled'
    assert not rig.node_state.current_robot.payloads


def test_a_payload_is_refused_if_its_transition_is_too_short():
    rig = rig_of().enabled()
    set_payload = rig.node_state.current_robot.set_payload
    for transition in (0.0, 0.05):
        with pytest.raises(DynamicsError, match="too fast: joint 'joint_.* transition_time"):
            set_payload('box', ('tool0', 8.0), transition)
    set_payload('box', ('tool0', 8.0), 2.0)


@pytest.mark.parametrize('transition', [0.0, 60.0])
def test_enable_is_refused_with_a_payload_that_cannot_be_carried(transition):
    """It was attached while disabled, which is no change of a torque; also before its end."""
    rig = rig_of()
    rig.node_state.current_robot.set_payload('box', ('tool0', 1e6), transition)
    with pytest.raises(DynamicsError, match='cannot hold the arm in this pose'):
        rig.enable()
    assert rig.step() is None
    rig.node_state.current_robot.remove_payload('box', 0.0)
    rig.enabled()


@pytest.mark.parametrize('gravity', [(0.0, 0.0, 9.81), (0.0, 0.0, -300.0)])
def test_a_gravity_that_would_fling_the_arm_is_refused(gravity):
    rig = rig_of().enabled()
    before = rig.step()
    with pytest.raises(DynamicsError, match='at most 2 at once|at most 30 m/s'):
        rig.node_state.current_robot.set_gravity(gravity)
    assert rig.run(0.3) == pytest.approx(before)


def test_gains_are_blended():
    """With an error of 0.02 rad; of several changes in a blend the newest counts."""
    rig = rig_of(**SPRINGS).enabled()
    rig.q = POSE - 0.02
    gravity, before = rig.robot.gravity_torque(rig.q), rig.run(0.2)
    assert before - gravity == pytest.approx(50.0 * 0.02)
    tune(rig, kp=PerJoint(80.0))
    for k in range(1, 20):
        kp = 50.0 + 30.0 * k * STEP / 0.2
        assert rig.step() - gravity == pytest.approx(kp * 0.02)
        if k in (5, 7):
            tune(rig, kp=PerJoint(60.0 + k))
    assert rig.run(0.11) - gravity == pytest.approx((80.0 - 13.0 / 2) * 0.02)
    assert rig.run(0.2) - gravity == pytest.approx(67.0 * 0.02)


def test_gains_that_would_fling_the_arm_are_refused():
    """The error of the moment would become a torque beyond the rate."""
    rig = rig_of(**SPRINGS)
    rig.q[1] = 1.5
    rig.enabled()
    rig.q = rig.q - 0.02
    before = rig.run(0.2)
    with pytest.raises(DynamicsError, match="too fast: joint 'joint_1'"):
        tune(rig, kp=PerJoint(5e4))
    with pytest.raises(DynamicsError, match="too fast: joint 'joint_2'"):
        tune(rig, gravity_scale=PerJoint(2.0))
    assert rig.run(0.3) == pytest.approx(before)


def test_a_scale_is_blended():
    rig = rig_of().enabled()
    before = rig.step()
    tune(rig, gravity_scale=PerJoint(1.1))
    assert rig.run(0.1) == pytest.approx(1.05 * before)
    assert rig.run(0.2) == pytest.approx(1.1 * before)


def test_other_parameters_end_no_blend_and_begin_none():
    rig = rig_of().enabled()
    before = rig.step()
    rig.pipeline.use(rig.parameters, rig.settings)
    assert rig.step() == pytest.approx(before)


def test_a_change_after_another_description_does_not_concern_the_decaying_torque():
    """The gate still ramps out with the torque of the former robot."""
    rig = rig_of().enabled()
    rig.node_state.load(ARM7.read_text().replace('"arm7"', '"other"').encode())
    rig.pipeline.robot_changed()
    rig.node_state.current_robot._share = None
    rig.pipeline.check(rig.pipeline.parameters, rig.settings, [rig.node_state.robot] * 3)
    rig.node_state.current_robot.set_payload('box', ('tool0', 2.0), 0.0)
    while not rig.gate.idle:
        rig.step()
    assert not rig.releases[-1][0].effort.any() and rig.errors == []


@pytest.mark.parametrize('transition', [0.0, 2.0])
def test_a_change_is_checked_at_all_times_of_a_transition(transition):
    """Without a transition the robot is the same at all times, and is made once."""
    rig = rig_of().enabled()
    current = rig.node_state.current_robot
    current._share = None
    current.set_payload('box', ('tool0', 2.0), transition)
    now, soon, settled = current.robots_of(current.shared(), *CHANGE_TIMES)
    assert settled.total_mass == pytest.approx(Robot.from_urdf(ARM7).total_mass + 2.0)
    assert (now is soon is settled) is (transition == 0.0)
    if transition:
        assert now.total_mass < soon.total_mass < settled.total_mass
