"""What a request may look at: the robot, the measured state, the time. Pure, clocks given."""

from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.identification.payload_samples import PayloadSamples
from dynamics_node.ros.identification.worker_process import WorkerProcess
from dynamics_node.ros.parameters.observer import ObserverParameters
from dynamics_node.ros.state.joint_state_buffer import JointStateBuffer
from dynamics_node.ros.state.measured_state import NEVER, MeasuredState

MOST_CHOICES = 256  # orders of joints that are remembered


class JointSelection(NamedTuple):
    """The joints that a request names, and the order in which it is answered."""

    names: list          # all joints: those named, then the others
    named: tuple         # indices of those named
    others: np.ndarray   # indices of those not named
    q: np.ndarray        # where the entries of a position go
    v: np.ndarray        # where the entries of a velocity, acceleration or effort go
    order: np.ndarray    # of the answer: degrees of freedom of `names`; None: as they are
    whole: bool          # all joints in the model's order: the entries are the whole vector
    floats: bool         # some of those named are floating: a position holds a quaternion


class NodeState:
    """All that the services answer from."""

    def __init__(self, clock, steady_clock, parameters):
        """Take clock(), the time of stamps [ns], and steady_clock(), which never goes back [s]."""
        self.clock = clock
        self.parameters = parameters
        self.held = CurrentRobot(steady_clock)
        self.state = None          # MeasuredState of the robot that is held
        self.catch_up = lambda: None   # brings the state up to date, before it is looked at
        self._choices = {}
        self.observer = ObserverParameters()
        self.tape, self.notes, self.workshop = JointStateBuffer(), PayloadSamples(), WorkerProcess()

    @property
    def robot(self):
        return self.held.robot

    def load(self, source):
        """Hold the robot of a URDF text or path; see CurrentRobot.load."""
        self.catch_up()
        changed = self.held.load(source, self.parameters)
        if changed:
            model, p = self.held.robot.model, self.parameters
            self.state = (self.state.moved_to(model, p.missing_velocity, p.velocity_filter_time)
                          if self.state else
                          MeasuredState(model, p.missing_velocity, p.velocity_filter_time))
            self._choices = {}
        return changed

    def use(self, parameters):
        """Take other parameters; those that make another robot count with the next load."""
        self.catch_up()  # what has come so far was measured under the old ones
        self.parameters = parameters
        if self.state:
            self.state.missing_velocity = parameters.missing_velocity
            self.state.filter_time = parameters.velocity_filter_time

    def choose(self, names):
        """Return the Choice of some names; none stands for all."""
        key = tuple(names)
        found = self._choices.get(key)
        if found is None:
            if len(self._choices) >= MOST_CHOICES:
                self._choices.clear()
            found = self._choices[key] = _choice(self.robot.model, key)
        return found

    def stamp_of(self, joints, what):
        """Return the stamp of the oldest measurement among some joints [ns]; None of no joints.

        :param what: that is missing where a joint was never measured, for the message.
        """
        if not len(joints):
            return None
        stamps = self.state.stamps[joints]
        oldest = int(stamps.min())
        if oldest == NEVER:
            names = [self.state.model.joints[k].name
                     for k, stamp in zip(joints, stamps) if stamp == NEVER]
            raise DynamicsError(f'no {what} of {", ".join(names)}: not in the request, and no '
                                'joint state has been received that has it')
        limit = self.parameters.max_state_age
        age = (self.clock() - oldest) * 1e-9
        if limit and age > limit:
            joint = self.state.model.joints[joints[stamps.argmin()]]
            raise DynamicsError(f"{what} of '{joint.name}' was measured {age:.3f} s ago, and "
                                f'max_state_age is {limit:g} s')
        return oldest


def _choice(model, names):
    place = {joint.name: k for k, joint in enumerate(model.joints)}
    for name in names:
        if name not in place:
            raise UnknownName('moving joint', name, place)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DynamicsError(f"joint_names has '{twice}' twice; name each joint once")
    named = tuple(place[name] for name in names) or tuple(range(len(model.joints)))
    others = [k for k in range(len(model.joints)) if k not in set(named)]
    joints = model.joints
    order = _entries([joints[k].v for k in (*named, *others)])
    as_they_are = np.array_equal(order, np.arange(model.nv))
    return JointSelection([joints[k].name for k in (*named, *others)], named, np.array(others,
                                                                                       dtype=int),
                  _entries([joints[k].q for k in named]), _entries([joints[k].v for k in named]),
                  None if as_they_are else order, as_they_are and not others,
                  any(joints[k].kind == 'floating' for k in named))


def _entries(places):
    return np.array([k for place in places for k in range(place.start, place.stop)], dtype=int)
