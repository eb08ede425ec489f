"""Define the two jobs of the worker process: identify a robot, and identify a payload.

Independent of rclpy; pickled, and run in another process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.friction_choice import PLAIN
from dynamics_node.identification.loop_equations import has_loops
from dynamics_node.identification.loop_recording import with_gravity
from dynamics_node.identification.motor_side import Drives, joint_side
from dynamics_node.identification.parameters import (
    parameter_values,
    robot_with_parameters,
)
from dynamics_node.identification.payload_fit import identify_payload
from dynamics_node.identification.recording import RawRecording, select_joints
from dynamics_node.identification.recording_files import TOPIC, read_recording
from dynamics_node.identification.recording_fit import identify_recording
from dynamics_node.identification.robot_fit import IdentificationOptions
from dynamics_node.identification.static_poses import StaticPoses
from dynamics_node.model.friction_terms import FrictionTerms
from dynamics_node.observer.effort_meaning import Meaning
from dynamics_node.reports.identification_files import (
    make_folder,
    texts_of,
    write_identification_files,
)
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.shared_folders import SharedFolders
from dynamics_node.ros.state.joint_state_buffer import recording_of

DRIVE_PARAMETERS = ('armature', 'viscous', 'coulomb')
DRIVE = ('armature', 'damping', 'dry_friction', 'stribeck_friction', 'stribeck_speed',
         'friction_asymmetry', 'damping_asymmetry', 'friction_speeds')   # parameters of the node
BEHIND_THE_GEAR = ('effort is measured behind the gears: rotor inertia and friction cannot be '
                   'identified from it, and keep their values')

JointStates = Sequence[tuple[int, bytes]]   # [(stamp [ns], bytes)] of the buffer


class Outcome(NamedTuple):
    """The fields of an Identify result."""

    names: tuple
    units: tuple
    before: np.ndarray
    values: np.ndarray
    sigmas: np.ndarray
    determined: np.ndarray
    joint_names: tuple
    rms_before: np.ndarray
    rms_after: np.ndarray
    rms_torque: np.ndarray
    error: float
    error_share: float
    reasons: tuple          # why the values must not be used
    gain: float
    condition: float
    samples: int
    urdf: str
    friction_yaml: str
    friction: str           # the law, and by how much it reduces the torque error
    drive: dict             # {name in DRIVE: {joint: value}}
    warnings: tuple
    files: list


class IdentifyJob(NamedTuple):
    """Identify a robot."""

    robot: Robot
    urdf: str
    recording: str           # path; empty: the joint states of the buffer
    topic: str = TOPIC
    meaning: Any = None      # Meaning of efforts in the buffer; None with a recording
    options: IdentificationOptions = IdentificationOptions()
    cutoff: float | None = None
    output: str = ''         # folder; empty: no files
    folders: SharedFolders = SharedFolders(('/',))   # no link in a recording may leave them
    validation: str = ''     # path; empty: the end of the recording
    overwrite: bool = True   # whether files in the output folder may be replaced
    columns: tuple[str, ...] = ()   # of a table without a header
    drives: Drives = Drives()       # of the robot that was recorded
    model_id: str = ''              # of the robot

    def run(self, joint_states: JointStates, progress: Callable[[float, str], None],
            tell: Callable[[float, float], None]) -> Outcome:
        """Return the Outcome; called in the worker process."""
        if self.output:
            self.folders.make()
            make_folder(self.output)
        progress(0.0, 'reading the recording')
        robot, options, warnings = self.robot, self.options, tuple[str, ...]()
        if self.recording:
            raw = self._recorded('recording', self.recording)
        else:
            raw = torques_of(robot, self.meaning, select_joints(robot, recording_of(joint_states)))
            if not self.meaning.motor_side:
                robot, warnings = without_drives(robot), (BEHIND_THE_GEAR,)
                options = options._replace(friction=PLAIN, stribeck_speed=None)
        unseen = self._recorded('validation', self.validation) if self.validation else None
        done = identify_recording(robot, raw, options, self.cutoff, progress, tell, unseen)
        if warnings:
            done = with_drives_of(self.robot, done)
        done = done._replace(prepared=done.prepared._replace(
            warnings=(*warnings, *done.prepared.warnings)))
        urdf, friction = texts_of(self.urdf, done.result)
        files = write_identification_files(self.output, self.urdf, self.robot, raw, done,
                                           overwrite=self.overwrite) if self.output else []
        found, residuals, verdict = done.result, done.result.residuals, done.result.verdict
        loops = () if found.loops is None else str(found.loops).splitlines()
        return Outcome(
            found.layout.names, found.layout.units, found.before, found.values,
            found.spread.sigma, found.spread.determined, found.rows,
            residuals.validation_before, residuals.validation_after, residuals.validation_torque,
            verdict.total_error, verdict.total_share, verdict.reasons, residuals.gain,
            found.condition, len(done.prepared.recording.time), urdf, friction, found.friction,
            _drive(found),
            (*loops, *done.warnings), files)

    def _recorded(self, field: str, path: str) -> RawRecording:
        """Return a recording, converted to positions and torques of joints."""
        return joint_side(self.robot, self._read(field, path), *self.drives)

    def _read(self, field: str, path: str) -> RawRecording:
        """Return a recording; refuse links that leave the folders, and files beyond the memory."""
        self.folders.check_links(field, path)
        try:
            return read_recording(path, self.topic, self.columns)
        except MemoryError as error:
            raise DynamicsError(f'{path} needs more memory than identification may '
                                'use; record less, or cut it') from error


class PayloadJob(NamedTuple):
    """Identify a payload."""

    robot: Robot
    frame: str
    meaning: Meaning | None      # of all efforts; None: torques
    poses: StaticPoses | None    # None: use the motion in the buffer
    unloaded: int = 0            # the first joint states, this many, are without the payload

    def run(self, joint_states: JointStates, progress: Callable[[float, str], None],
            tell: Callable[[float, float], None]) -> Any:
        """Return the PayloadEstimate; called in the worker process."""
        robot = self.robot
        if self.meaning is not None and not self.meaning.motor_side:
            robot = without_drives(robot)
        if self.poses is not None:
            return identify_payload(robot, torques_of(robot, self.meaning, self.poses), self.frame)
        motions: list[Any] = [
            torques_of(robot, self.meaning, select_joints(robot, recording_of(each)))
            if each else None
            for each in (joint_states[self.unloaded:], joint_states[:self.unloaded])]
        return identify_payload(robot, motions[0], self.frame, motions[1])


def torques_of(robot: Robot, meaning: Meaning | None, raw: Any) -> Any:
    """Return samples with torques in place of measured efforts.

    :param raw: samples of the joints of the robot; nan where nothing was measured stays nan.
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


