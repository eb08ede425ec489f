"""How external torques are found: the parameters `observer.*`, and what follows for a robot."""

from dataclasses import dataclass

from dynamics_node.checks import named_numbers
from dynamics_node.observer.contact import CLEAR_TIME, HYSTERESIS, SET_TIME, ContactFlag
from dynamics_node.observer.effort_meaning import MEANINGS, meaning_of
from dynamics_node.observer.momentum import BANDWIDTH, MomentumObserver
from dynamics_node.parameter import not_negative, parameter


@dataclass(frozen=True)
class ObserverParameters:
    """What pushes the robot."""

    effort_meaning: str = parameter(
        'unknown', 'What effort in joint_states is; unknown: nothing is observed.',
        one_of=MEANINGS)
    torque_constants: str = parameter(
        '', 'Joint torque per ampere, gear included, for current: joint_1=8.5 joint_2=8.5.',
        'N m/A or N/A', check=named_numbers)
    bandwidth: tuple = parameter(
        (BANDWIDTH,), 'Of the external torque, of all or each degree of freedom; what is faster is '
        'not seen.', '1/s', check=not_negative)
    thresholds: tuple = parameter(
        (5.0,), 'External torque that is a contact, of all or each degree of freedom; 0: never.',
        'N m or N', check=not_negative)
    hysteresis: float = parameter(
        HYSTERESIS, 'Share of the threshold within which a contact ends.', '1', bounds=(0.0, 1.0))
    set_time: float = parameter(
        SET_TIME, 'For which a threshold is exceeded before it is a contact.', 's',
        bounds=(0.0, 1.0))
    clear_time: float = parameter(
        CLEAR_TIME, 'For which all is within hysteresis before it is none any more.', 's',
        bounds=(0.0, 10.0))
    frame: str = parameter(
        '', 'Link at which the contact is believed to be: the wrench there is estimated; empty: '
        'none.')


def observer_of(robot, p):
    """Return the MomentumObserver of a robot.

    :raise DynamicsError: why nothing can be observed.
    """
    constants = named_numbers('observer.torque_constants', p.torque_constants)
    if p.frame:
        robot.model.frame(p.frame)
    return MomentumObserver(robot, meaning_of(robot, p.effort_meaning, constants), p.bandwidth)


def flag_of(robot, p):
    """Return the ContactFlag of a robot."""
    return ContactFlag(robot.nv, p.thresholds, p.hysteresis, p.set_time, p.clear_time)
