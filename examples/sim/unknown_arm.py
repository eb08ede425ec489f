"""Simulate an arm that differs from its URDF, known only by its sensors.

    arm = UnknownArm(ARM7, seed=1)
    run = arm.follow(robot, motion)      # controlled with the model `robot`
    run.recording                        # positions and torques as a driver reports them

Masses, centres and tensors of all links differ by up to 30 %, each physically consistent; joints
have other friction, and rotors that the URDF does not have. Dry friction is that of MuJoCo: stick
or slip, not smoothed.
"""

from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from arm import SimulatedArm
from sensor import Reading, Sensor

from dynamics_node.control.gains import Gains
from dynamics_node.control.laws import computed_torque
from dynamics_node.control.spline import MotionSample
from dynamics_node.control.torque_terms import TorqueTerms
from dynamics_node.identification import RawRecording, raw_recording
from dynamics_node.model.urdf_text import urdf_text

SPREAD = 0.3                      # of masses, centres and tensors
LOSSES = 0.5, 1.5                 # times the URDF's
ROTORS = 0.05, 0.3                # [kg m^2] rotor inertia x gear ratio^2
PERIOD = 2e-3                     # [s] of control, of simulation and of what is recorded
POSITION_NOISE = 2e-5             # [rad]
RESOLUTION = 2.0 * np.pi / 2 ** 19   # [rad] of the encoders
VELOCITY_NOISE = 1e-3             # [rad/s]
TORQUE_NOISE = 1e-3               # of the effort limit
FREQUENCY = 10.0                  # [rad/s] of the computed torque
STIFF, DAMPED = 4.0, 0.4          # of the PD beside it, in effort limits per rad and rad/s
SIX = {'ixx': (0, 0), 'ixy': (0, 1), 'ixz': (0, 2), 'iyy': (1, 1), 'iyz': (1, 2), 'izz': (2, 2)}


class Run(NamedTuple):
    """A motion that was followed, N samples."""

    recording: RawRecording   # of the sensors
    error: np.ndarray         # (N, n) reference minus true position [rad]

    @property
    def rms(self):
        """Of all joints together [rad]."""
        return float(np.sqrt(np.mean(self.error ** 2)))


class UnknownArm:
    """The arm, its sensors and its controller.

    :ivar urdf, armature: the true values, for comparison only.
    :ivar simulated: the SimulatedArm, to attach a load to.
    """

    def __init__(self, urdf, seed):
        rng = np.random.default_rng(seed)
        self.urdf = unlike(urdf, rng)
        names = SimulatedArm(urdf).joint_names
        self.armature = dict(zip(names, rng.uniform(*ROTORS, len(names)).tolist()))
        self.simulated = SimulatedArm(self.urdf, armature=self.armature, timestep=PERIOD)
        self.sensor = Sensor(POSITION_NOISE, VELOCITY_NOISE, seed=seed, resolution=RESOLUTION,
                             effort_noise=TORQUE_NOISE * self.simulated.effort_limit)

    def follow(self, robot, motion, glance=lambda share: None):
        """Return the Run of a motion from where it begins, by computed torque and a PD beside it.

        :param robot: what the controller believes.
        :param motion: Motion at times PERIOD apart, (N, n) each.
        :param glance: called with the share that is done.
        """
        arm, terms = self.simulated, TorqueTerms(robot)
        gains = Gains.from_frequency(robot.nv, FREQUENCY)
        springs = Gains(STIFF * arm.effort_limit, DAMPED * arm.effort_limit)
        arm.set(motion.q[0])
        torque, said, true = terms.gravity(motion.q[0]), [], []
        for k, wanted in enumerate(zip(*motion)):
            seen = self.sensor(Reading(0, arm.q, arm.v, torque))
            said.append((seen.q, seen.effort))
            true.append(arm.q)
            wanted = MotionSample(*wanted)
            torque = computed_torque(terms, seen.q, seen.v, wanted, gains)
            torque = torque + springs.kp * (wanted.q - seen.q) + springs.kd * (wanted.v - seen.v)
            arm.step(torque)
            torque = arm.effort
            if k % 500 == 0:
                glance(k / len(motion.q))
        q, tau = map(np.array, zip(*said))
        time = PERIOD * np.arange(len(q))
        return Run(raw_recording(arm.joint_names, time, q, tau), motion.q - np.array(true))


def unlike(urdf, rng):
    """Return the text of a URDF like this one, of another robot."""
    root = ElementTree.fromstring(urdf_text(urdf))
    for inertial in root.iter('inertial'):
        _change_body(inertial, rng)
    for losses in root.iter('dynamics'):
        for key in ('damping', 'friction'):
            losses.set(key, repr(float(losses.get(key)) * rng.uniform(*LOSSES)))
    return ElementTree.tostring(root, encoding='unicode')


def _change_body(inertial, rng):
    """Change mass, centre and tensor.

    With the second moments S = tr(I)/2 - I of the mass, A S A' are those of a body stretched by A,
    hence of one that can exist. Centres move by a share of where they are, and sideways by a share
    of the body's radii of gyration.
    """
    mass, origin, tensor = (inertial.find(tag) for tag in ('mass', 'origin', 'inertia'))
    m, c = float(mass.get('value')), np.array(origin.get('xyz').split(), dtype=float)
    inertia = np.zeros((3, 3))
    for key, (i, j) in SIX.items():
        inertia[i, j] = inertia[j, i] = float(tensor.get(key))
    S = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    heavier = 1.0 + rng.uniform(-SPREAD, SPREAD)
    c = (1.0 + rng.uniform(-SPREAD, SPREAD, 3)) * c
    c = c + rng.uniform(-SPREAD, SPREAD, 3) * np.sqrt(np.diag(S) / m)
    A = np.eye(3) + rng.uniform(-SPREAD / 2, SPREAD / 2, (3, 3))
    S = heavier * A @ S @ A.T
    inertia = np.trace(S) * np.eye(3) - S
    mass.set('value', repr(m * heavier))
    origin.set('xyz', ' '.join(repr(float(x)) for x in c))
    for key, place in SIX.items():
        tensor.set(key, repr(float(inertia[place])))
