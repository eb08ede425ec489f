"""How strict is the gate? Every setting once: default, meaning, unit, valid range or choices."""

import math
from dataclasses import dataclass, field, fields

import numpy as np

from dynamics_node.errors import DynamicsError, shown

SAFE_ACTIONS = ('gravity', 'zero', 'hold')
UNKNOWN_EFFORTS = ('refuse', 'assume')
UNKNOWN_STARTS = ('zero', 'gravity')
# A process that is told to end has a second; this much of it is for the way to the safe torque.
EXIT_TIME = 0.8  # [s]
LARGEST = 1e9    # no joint has more of anything; products of two stay finite


def setting(default, text, unit='', bounds=None, one_of=None):
    """Return a field of Settings.

    :param bounds: (least, greatest) valid number.
    :param one_of: the valid choices.
    """
    return field(default=default, metadata={
        'text': f'{text} [{unit}]' if unit else text, 'bounds': bounds, 'one_of': one_of})


@dataclass(frozen=True)
class SafetySettings:
    """What the gate demands. A value out of its range raises a DynamicsError that names it."""

    # How old things may be
    max_state_age: float = setting(
        0.05, 'A joint state older than this, or from further in the future, is a fault. No torque '
        'changes by more than the slew limit gives in this time from one message to the next.',
        's', (0.001, 1.0))
    max_reference_age: float = setting(
        0.5, 'A reference older than this is a fault, in modes that follow one.', 's',
        (0.001, 60.0))
    max_clock_step: float = setting(
        0.2, 'Time between two calls that is taken for a jump of the clock.', 's', (0.002, 10.0))

    # How fast the torque changes
    ramp_in_time: float = setting(
        1.0, 'From the effort before enable to the wanted torque.', 's', (0.0, 60.0))
    unknown_start: str = setting(
        'zero', 'Where the ramp in begins for a joint whose effort is not measured. zero: the '
        'drive is idle or braked. gravity: it holds the arm, by the last message that it got.',
        one_of=UNKNOWN_STARTS)
    ramp_out_time: float = setting(
        0.3, 'From the last torque to the safe one.', 's', (0.0, EXIT_TIME))
    slew_time: float = setting(
        0.1, 'From zero to the effort limit at the fastest; a joint with a slew limit of its own '
        'has that.', 's', (0.001, EXIT_TIME / 2))
    exit_period: float = setting(
        0.005, 'Between the messages of an exit.', 's', (0.0005, 0.05))

    # What is safe
    safe_action: str = setting(
        'gravity', 'Where the torque goes on disable, fault and exit. gravity: to what holds the '
        'arm still, which stays; without a state to trust as hold. zero: to zero. hold: to zero, '
        'after a fault only when hold_time has passed.', one_of=SAFE_ACTIONS)
    hold_time: float = setting(
        0.1, 'How long the last torque is held after a fault before it goes to zero; what it '
        'accelerates, it accelerates blindly.', 's', (0.0, 10.0))

    # Limits
    unknown_effort: str = setting(
        'refuse', 'A joint without an effort limit. refuse: the gate cannot be enabled. assume: '
        'its limit is assumed_effort.', one_of=UNKNOWN_EFFORTS)
    assumed_effort: float = setting(
        10.0, 'Effort limit of a joint that has none, if it is to be assumed.', 'N m or N',
        (1e-3, 1e6))
    position_margin: float = setting(
        0.1, 'Distance to a position limit from which on outward pushes fade, to nothing at the '
        'limit; at most a tenth of the range of the joint.', 'rad or m', (0.0, 10.0))
    position_tolerance: float = setting(
        0.05, 'Distance beyond a position limit that is a fault; at most a tenth of the range of '
        'the joint.', 'rad or m', (0.0, 10.0))
    velocity_margin: float = setting(
        0.2, 'Share of the velocity limit below it from which on pushes along the motion fade, to '
        'nothing at the limit.', '', (0.0, 1.0))
    velocity_tolerance: float = setting(
        0.2, 'Share of the velocity limit beyond it that is a fault.', '', (0.0, 10.0))
    jump_tolerance: float = setting(
        0.1, 'What two positions may differ by on top of what the velocity limit allows; more is '
        'a fault.', 'rad or m', (1e-6, 10.0))
    jump_speed: float = setting(
        50.0, 'Velocity limit in that sense of a joint that has none.', 'rad/s or m/s',
        (1e-3, 1e6))

    def __post_init__(self):
        for f in fields(self):
            value = getattr(self, f.name)
            bounds, one_of = f.metadata['bounds'], f.metadata['one_of']
            if one_of:
                if not isinstance(value, str) or value not in one_of:
                    raise DynamicsError(f'{f.name} is {shown(value)}; valid choices are '
                                        f'{", ".join(one_of)}')
            elif not (_is_number(value) and bounds[0] <= value <= bounds[1]):
                raise DynamicsError(f'{f.name} is {shown(value)}; expected a number from '
                                    f'{bounds[0]:g} to {bounds[1]:g}')


def _is_number(value):
    try:
        return not isinstance(value, (bool, str, np.ndarray)) and math.isfinite(value)
    except Exception:  # an object may raise anything when it is made a float
        return False
