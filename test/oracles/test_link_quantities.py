"""Test reactions, accelerations and energies of links against Pinocchio and MuJoCo."""

from functools import cache

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from support.mujoco_oracle import MujocoOracle
from support.oracle_agreement import Case, agree, at_frames
from support.pinocchio_oracle import LOCAL, WORLD_AXES, PinocchioOracle
from support.real_robots import ROBOTS
from support.tolerances import MUJOCO, PINOCCHIO

pytestmark = pytest.mark.long


@cache
def make_case(example):
    return Case(example, PinocchioOracle, seed=6)


@pytest.fixture(params=ROBOTS, ids=str)
def case(request):
    return make_case(request.param)


def joint_ids(case):
    """Return Pinocchio's numbers of the joints of our bodies."""
    model = case.oracle.model
    return [model.getJointId(body.joint_name) if model.existJointName(body.joint_name)
            else model.getJointId('root_joint') for body in case.robot.model.bodies]


def moved(case, q, v, a):
    """Yield Pinocchio's data of each state, its kinematics computed."""
    oracle = case.oracle
    for row in zip(q, v, a):
        state = oracle.configuration(row[0]), oracle.G @ row[1], oracle.G @ row[2]
        pin.rnea(oracle.model, oracle.data, *state)
        wrenches = [force.vector.copy() for force in oracle.data.f]
        pin.forwardKinematics(oracle.model, oracle.data, *state)
        yield oracle.data, wrenches


def test_joint_wrenches_are_pinocchios(case, q, v):
    ids, a = joint_ids(case), case.states.a
    theirs = [[wrenches[k] for k in ids] for _, wrenches in moved(case, q, v, a)]
    agree(case.robot.joint_reactions(q, v, a).wrenches, theirs, PINOCCHIO)


@pytest.mark.parametrize('local', [False, True], ids=['world_axes', 'local'])
def test_accelerations_of_every_link_are_pinocchios(case, q, v, local):
    oracle, a, axes = case.oracle, case.states.a, LOCAL if local else WORLD_AXES
    frames = [oracle.frame(link) for link in case.links]
    theirs = [[pin.getFrameClassicalAcceleration(oracle.model, data, frame, axes).vector
               for frame in frames] for data, _ in moved(case, q, v, a)]
    ours = [case.robot.frame_acceleration(q, v, a, link, local) for link in case.links]
    agree(at_frames(ours), theirs, PINOCCHIO)


def test_energies_of_links_are_pinocchios(case, q, v):
    ids, model, a = joint_ids(case), case.oracle.model, case.states.a
    kinetic, potential = [], []
    for data, _ in moved(case, q, v, a):
        kinetic.append([0.5 * model.inertias[k].vtiv(data.v[k]) for k in ids])
        potential.append([-model.inertias[k].mass * model.gravity.linear
                          @ data.oMi[k].act(model.inertias[k].lever) for k in ids])
    ours = case.robot.link_energies(q, v)
    agree(ours.kinetic, kinetic, PINOCCHIO)
    agree(ours.potential, potential, PINOCCHIO)


@pytest.mark.parametrize('example', [robot for robot in ROBOTS if not robot.refused], ids=str)
def test_force_torque_sensors_at_every_link_show_what_mujocos_do(example):
    """Between each link and its parent, through fixed joints too."""
    case = Case(example, MujocoOracle, seed=7)
    robot, q, v, a = case.robot, case.states.q, case.states.v, case.states.a
    links = [link for link in case.links if robot.model.frame(link).body >= 0]
    sensors = SensorOracle(example, robot.joint_names, links=links)
    ours = at_frames([robot.sensor_wrench(q, v, a, link) for link in links])
    agree(ours, sensors.wrenches(q, v, a), MUJOCO)


class SensorOracle(MujocoOracle):
    """MuJoCo with a force and a torque sensor at the origin of each of some links."""

    def __init__(self, example, joint_names, links):
        self.links = links
        super().__init__(example, joint_names, edit=self._add_sensors)

    def _add_sensors(self, spec):
        for k, link in enumerate(self.links):
            spec.body(link).add_site(name=f'site_{k}')
            for kind in (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE):
                spec.add_sensor(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=f'site_{k}')

    def wrenches(self, q, v, a):
        """Return (states, links, 6)."""
        return np.array([self._sensed(*row) for row in zip(q, v, a)])

    def _sensed(self, *row):
        self.inverse_dynamics(*(part[None] for part in row))
        return self.data.sensordata.reshape(-1, 6).copy()
