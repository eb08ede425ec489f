"""What is to be found out in the workshop? The two kinds of work, from what was recorded to words.

Pure: told what is needed, pickled, run in another process.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.identification.loop_equations import has_loops
from dynamics_node.identification.loop_recording import with_gravity
from dynamics_node.identification.parameters import (
    parameter_layout,
    parameter_values,
    robot_with_parameters,
)
from dynamics_node.identification.payload_fit import identify_payload
from dynamics_node.identification.recording import select_joints
from dynamics_node.identification.recording_files import TOPIC, read_recording
from dynamics_node.identification.recording_fit import identify_recording
from dynamics_node.identification.robot_fit import IdentificationOptions
from dynamics_node.identification.static_poses import StaticPoses
from dynamics_node.observer.effort_meaning import Meaning
from dynamics_node.reports.identification_files import (
    make_folder,
    texts_of,
    write_identification_files,
)
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.state.joint_state_buffer import recording_of

OF_THE_DRIVE = ('armature', 'viscous', 'coulomb')
BEHIND_THE_GEAR = ('effort is measured behind the gears: it tells nothing about rotors and '
                   'friction, which stay as they were')


class Outcome(NamedTuple):
    """What was identified, as a result says it."""

    names: tuple
    units: tuple
    before: np.ndarray
    values: np.ndarray
    sigmas: np.ndarray
    told: np.ndarray
    joint_names: tuple
    rms_before: np.ndarray
    rms_after: np.ndarray
    gain: float
    condition: float
    samples: int
    urdf: str
    friction_yaml: str
    losses: dict            # {'armature': {joint: value}, 'damping': , 'dry_friction': }
    warnings: tuple
    files: list


class IdentifyJob(NamedTuple):
    """Identify a robot."""

    robot: Robot
    urdf: str
    recording: str           # path; empty: what the tape has kept
    topic: str = TOPIC
    meaning: Meaning | None = None   # of efforts on the tape
    options: IdentificationOptions = IdentificationOptions()
    cutoff: float | None = None
    output: str = ''         # folder; empty: nothing is written

    def run(self, kept, progress, tell):
        """Return the Outcome."""
        if self.output:
            make_folder(self.output)
        progress(0.0, 'reading the recording')
        robot, warnings = self.robot, ()
        if self.recording:
            raw = read_recording(self.recording, self.topic)
        else:
            raw = torques_of(robot, self.meaning, select_joints(robot, recording_of(kept)))
            if not self.meaning.motor_side:
                robot, warnings = links_alone(robot), (BEHIND_THE_GEAR,)
        done = identify_recording(robot, raw, self.options, self.cutoff, progress, tell)
        if warnings:
            done = with_losses_of(self.robot, done)
        done = done._replace(prepared=done.prepared._replace(
            warnings=(*warnings, *done.prepared.warnings)))
        urdf, friction = texts_of(self.urdf, done.result)
        files = write_identification_files(
            self.output, self.urdf, self.robot, raw, done) if self.output else []
        found, residuals = done.result, done.result.residuals
        loops = () if found.loops is None else str(found.loops).splitlines()
        return Outcome(
            found.layout.names, found.layout.units, found.before, found.values,
            found.spread.sigma, found.spread.determined, found.rows,
            residuals.validation_before, residuals.validation_after, residuals.gain,
            found.condition, len(done.prepared.recording.time), urdf, friction, _losses(found),
            (*loops, *done.warnings), files)


class PayloadJob(NamedTuple):
    """Find out what a robot holds."""

    robot: Robot
    frame: str
    meaning: Meaning | None      # of all efforts; None: torques
    poses: StaticPoses | None    # in place of the motion on the tape
    unloaded: int = 0            # so many of what was kept come first, and are without the load

    def run(self, kept, progress, tell):
        """Return the PayloadEstimate."""
        robot = self.robot
        if self.meaning is not None and not self.meaning.motor_side:
            robot = links_alone(robot)
        if self.poses is not None:
            return identify_payload(robot, torques_of(robot, self.meaning, self.poses), self.frame)
        motions = [torques_of(robot, self.meaning, select_joints(robot, recording_of(each)))
                   if each else None
                   for each in (kept[self.unloaded:], kept[:self.unloaded])]
        return identify_payload(robot, motions[0], self.frame, motions[1])


def torques_of(robot, meaning, raw):
    """Return a RawRecording or StaticPoses with torques in place of what efforts mean.

    :param raw: of the robot's joints; nan stays where nothing was measured.
    """
    if meaning is None:
        return raw
    places = [robot.model.joint(name).v.start for name in raw.joint_names]
    raw = raw._replace(tau=meaning.scale[places] * raw.tau)
    if not meaning.without_gravity:
        return raw
    if has_loops(robot):
        return raw._replace(tau=with_gravity(robot, raw))
    known = np.isfinite(raw.q).all(axis=1)
    raw.tau[known] += robot.gravity_torque(raw.q[known])
    return raw


def links_alone(robot):
    """Return the robot without rotors and friction, as a sensor behind the gears sees it."""
    layout = parameter_layout(robot)
    values = parameter_values(robot, layout)
    for kind in OF_THE_DRIVE:
        values[layout.each(kind)] = 0.0
    return robot_with_parameters(robot, layout, values)


def with_losses_of(robot, done):
    """Return what was IdentifiedRecording, rotors and friction being those of the robot before."""
    found = done.result
    values, known = found.values.copy(), parameter_values(robot, parameter_layout(robot))
    for kind in OF_THE_DRIVE:
        values[found.layout.each(kind)] = known[parameter_layout(robot).each(kind)]
    return done._replace(result=found._replace(
        values=values, robot=robot_with_parameters(robot, found.layout, values)))


def _losses(found):
    return {name: dict(zip(found.layout.joints, found.values[found.layout.each(kind)].tolist()))
            for name, kind in (('armature', 'armature'), ('damping', 'viscous'),
                               ('dry_friction', 'coulomb'))}
