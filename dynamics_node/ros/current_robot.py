"""Manage the current robot: its description, and settings that are kept when a new one is loaded.

A new description, payload, gravity or friction creates a new Robot, which replaces the old one as a
whole: a request that began with the old Robot ends with it. A refused change changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from dynamics_node.errors import DynamicsError
from dynamics_node.model.fingerprint import digest
from dynamics_node.model.model import Payload
from dynamics_node.model.urdf_text import urdf_text
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.description_size import check_description
from dynamics_node.ros.joint_selection import JointSelection, select_joints
from dynamics_node.ros.parameters.caps import DEFAULT_CAPS, Caps
from dynamics_node.ros.parameters.declared import ModelParameters
from dynamics_node.ros.payload_ramp import PayloadRamps
from dynamics_node.ros.robot_description import Description, describe
from dynamics_node.ros.robot_settings import ParameterSettings, RobotSettings
from dynamics_node.ros.shared_folders import ParameterFiles

MOST_PAYLOADS = 100    # including those in transition: each one delays every torque a little
MOST_SELECTED = 20_000   # joints in all stored selections, about 300 bytes each


class SharedRobot(NamedTuple):
    """The current robot as another process receives it: a change is taken as a whole.

    Payloads are in transition by the system's steady clock, which all processes read.
    """

    serial: int                    # number of the description: another number is another robot
    described: Robot | None        # as described; None: the one with this serial, sent before
    digest: str                    # of the description, for model_id
    payloads: PayloadRamps
    settings: RobotSettings        # of parameters and services


class Plan(NamedTuple):
    """The description, the settings and the robot that `load` would use."""

    described: Description
    by_parameter: ParameterSettings
    by_service: RobotSettings
    settings: RobotSettings        # by_parameter and by_service, combined
    robot: Robot
    model_id: str


class CurrentRobot:
    """The current robot: description, payloads, gravity, friction.

    :ivar changing: whether a payload is in transition.
    :ivar version: a number that differs after each change of the robot, also within a transition.
    :ivar refusal: why the newest description was refused; '' if it was accepted.
    """

    def __init__(self, clock: Callable[[], float],
                 share: Callable[[CurrentRobot], None] | None = None,
                 files: ParameterFiles | None = None) -> None:
        """Start without a robot.

        :param clock: returns seconds and never goes back.
        :param share: called after a change of payloads, gravity or friction; raises a DynamicsError
            to refuse the change, which is undone then.
        :param files: files that parameters may name; None: any file.
        """
        self._clock, self._share = clock, share
        self._checked: Callable[[str | bytes, str, str], AbstractContextManager] = (
            files.checked if files else lambda *values: nullcontext(values))
        self._described: Any = None   # Description, None until there is one
        self._payloads = PayloadRamps()
        self._by_parameter: Any = None   # ParameterSettings, None until there is a description
        self._by_service = RobotSettings()
        self._serial = 0              # of the description
        self._robot: Any = None       # Robot
        self._model_id, self.changing, self.version = '', False, 0
        self._selections: dict[tuple[str, ...], JointSelection] = {}
        self.refusal = ''

    # Properties ------------------------------------------------------------------------------

    @property
    def exists(self) -> bool:
        """Whether there is a robot."""
        return self._described is not None

    def check_exists(self) -> None:
        """Raise a DynamicsError while there is no robot."""
        if self._robot is None:
            raise DynamicsError(f'no robot: {self.refusal}' if self.refusal else
                                'no robot yet: no message on the topic robot_description, and the '
                                "parameter 'robot_description' is empty")

    @property
    def robot(self) -> Robot:
        """The robot now; during a transition each read returns a new one."""
        if self._robot is None:
            self.check_exists()
        if self.changing:
            self._change()
        return self._robot

    @property
    def text(self) -> str:
        """The URDF of the robot."""
        return self._described.text

    @property
    def model_id(self) -> str:
        """A hash of everything that determines the results of the robot, 16 hexadecimal digits."""
        return self._model_id

    @property
    def payloads(self) -> dict[str, tuple[Payload, float]]:
        """{name: (Payload, share of it that is effective now)} of the attached payloads."""
        now = self._clock()
        return {name: (payload, self._payloads.share(name, now))
                for name, payload in self._payloads.attached.items()}

    def select_joints(self, names: Sequence[str]) -> JointSelection:
        """Return the selection of some joints; no names select all joints."""
        key = tuple(names)
        found = self._selections.get(key)
        if found is None:
            found = select_joints(self.robot.model, key)
            if len(self._selections) * len(found.names) >= MOST_SELECTED:
                self._selections.clear()
            self._selections[key] = found
        return found

    # Changes ---------------------------------------------------------------------------------

    def load(self, source: str | bytes, parameters: ModelParameters,
             caps: Caps = DEFAULT_CAPS) -> bool:
        """Load a description as the current robot; return whether it is another robot.

        If only settings differ, it is the same robot.

        :param source: path or text of a URDF; bytes are always text.
        :raise DynamicsError: the description is refused, and the old robot stays.
        """
        try:
            plan = self.try_load(source, parameters, caps)
        except DynamicsError as error:
            self.refusal = f'the robot description was refused: {error}'
            raise
        self.refusal = ''
        old, self._described = self._described, plan.described
        self._by_parameter, self._by_service = plan.by_parameter, plan.by_service
        if old is not None and old.robot is plan.described.robot:
            self._change()
            return False
        self._robot, self._model_id = plan.robot, plan.model_id
        self.version += 1
        self._serial += 1
        self._selections = {}
        with suppress(DynamicsError):  # compilation may be switched off
            plan.described.robot.compile(wrenches=True, payloads=True)
        return True

    def try_load(self, source: str | bytes, parameters: ModelParameters,
                 caps: Caps = DEFAULT_CAPS) -> Plan:
        """Return the Plan of `load`; change nothing."""
        with self._checked(source, parameters.constraints, parameters.springs) as (
                source, constraints, springs):
            text = urdf_text(source)
            check_description(caps, text)
            described = describe(self._described, text, parameters, caps, constraints, springs)
            robot = described.robot
            caps.check('model.max_loops', len(robot.loops.constraints),
                       'constraints of the parameter constraints')
            caps.check('model.max_springs', len(robot.springs) + len(robot.actuators),
                       'springs and actuators of the parameter springs')
        by_parameter, by_service = ParameterSettings.of(parameters), self._by_service
        by_parameter.check(described.robot)
        if self._by_parameter is not None:
            by_service = by_parameter.outdated(self._by_parameter, by_service)
        settings = by_parameter.settings(described.robot).under(by_service)
        return Plan(described, by_parameter, by_service, settings,
                    *self._assembled(described, settings, self._payloads.at(self._clock())))

    def set_payload(self, name: str, payload: tuple[str, float, ArrayLike, ArrayLike],
                    duration: float) -> None:
        """Attach a payload, (frame, mass, com, inertia) as in Robot.with_payload."""
        checked = self.robot.with_payload(name, *payload).payloads[name]
        now = self._clock()
        if len(self._payloads.at(now)) >= MOST_PAYLOADS and (
                duration or name not in self._payloads.attached):
            raise DynamicsError(f'the robot carries {MOST_PAYLOADS} payloads already, those in '
                                'transition included; remove some, or wait')
        with self._changing():
            self._payloads.set(name, checked, duration, now)

    def remove_payload(self, name: str, duration: float) -> None:
        """Remove a payload."""
        with self._changing():
            self._payloads.remove(name, duration, self._clock())

    def set_gravity(self, gravity: ArrayLike) -> None:
        """Set the gravity vector in the root frame, (3,) [m/s^2]."""
        gravity = self.robot.with_gravity(gravity).gravity
        with self._changing():
            self._by_service = self._by_service._replace(gravity=gravity)

    def set_friction(self, damping: Mapping[str, float], friction: Mapping[str, float],
                     reset: Sequence[str] = (), **further: Mapping[str, float]) -> None:
        """Set {joint: damping}, {joint: friction} and further arguments of Robot.with_friction.

        :param reset: joints whose earlier settings are dropped first.
        """
        changes = {'damping': damping, 'friction': friction, **further}
        for name in {name for values in changes.values() for name in values}:
            self.robot.model.joint(name)   # raises a DynamicsError if there is none
        old = self._by_service
        kept = RobotSettings(old.gravity, *(
            {name: value for name, value in values.items() if name not in reset}
            for values in old[1:]))
        with self._changing():   # raises a DynamicsError if a value is invalid
            self._by_service = kept.under(RobotSettings(None, **{
                key: dict(values) for key, values in changes.items()}))

    def settled_robot(self) -> tuple[Robot, str]:
        """Return the robot after all transitions, and its model_id."""
        return self._assembled(self._described, self._settings, self._payloads.attached)

    # The same robot in another process -------------------------------------------------------

    def shared(self, known: int = 0) -> SharedRobot:
        """Return the current robot, to be adopted by another process.

        :param known: serial of the description that the other process has.
        """
        described = self._described
        return SharedRobot(self._serial, None if self._serial == known else described.robot,
                           described.digest, self._payloads.copy(), self._settings)

    def shared_after(self, plan: Plan) -> SharedRobot:
        """Return the robot of a Plan, to be checked by a process that has the current robot.

        It has no serial, so it cannot be adopted.
        """
        known = self.exists and plan.described.robot is self._described.robot
        return SharedRobot(0, None if known else plan.described.robot, plan.described.digest,
                           self._payloads.copy(), plan.settings)

    def adopt(self, state: SharedRobot) -> bool:
        """Use the current robot of another process; return whether it has another description."""
        if state.described is not None:
            self._described = Description('', {}, state.described, state.digest)
            self._selections = {}
        self._serial, self._payloads, self._by_service = state[0], state.payloads, state.settings
        self._change()
        return state.described is not None

    def is_changed_by(self, state: SharedRobot) -> bool:
        """Return whether `adopt` would change the payloads or settings of the same description."""
        return state.described is None and not (
            state.settings.same_as(self._by_service) and state.payloads.same_as(self._payloads))

    def robots_of(self, state: SharedRobot, *after: float) -> list[Robot]:
        """Return the robots that `adopt` would lead to, with the current description.

        :param after: for each, a time from now on [s]; infinite: after all transitions.
        """
        now = self._clock()

        def robot_after(time: float) -> Robot:
            other = CurrentRobot(lambda: now + time)
            other._described = self._described
            other.adopt(state._replace(payloads=state.payloads.copy()))
            return other.robot
        if state.payloads.copy().settled(now):   # the same robot at all times
            return [robot_after(0.0)] * len(after)
        return [robot_after(time) for time in after]

    # Assembly --------------------------------------------------------------------------------

    @property
    def _settings(self) -> RobotSettings:
        """The settings in use; those of an adopted robot include its parameters."""
        if self._by_parameter is None:
            return self._by_service
        return self._by_parameter.settings(self._described.robot).under(self._by_service)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Use the settings changed within; undo the change if it is refused."""
        old = self._payloads.copy(), self._by_service
        try:
            yield
            self._change()
            if self._share is not None:
                self._share(self)
        except BaseException:
            self._payloads, self._by_service = old
            self._change()
            raise

    def _change(self) -> None:
        """Replace the robot by one with the current settings."""
        self.changing = not self._payloads.settled(self._clock())
        self._robot, self._model_id = self._assembled(
            self._described, self._settings, self._payloads.at(self._clock()))
        self.version += 1

    def _assembled(self, described: Description, settings: RobotSettings,
                   payloads: Mapping[str, Payload]) -> tuple[Robot, str]:
        """Return the robot with settings and payloads, and its model_id."""
        robot = settings.applied(described.robot)
        lost = {name: payload for name, payload in payloads.items()
                if payload.frame not in robot.model.frames}
        for name, payload in lost.items():
            if name in self._payloads.attached:  # a payload must not disappear silently
                raise DynamicsError(
                    f"payload '{name}' is attached to frame '{payload.frame}', which this robot "
                    'does not have; remove the payload (set_payload, remove: true), then send the '
                    'description again')
        payloads = {name: payload for name, payload in payloads.items() if name not in lost}
        if payloads:
            robot = robot.with_payloads(payloads)
        terms = robot.model.friction_terms
        return robot, digest(described.digest, (robot.gravity + 0.0).tolist(),  # no negative zero
                             robot.model.damping.tolist(), robot.model.friction.tolist(),
                             sorted(payloads.items()),
                             *([each.tolist() for each in terms] if terms is not None else ()))
