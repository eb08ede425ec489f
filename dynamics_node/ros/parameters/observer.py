"""Declare the parameters `observer.*`; create the observer and the contact flag from them."""

from dataclasses import dataclass

from dynamics_node.observer.contact import CLEAR_TIME, HYSTERESIS, SET_TIME, ContactFlag
from dynamics_node.observer.effort_meaning import MEANINGS, Meaning, meaning_of
from dynamics_node.observer.momentum import BANDWIDTH, MomentumObserver
from dynamics_node.parameter import PerJoint, parameter
from dynamics_node.robot.robot import Robot

CONTACT_ACTIONS = ('none', 'stop')
UNKNOWN = 'unknown'   # effort_meaning that declares nothing


@dataclass(frozen=True)
class ObserverParameters:
    """Estimation of external torques."""

    effort_meaning: str = parameter(
        'unknown', 'Meaning of effort in joint_states, see docs/observer.md; unknown: effort is '
        'not used, the observer is off, and torques start at safety.unknown_start.',
        one_of=MEANINGS)
    torque_constants: PerJoint = parameter(
        PerJoint(), 'Joint torque per ampere, gear included, if effort is a current.',
        'N m/A or N/A')
    bandwidth: PerJoint = parameter(
        PerJoint(BANDWIDTH), 'Bandwidth of the estimate.', '1/s', bounds=(0.0, 1e6))
    thresholds: PerJoint = parameter(
        PerJoint(5.0), 'External torque above which there is a contact; 0: never.', 'N m or N',
        bounds=(0.0, 1e6))
    hysteresis: float = parameter(
        HYSTERESIS, 'Share of the threshold below which a contact ends.', '1', bounds=(0.0, 1.0))
    set_time: float = parameter(
        SET_TIME, 'A contact begins when a threshold is exceeded for this time.', 's',
        bounds=(0.0, 1.0))
    clear_time: float = parameter(
        CLEAR_TIME, 'A contact ends when all torques are below hysteresis x threshold for this '
        'time.', 's', bounds=(0.0, 10.0))
    contact_action: str = parameter(
        'none', 'When a contact begins while torques are published. none: they continue. stop: a '
        'fault, which brakes the robot and ends in the safe torque.', one_of=CONTACT_ACTIONS)
    frame: str = parameter(
        '', 'Link at which the external wrench is estimated; empty: none.')


UNDECLARED = ObserverParameters()


def observer_of(robot: Robot, p: ObserverParameters) -> MomentumObserver:
    """Return the MomentumObserver of a robot.

    :raise DynamicsError: the parameters do not fit the robot, or effort_meaning is unknown.
    """
    if p.frame:
        robot.model.frame(p.frame)
    return MomentumObserver(robot, declared_meaning(robot, p),
                            p.bandwidth.each(robot.dof_names))


def declared_meaning(robot: Robot, p: ObserverParameters) -> Meaning:
    """Return the declared meaning of effort in joint_states.

    :raise DynamicsError: as meaning_of.
    """
    return meaning_of(robot, p.effort_meaning, p.torque_constants.named)


def flag_of(robot: Robot, p: ObserverParameters) -> ContactFlag:
    """Return the ContactFlag of a robot."""
    return ContactFlag(robot.nv, p.thresholds.each(robot.dof_names), p.hysteresis, p.set_time,
                       p.clear_time)
