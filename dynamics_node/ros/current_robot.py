"""Manage the current robot: its description, and settings that are kept when a new one is loaded.

A new description, payload, gravity or friction creates a new Robot, which replaces the old one as a
whole: a request that began with the old Robot ends with it. A refused change changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import named_numbers
from dynamics_node.constrained.read_loops import Loops
from dynamics_node.errors import DynamicsError
from dynamics_node.model.model import Payload
from dynamics_node.model.urdf_text import urdf_text
from dynamics_node.robot.constraint_sets import loops_of
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.description_size import check_description
from dynamics_node.ros.joint_selection import JointSelection, select_joints
from dynamics_node.ros.parameters.caps import DEFAULT_CAPS, Caps
from dynamics_node.ros.parameters.declared import ModelParameters
from dynamics_node.ros.payload_ramp import PayloadRamps
from dynamics_node.ros.shared_folders import ParameterFiles

MOST_PAYLOADS = 100    # including those in transition: each one delays every torque a little
MOST_SELECTED = 20_000   # joints in all stored selections, about 300 bytes each


class Description(NamedTuple):
    """A loaded description, and the robot built from it."""

    text: str                  # URDF
    options: dict[str, Any]    # parameters of the robot
    robot: Robot               # as described: no payload, no settings
    digest: str                # of everything that settings cannot change


class SharedRobot(NamedTuple):
    """The current robot as another process receives it: a change is taken as a whole.

    Payloads are in transition by the system's steady clock, which all processes read.
    """

    serial: int                    # of the description: another one is another robot
    described: Robot | None        # as described; None: the one with this serial, sent before
    digest: str                    # of the description, for model_id
    payloads: PayloadRamps
    gravity: np.ndarray | None     # as set
    damping: dict[str, float]      # {joint: as set}
    friction: dict[str, float]


class CurrentRobot:
    """The current robot: description, payloads, gravity, friction.

    :ivar refusal: why the newest description was refused; '' if it was accepted.
    """

    def __init__(self, clock: Callable[[], float],
                 share: Callable[[CurrentRobot], None] | None = None,
                 files: ParameterFiles | None = None) -> None:
        """Start without a robot.

        :param clock: returns seconds and never goes back.
        :param share: called after a change of payloads, gravity or friction; raises a DynamicsError
            to refuse the change, which is undone then.
        :param files: that parameters may name; None: any.
        """
        self._clock, self._share = clock, share
        self._checked: Callable[[str | bytes, str], AbstractContextManager] = (
            files.checked if files else lambda *values: nullcontext(values))
        self._described: Any = None   # Description, None until there is one
        self._payloads = PayloadRamps()
        self._gravity: np.ndarray | None = None   # as set
        self._damping: dict[str, float] = {}      # {joint: as set}
        self._friction: dict[str, float] = {}
        self._serial = 0              # of the description
        self._robot: Any = None       # Robot
        self._model_id, self._settled = '', True
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
        if not self._settled:
            self._settled = self._payloads.settled(self._clock())
            self._assemble()
        return self._robot

    @property
    def text(self) -> str:
        """The URDF of the robot."""
        return self._described.text

    @property
    def changing(self) -> bool:
        """Whether a payload is in transition."""
        return not self._settled

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
        """Load a description as the current robot; return whether the robot has changed.

        :param source: path or text of a URDF; bytes are always text.
        :raise DynamicsError: the description is refused, and the old robot stays.
        """
        try:
            described, robot, model_id = self.try_load(source, parameters, caps)
        except DynamicsError as error:
            self.refusal = f'the robot description was refused: {error}'
            raise
        self.refusal = ''
        if described is self._described:
            return False
        if self.exists and described.options['gravity'] != self._described.options['gravity']:
            self._gravity = None  # a new parameter `gravity` replaces the value of ~/set_gravity
            robot, model_id = self._with_settings(described, self._payloads.at(self._clock()))
        self._described, self._robot, self._model_id = described, robot, model_id
        self._serial += 1
        self._selections = {}
        with suppress(DynamicsError):  # compilation may be switched off
            described.robot.compile(wrenches=True, payloads=True)
        return True

    def try_load(self, source: str | bytes, parameters: ModelParameters,
                 caps: Caps = DEFAULT_CAPS) -> tuple[Description, Robot, str]:
        """Return (description, robot, model_id) that `load` would use; change nothing."""
        with self._checked(source, parameters.constraints) as (source, constraints):
            text = urdf_text(source)
            check_description(caps, text)
            described = self._describe(text, _options(parameters, caps), constraints)
            caps.check('model.max_loops', len(described.robot.loops.constraints),
                       'constraints of the parameter constraints')
            return described, *self._with_settings(described, self._payloads.at(self._clock()))

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
            self._gravity = gravity

    def set_friction(self, damping: Mapping[str, float], friction: Mapping[str, float],
                     reset: Sequence[str] = ()) -> None:
        """Set {joint: damping} and {joint: friction}.

        :param reset: joints whose earlier settings are dropped first.
        """
        self.robot.with_friction(damping, friction)  # raises a DynamicsError if a value is invalid
        kept = [{name: value for name, value in old.items() if name not in reset}
                for old in (self._damping, self._friction)]
        with self._changing():
            self._damping, self._friction = {**kept[0], **damping}, {**kept[1], **friction}

    def settled_robot(self) -> tuple[Robot, str]:
        """Return the robot after all transitions, and its model_id."""
        return self._with_settings(self._described, self._payloads.attached)

    # The same robot in another process -------------------------------------------------------

    def shared(self, known: int = 0) -> SharedRobot:
        """Return the current robot, to be adopted by another process.

        :param known: serial of the description that it has.
        """
        described = self._described
        return SharedRobot(self._serial, None if self._serial == known else described.robot,
                           described.digest, self._payloads.copy(), self._gravity, self._damping,
                           self._friction)

    def adopt(self, state: SharedRobot) -> bool:
        """Use the current robot of another process; return whether it has another description."""
        if state.described is not None:
            self._described = Description('', {}, state.described, state.digest)
            self._selections = {}
        self._serial, self._payloads, self._gravity = state.serial, state.payloads, state.gravity
        self._damping, self._friction = state.damping, state.friction
        self._change()
        return state.described is not None

    def robots_of(self, state: SharedRobot, *after: float) -> list[Robot]:
        """Return the robots that `adopt` would lead to, with the current description.

        :param after: for each, a time from now on [s]; infinite: after all transitions.
        """
        now, robots = self._clock(), []
        for time in after:
            other = CurrentRobot(lambda time=time: now + time)   # type: ignore[misc]
            other._described = self._described
            other.adopt(state._replace(payloads=state.payloads.copy()))
            robots.append(other.robot)
        return robots

    # Assembly --------------------------------------------------------------------------------

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Use the settings changed within; undo the change if it is refused."""
        old = self._payloads.copy(), self._gravity, self._damping, self._friction
        try:
            yield
            self._change()
            if self._share is not None:
                self._share(self)
        except BaseException:
            self._payloads, self._gravity, self._damping, self._friction = old
            self._change()
            raise

    def _change(self) -> None:
        self._settled = self._payloads.settled(self._clock())
        self._assemble()

    def _assemble(self) -> None:
        """Replace the robot by one with the current settings."""
        self._robot, self._model_id = self._with_settings(
            self._described, self._payloads.at(self._clock()))

    def _describe(self, text: str, options: dict[str, Any], constraints: str) -> Description:
        """Return the Description; the old object if nothing has changed.

        :param constraints: path or text of the YAML; the content of a file is compared.
        """
        old = self._described
        same = old is not None and (text, options) == (old.text, old.options)
        robot = old.robot if same else _described_robot(text, options)
        try:
            loops: Loops = loops_of(robot.model, constraints or None)
        except DynamicsError as error:
            raise DynamicsError(f'parameter constraints: {error}') from error
        if same and loops == robot.loops:
            return old
        if same:  # new joint objects tell the torque pipeline that the robot has changed
            robot = _described_robot(text, options)
        return Description(text, options, robot.with_loops(loops), _digest(
            text, options['base'], sorted(options['locked'].items()),
            sorted(options['armature'].items()), options['friction_speed'], loops))

    def _with_settings(self, described: Description,
                       payloads: Mapping[str, Payload]) -> tuple[Robot, str]:
        """Return the robot with all settings, and its model_id."""
        robot = described.robot
        if self._gravity is not None:
            robot = robot.with_gravity(self._gravity)
        known = set(robot.joint_names)  # settings of joints that the robot lacks are kept
        damping = {name: value for name, value in self._damping.items() if name in known}
        friction = {name: value for name, value in self._friction.items() if name in known}
        if damping or friction:
            robot = robot.with_friction(damping, friction)
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
        return robot, _digest(described.digest, (robot.gravity + 0.0).tolist(),  # no negative zero
                              robot.model.damping.tolist(), robot.model.friction.tolist(),
                              sorted(payloads.items()))


