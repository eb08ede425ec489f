"""Test identification of a five-bar simulated in MuJoCo, whose loops are stiff springs."""

from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from support.moving_mechanisms import mechanism

from dynamics_node.example_robots import MECHANISMS
from dynamics_node.identification.loop_equations import loop_torques
from dynamics_node.identification.preparation import prepare
from dynamics_node.identification.recording import raw_recording
from dynamics_node.identification.recording_fit import identify_recording

STEP, EVERY = 5e-4, 10        # [s] of the simulation; a sample each so many steps: 200 Hz
STIFF, DAMPED = 900.0, 60.0   # [1/s^2, 1/s] of the controller
HEAVIER = {'left_upper': 1.3, 'left_fore': 0.8, 'right_upper': 0.75, 'right_fore': 1.25,
           'tool': 2.0}
ROTOR = 0.004                 # [kg m^2] at both shoulders
pytestmark = pytest.mark.usefixtures('kernels')


def five_bar_in_mujoco():
    """Return the MjModel: links heavier than the URDF says, the tips connected."""
    root = ElementTree.fromstring(MECHANISMS['five_bar'].urdf.read_text())
    for link in root.findall('link'):
        inertial = link.find('inertial')
        if link.get('name') in HEAVIER and inertial is not None:
            scale = HEAVIER[link.get('name')]
            for element in (inertial.find('mass'), inertial.find('inertia')):
                for key, value in element.attrib.items():
                    element.set(key, repr(scale * float(value)))
    for joint in root.findall('joint'):
        for limit in joint.findall('limit'):
            joint.remove(limit)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding='unicode'))
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    tip = mechanism('five_bar').loops.constraints[0]
    connect = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY,
                                name1='left_fore', name2='right_fore')
    connect.data[:3] = tip.pose[:3]
    connect.solref[:2], connect.solimp[:3] = (2.0 * STEP, 1.0), (0.9999, 0.9999, 1.0)
    spec.option.timestep = STEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model = spec.compile()
    for name in ('left_shoulder', 'right_shoulder'):
        model.dof_armature[model.joint(name).dofadr[0]] = ROTOR
    return model


def driven(model, names, seconds, seed):
    """Return the RawRecording of shoulders that follow sines; all joints are measured."""
    data, rng = mujoco.MjData(model), np.random.default_rng(seed)
    order = [model.joint(name).dofadr[0] for name in names]
    motors = [order[names.index(name)] for name in ('left_shoulder', 'right_shoulder')]
    w = 2.0 * np.pi * 0.15 * np.arange(1, 6)
    A = 0.16 * rng.normal(size=(5, 2)) / np.sqrt(np.arange(1, 6))[:, None]
    rows = []
    for k in range(round(seconds / STEP)):
        t = k * STEP
        ease = min(1.0, t / 2.0)   # from rest at q = 0
        wanted = ease * np.sin(w * t) @ A
        rate = ease * (w * np.cos(w * t)) @ A
        tau = 0.05 * (STIFF * (wanted - data.qpos[motors]) + DAMPED * (rate - data.qvel[motors]))
        data.qfrc_applied[:] = 0.0
        data.qfrc_applied[motors] = tau
        if k % EVERY == 0:
            rows.append((t, data.qpos[order].copy(), data.qfrc_applied[order].copy()))
        mujoco.mj_step(model, data)
    time, q, tau = map(np.array, zip(*rows))
    return raw_recording(names, time, q, tau)


def test_a_five_bar_of_another_engine_is_identified_by_its_two_motors():
    """Torques of another motion are predicted, where those of the URDF are far off."""
    robot, model = mechanism('five_bar'), five_bar_in_mujoco()
    done = identify_recording(robot, driven(model, robot.joint_names, 30.0, 1))
    found = done.result
    assert found.rows == ('left_shoulder', 'right_shoulder')
    assert found.residuals.gain > 20.0
    unseen = driven(model, robot.joint_names, 8.0, 2)
    other = prepare(robot, unseen).recording.rows(slice(0, None, 5))
    left = found.predict(other.q, other.v, other.a) - other.tau
    before = loop_torques(found.base.loops, robot.inverse_dynamics, other.q, other.v,
                          other.a) - other.tau
    assert np.sqrt(np.mean(left ** 2)) < 0.05 * np.sqrt(np.mean(before ** 2))
    assert np.sqrt(np.mean(left ** 2)) < 0.01 * np.sqrt(np.mean(other.tau ** 2))
    names = found.base.names
    for name in ('left_shoulder.viscous', 'right_shoulder.viscous'):
        k = names.index(name)
        assert found.base_values[k] == pytest.approx(0.05, abs=max(
            0.005, 4.0 * found.base_spread.sigma[k]))
