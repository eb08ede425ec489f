"""Which robot does the node hold? A description, and the settings that outlive it.

A new description, payload, gravity or friction makes another Robot, which takes the place of the
old one whole: who began with the old one ends with it. What is refused leaves all as it was.
"""

import hashlib
from contextlib import suppress
from typing import NamedTuple

from dynamics_node.checks import named_numbers
from dynamics_node.errors import DynamicsError
from dynamics_node.model.urdf_text import urdf_text
from dynamics_node.robot.constraint_sets import loops_of
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.payload_ramp import PayloadRamps

MOST_PAYLOADS = 100  # with those in transition: each makes every torque a little later


class Description(NamedTuple):
    """What a robot was made of."""

    text: str
    options: dict     # parameters that it was made with
    robot: Robot      # as described: no payload, nothing set
    digest: str       # of what nothing that is set can change


class CurrentRobot:
    """The robot at any time; `clock` is a function that returns seconds and never goes back."""

    def __init__(self, clock):
        self._clock = clock
        self._described = None    # Description
        self._payloads = PayloadRamps()
        self._gravity = None      # as set, else None
        self._damping, self._friction = {}, {}   # joint -> as set
        self._robot, self._model_id = None, ''
        self._settled = True
        self.refusal = ''         # why the newest description is not the one that is held

    # What it is ------------------------------------------------------------------------------

    @property
    def exists(self):
        return self._described is not None

    @property
    def robot(self):
        """The robot as it is now, in the midst of a transition too."""
        if self._robot is None:
            raise DynamicsError(f'no robot: {self.refusal}' if self.refusal else
                                'no robot yet: nothing has come on the topic robot_description, '
                                "and the parameter 'robot_description' is empty")
        if not self._settled:
            self._settled = self._payloads.settled(self._clock())
            self._assemble()
        return self._robot

    @property
    def text(self):
        """The URDF that the robot was made of."""
        return self._described.text

    @property
    def changing(self):
        """Whether a transition is under way: each look at `robot` then makes another one."""
        return not self._settled

    @property
    def model_id(self):
        """A hash of all that determines the robot's answers, 16 hexadecimal digits."""
        return self._model_id

    @property
    def payloads(self):
        """{name: (Payload, share that counts now)} of what is held."""
        now = self._clock()
        return {name: (load, self._payloads.share(name, now))
                for name, load in self._payloads.held.items()}

    # What changes it -------------------------------------------------------------------------

    def load(self, source, parameters):
        """Hold the robot of a description; return whether it is another one than before.

        :param source: path or text of a URDF; bytes are always text.
        :raise DynamicsError: it is refused, and the old one stays.
        """
        try:
            described, robot, model_id = self.try_load(source, parameters)
        except DynamicsError as error:
            self.refusal = f'the robot description was refused: {error}'
            raise
        self.refusal = ''
        if described is self._described:
            return False
        if self.exists and described.options['gravity'] != self._described.options['gravity']:
            self._gravity = None  # the newer word counts
            robot, model_id = self._with_settings(described, self._payloads.at(self._clock()))
        self._described, self._robot, self._model_id = described, robot, model_id
        with suppress(DynamicsError):  # compilation may be switched off
            described.robot.compile(wrenches=True, payloads=True)
        return True

    def try_load(self, source, parameters):
        """Return (description, robot, model_id) as they would be; nothing is changed."""
        described = self._describe(urdf_text(source), _options(parameters),
                                   parameters.constraints)
        return described, *self._with_settings(described, self._payloads.at(self._clock()))

    def set_payload(self, name, load, duration):
        """Attach a payload, (frame, mass, com, inertia) as in Robot.with_payload."""
        checked = self.robot.with_payload(name, *load).payloads[name]
        now = self._clock()
        if len(self._payloads.at(now)) >= MOST_PAYLOADS and (
                duration or name not in self._payloads.held):
            raise DynamicsError(f'the robot carries {MOST_PAYLOADS} payloads already, those on '
                                'their way out included; take some off, or wait')
        self._payloads.set(name, checked, duration, now)
        self._change()

    def remove_payload(self, name, duration):
        """Take a payload off."""
        self._payloads.remove(name, duration, self._clock())
        self._change()

    def set_gravity(self, gravity):
        """Set the vector towards the earth in the root frame."""
        self._gravity = self.robot.with_gravity(gravity).gravity
        self._change()

    def set_friction(self, damping, friction, reset=()):
        """Set {joint: damping} and {joint: friction}; first forget what was set of some joints."""
        self.robot.with_friction(damping, friction)  # refuses what is wrong
        kept = [{name: value for name, value in old.items() if name not in reset}
                for old in (self._damping, self._friction)]
        self._damping, self._friction = {**kept[0], **damping}, {**kept[1], **friction}
        self._change()

    def settled_robot(self):
        """Return the robot when all transitions have passed, and its model_id."""
        return self._with_settings(self._described, self._payloads.held)

    # How it is put together ------------------------------------------------------------------

    def _change(self):
        self._settled = self._payloads.settled(self._clock())
        self._assemble()

    def _assemble(self):
        """Put the robot together; only then does it take the place of the old one."""
        self._robot, self._model_id = self._with_settings(
            self._described, self._payloads.at(self._clock()))

    def _describe(self, text, options, loops):
        """Return the Description, the old one if it says the same.

        :param loops: path or text of their YAML; of a file it is the content that counts.
        """
        old = self._described
        same = old is not None and (text, options) == (old.text, old.options)
        robot = old.robot if same else _described_robot(text, options)
        try:
            loops = loops_of(robot.model, loops or None)
        except DynamicsError as error:
            raise DynamicsError(f'parameter constraints: {error}') from error
        if same and loops == robot.loops:
            return old
        if same:  # another robot altogether: who drives the old one stops
            robot = _described_robot(text, options)
        return Description(text, options, robot.with_loops(loops), _digest(
            text, options['base'], sorted(options['locked'].items()),
            sorted(options['armature'].items()), options['friction_speed'], loops))

    def _with_settings(self, described, payloads):
        """Return the robot with all that was set, and its model_id."""
        robot = described.robot
        if self._gravity is not None:
            robot = robot.with_gravity(self._gravity)
        here = set(robot.joint_names)  # friction of a joint that is gone waits for its return
        damping = {name: value for name, value in self._damping.items() if name in here}
        friction = {name: value for name, value in self._friction.items() if name in here}
        if damping or friction:
            robot = robot.with_friction(damping, friction)
        gone = {name: load for name, load in payloads.items()
                if load.frame not in robot.model.frames}
        for name, load in gone.items():
            if name in self._payloads.held:  # nobody would carry it, and nobody would know
                raise DynamicsError(
                    f"payload '{name}' is held at frame '{load.frame}', which this robot does not "
                    'have; take the payload off (set_payload, remove: true), then send the '
                    'description again')
        payloads = {name: load for name, load in payloads.items() if name not in gone}
        if payloads:
            robot = robot.with_payloads(payloads)
        return robot, _digest(described.digest, (robot.gravity + 0.0).tolist(),  # no negative zero
                              robot.model.damping.tolist(), robot.model.friction.tolist(),
                              sorted(payloads.items()))


def _digest(*said):
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def _described_robot(text, options):
    """Return the Robot of a description and of the parameters that belong to it."""
    options = dict(options)
    damping, dry_friction = options.pop('damping'), options.pop('dry_friction')
    robot = Robot.from_urdf(text, **options)
    try:
        return robot.with_friction(damping, dry_friction)
    except DynamicsError as error:
        raise DynamicsError(f'parameter damping or dry_friction: {error}') from error


def _options(parameters):
    """Return the parameters that a robot is made with."""
    return {'base': parameters.base, 'gravity': tuple(parameters.gravity),
            'locked': named_numbers('locked', parameters.locked),
            'armature': named_numbers('armature', parameters.armature),
            'damping': named_numbers('damping', parameters.damping),
            'dry_friction': named_numbers('dry_friction', parameters.dry_friction),
            'friction': parameters.friction, 'friction_speed': parameters.friction_speed,
            'compile': parameters.compile}