def _digest(*values: Any) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]


def _described_robot(text: str, options: dict[str, Any]) -> Robot:
    """Return the Robot of a URDF and the parameters of the robot."""
    options = dict(options)
    damping, dry_friction = options.pop('damping'), options.pop('dry_friction')
    most_compiled = options.pop('max_compiled')
    # Bytes are always text: a text that does not begin with '<' would be read as a path.
    robot = Robot.from_urdf(text.encode('utf-8', 'surrogatepass'), **options)
    if robot.nv > most_compiled:
        robot = Robot(robot.model, compile=False)
    try:
        return robot.with_friction(damping, dry_friction)
    except DynamicsError as error:
        raise DynamicsError(f'parameter damping or dry_friction: {error}') from error


def _options(parameters: ModelParameters, caps: Caps) -> dict[str, Any]:
    """Return the parameters that a robot is built with."""
    return {'base': parameters.base, 'gravity': tuple(parameters.gravity),
            'locked': named_numbers('locked', parameters.locked),
            'armature': named_numbers('armature', parameters.armature),
            'damping': named_numbers('damping', parameters.damping),
            'dry_friction': named_numbers('dry_friction', parameters.dry_friction),
            'friction': parameters.friction, 'friction_speed': parameters.friction_speed,
            'compile': parameters.compile, 'max_compiled': caps.most['model.max_compiled']}
