"""Test the torque pipeline of mechanisms: only motors are commanded, none when singular."""

import numpy as np
import pytest
from support.current_robots import mechanism
from support.pipeline_rig import IMPEDANCE, Rig, to

from dynamics_node import DynamicsError
from dynamics_node.constrained.read_loops import to_yaml
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.parameter import PerJoint

FOUR_BAR, FIVE_BAR = MECHANISMS['four_bar'], MECHANISMS['five_bar']
LIMIT = 9.0  # [N m] of every motor
LIMITS = {FOUR_BAR: PerJoint(named={'crank_joint': LIMIT}),
          FIVE_BAR: PerJoint(named={'left_shoulder': LIMIT, 'right_shoulder': LIMIT})}
DEAD = {'effort_limits': PerJoint(named={'rocker_joint': LIMIT})}


class Mechanism(Rig):
    """A Rig that lets passive joints have no limit, and no effort."""

    def limits(self, names):
        return np.array([0.0 if name in self.robot.loops.passive else LIMIT for name in names])


def rig(bundled, loops=None, **torque):
    """Return the Rig of a mechanism that is measured where it is assembled."""
    made = Mechanism(bundled.urdf, node={'constraints': loops or str(bundled.loops)},
                     **{'effort_limits': LIMITS[bundled], **torque})
    made.q = np.zeros(made.robot.nq)
    return made


def test_only_motors_are_commanded_and_they_carry_all():
    """Two of the five-bar's four joints, with the weight of the whole."""
    made = rig(FIVE_BAR)
    made.enabled()
    assert made.pipeline.joints == ['left_shoulder', 'right_shoulder']
    robot, still = mechanism('five_bar'), np.zeros(4)
    want = robot.constrained_inverse_dynamics(still, still, still).tau
    assert np.abs(made.run(0.1) - want).max() < 1e-9
    assert (want != 0.0).tolist() == [True, False, True, False]


def test_a_passive_joint_cannot_be_named():
    """Neither at start, when nothing can be enabled, nor by a change."""
    made = rig(FOUR_BAR, joints=('crank_joint', 'rocker_joint'))
    with pytest.raises(DynamicsError, match="'rocker_joint', which is passive"):
        made.enable()


def test_references_name_the_motors_and_passive_joints_follow():
    """The reference of the crank moves; those of passive joints are ignored."""
    made = rig(FOUR_BAR, **IMPEDANCE)
    made.enabled()
    begin = made.run(0.1)
    made.pipeline.follow(*to([0.05], names=['crank_joint']))
    change = made.run(2.0) - begin  # the mechanism has not moved: 30 N m/rad pull by 0.05 rad
    assert np.abs(change - [1.5, 0.0, 0.0]).max() < 1e-6


def dead_point():
    """Return the loops of a four-bar driven at its rocker, and q with crank and coupler in line."""
    loops = to_yaml(mechanism('four_bar').loops.constraints, ['crank_joint', 'coupler_joint'])
    at_rocker = np.arccos((0.30 ** 2 + 0.28 ** 2 - 0.46 ** 2) / (2 * 0.30 * 0.28))
    tip = 0.30 - 0.28 * np.cos(at_rocker), 0.28 * np.sin(at_rocker)
    return loops, np.array([-np.arctan2(*tip), np.arctan2(0.30, 0.16), np.pi / 2 - at_rocker])


def test_a_singular_configuration_is_not_enabled():
    """The reason names the loose joints."""
    loops, q = dead_point()
    made = rig(FOUR_BAR, loops, **DEAD)
    made.q = q
    with pytest.raises(DynamicsError, match='singular configuration: crank_joint, coupler_joint'):
        made.enable()
    assert made.state == 'disabled'


def test_reaching_a_singular_configuration_is_a_fault():
    """Its torque goes to zero by the rules of the gate."""
    loops, dead = dead_point()
    made = rig(FOUR_BAR, loops, **DEAD)
    robot = made.robot
    path = [robot.project_configuration(dead + [x, 0.0, 0.0], fixed=['crank_joint'])
            for x in np.linspace(0.5, 0.05, 60)]
    made.q = path[0]
    made.enabled()
    for q in (*path, *np.linspace(path[-1], dead, 20)):
        made.q = q
        made.step()
    assert made.state == 'fault'
    assert 'singular configuration: crank_joint, coupler_joint can move' in made.reason
    while not made.gate.idle:
        made.tick()
    assert not made.releases[-1][0].effort.any()


def test_new_loops_are_a_new_robot():
    """A fault while torques are released."""
    made = rig(FIVE_BAR)
    made.enabled()
    made.node_state.use(type(made.node_state.parameters)(constraints=''))
    assert made.node_state.load(FIVE_BAR.urdf)
    made.pipeline.robot_changed()
    made.step()
    assert made.state == 'fault'