def without_drives(robot: Robot) -> Robot:
    """Return the robot without rotors and friction, for torques measured behind the gears."""
    none = dict.fromkeys(('armature', 'damping', 'friction'), np.zeros(robot.nv))
    return Robot(robot.model.with_(**none, friction_terms=None), compile=robot.compilation_enabled)


def with_drives_of(robot: Robot, done: Any) -> Any:
    """Return an identification whose rotors and friction, old and new, are those of a robot."""
    found = done.result
    values, known = found.values.copy(), parameter_values(robot, found.layout)
    before = found.before.copy()
    for kind in DRIVE_PARAMETERS:
        at = found.layout.each(kind)
        values[at] = before[at] = known[at]
    values[found.layout.of_motors] = 0.0
    model = robot_with_parameters(robot, found.layout, values).model.with_(
        friction_terms=robot.model.friction_terms)
    return done._replace(result=found._replace(
        before=before, values=values, robot=Robot(model, compile=robot.compilation_enabled)))


def _drive(found: Any) -> dict[str, dict[str, float]]:
    """Return the rotors and friction of `found.robot`."""
    model, dofs = found.robot.model, list(found.layout.dofs)
    terms = model.friction_terms or FrictionTerms.none(model.nv, model.friction_speed)
    values = model.armature, model.damping, model.friction, *terms
    return {name: dict(zip(found.layout.joints, each[dofs].tolist()))
            for name, each in zip(DRIVE, values)}
