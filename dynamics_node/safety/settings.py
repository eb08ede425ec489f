"""Declare the safety settings, each once: default, meaning, unit, valid range or choices."""

from dataclasses import dataclass, fields

from dynamics_node.parameter import check_parameter, parameter

SAFE_ACTIONS = ('gravity', 'zero', 'hold')
UNKNOWN_EFFORTS = ('refuse', 'assume')
UNKNOWN_STARTS = ('zero', 'gravity')
# A process that is asked to end has a second; this much of it is for the ramp to the safe torque.
EXIT_TIME = 0.8  # [s]
LARGEST = 1e9    # bound of every position, velocity and limit; products of two stay finite


@dataclass(frozen=True)
class SafetySettings:
    """How strict the gate is. A value out of its range raises a DynamicsError that names it."""

    # Ages
    max_state_age: float = parameter(
        0.05, 'A joint state older than this, or from further in the future, is a fault. No torque '
        'changes by more than the slew limit gives in this time from one message to the next.',
        's', (0.001, 1.0))
    max_reference_age: float = parameter(
        0.5, 'A reference older than this is a fault, in modes that follow one.', 's',
        (0.001, 60.0))
    max_clock_step: float = parameter(
        0.2, 'A longer time between two calls counts as a jump of the clock.', 's', (0.002, 10.0))

    # Rates of change
    ramp_in_time: float = parameter(
        1.0, 'From the effort before enable to the wanted torque.', 's', (0.0, 60.0))
    unknown_start: str = parameter(
        'zero', 'Where the ramp in begins for a joint whose effort is not measured. zero: the '
        'drive is idle or braked. gravity: it holds the arm, by the last command it received.',
        one_of=UNKNOWN_STARTS)
    ramp_out_time: float = parameter(
        0.3, 'From the last torque to the safe one.', 's', (0.0, EXIT_TIME))
    slew_time: float = parameter(
        0.1, 'From zero to the effort limit at the fastest; a joint with a slew limit of its own '
        'has that.', 's', (0.001, EXIT_TIME / 2))
    exit_period: float = parameter(
        0.005, 'Between the messages of an exit.', 's', (0.0005, 0.05))

    # The safe torque
    safe_action: str = parameter(
        'gravity', 'Where the torque goes on disable, fault and exit. gravity: to what holds the '
        'arm still, which stays; without a state to trust as hold. zero: to zero. hold: to zero, '
        'after a fault only when hold_time has passed.', one_of=SAFE_ACTIONS)
    hold_time: float = parameter(
        0.1, 'How long the last torque is kept after a fault before it goes to zero; meanwhile it '
        'follows no joint state.', 's', (0.0, 10.0))

    # Limits
    unknown_effort: str = parameter(
        'refuse', 'A joint without an effort limit. refuse: the gate cannot be enabled. assume: '
        'its limit is assumed_effort.', one_of=UNKNOWN_EFFORTS)
    assumed_effort: float = parameter(
        10.0, 'Effort limit of a joint that has none, with unknown_effort: assume.', 'N m or N',
        (1e-3, 1e6))
    position_margin: float = parameter(
        0.1, 'Distance to a position limit from which on outward pushes fade, to nothing at the '
        'limit; at most a tenth of the range of the joint.', 'rad or m', (0.0, 10.0))
    position_tolerance: float = parameter(
        0.05, 'Distance beyond a position limit that is a fault; at most a tenth of the range of '
        'the joint.', 'rad or m', (0.0, 10.0))
    velocity_margin: float = parameter(
        0.2, 'Share of the velocity limit below it from which on pushes along the motion fade, to '
        'nothing at the limit.', '', (0.0, 1.0))
    velocity_tolerance: float = parameter(
        0.2, 'Share of the velocity limit beyond it that is a fault.', '', (0.0, 10.0))
    jump_tolerance: float = parameter(
        0.1, 'Two positions may differ by this on top of what the velocity limit allows; more is '
        'a fault.', 'rad or m', (1e-6, 10.0))
    jump_speed: float = parameter(
        50.0, 'Velocity limit that this check assumes of a joint that has none.', 'rad/s or m/s',
        (1e-3, 1e6))

    def __post_init__(self) -> None:
        for declared in fields(self):
            check_parameter(declared.name, getattr(self, declared.name), declared)
