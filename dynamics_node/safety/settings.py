"""Declare the safety settings, each once: default, meaning, unit, valid range or choices."""

from dataclasses import dataclass, fields

from dynamics_node.errors import DynamicsError, shown
from dynamics_node.parameter import check_parameter, parameter

SAFE_ACTIONS = ('gravity', 'zero', 'hold')
UNKNOWN_EFFORTS = ('refuse', 'assume')
UNKNOWN_STARTS = ('gravity', 'zero')
# A process that is asked to end has a second; this much of it is for the ramp to the safe torque.
EXIT_TIME = 0.8  # [s]
LARGEST = 1e9    # bound of every position, velocity and limit; products of two stay finite
LEAST_WATCHDOG_TIME = 0.05   # [s] several looks of the watchdog


def check_watchdog_time(name: str, value: float) -> None:
    """Check a time of the watchdog: 0 for none, otherwise not too short."""
    if 0.0 < value < LEAST_WATCHDOG_TIME:
        raise DynamicsError(f'{name} is {shown(value)}; expected 0 for no watchdog, or at least '
                            f'{LEAST_WATCHDOG_TIME:g}')


@dataclass(frozen=True)
class SafetySettings:
    """How strict the gate is. A value out of its range raises a DynamicsError that names it."""

    # Ages
    max_state_age: float = parameter(
        0.05, 'No torque of the control law is computed from a joint state older than this; one '
        'this far in the future is a fault. After a pause, a torque changes at most as far as the '
        'slew limit allows in this time.', 's', (0.001, 1.0))
    bridge_time: float = parameter(
        0.4, 'If the joints rest, a silence of the joint states is bridged for this long after '
        'max_state_age: the torque goes to the one that balanced gravity at the last valid '
        'position. After it the silence is a fault.', 's', (0.0, 10.0))
    prediction_time: float = parameter(
        0.1, 'If joints move, a silence of the joint states is bridged for this long after '
        'max_state_age: the torque is computed from the state that the model predicts. After it '
        'the silence is a fault, and the predicted joints are braked.', 's', (0.0, 1.0))
    max_reference_age: float = parameter(
        0.5, 'A reference older than this is a fault, in modes that follow a reference.', 's',
        (0.001, 60.0))
    max_clock_step: float = parameter(
        0.2, 'A longer step of the clock, compared with a clock that is never set, is a fault. In '
        'simulated time, every longer step is a fault.', 's', (0.002, 10.0))

    # Rates of change
    ramp_in_time: float = parameter(
        1.0, 'Duration of the ramp on enable, from the effort before it to the wanted torque.', 's',
        (0.0, 60.0))
    unknown_start: str = parameter(
        'gravity', 'Start of the ramp on enable for a joint whose torque is not known: '
        'observer.effort_meaning is unknown, or joint_states has no effort. gravity: the torque '
        'that holds the arm still. zero: for a drive that is idle while brakes hold the arm.',
        one_of=UNKNOWN_STARTS)
    start_tolerance: float = parameter(
        0.2, 'Share of the effort limit by which the measured effort, where the ramp on enable '
        'starts, may lie outside of the range from zero to the torque that balances gravity. '
        'Further outside, enable is refused: it would fling the arm.', '', (0.0, 1.0))
    ramp_out_time: float = parameter(
        0.3, 'Duration of the ramp from the last torque to the safe torque.', 's',
        (0.0, EXIT_TIME))
    slew_time: float = parameter(
        0.1, 'Shortest time from zero to the effort limit: gives the slew limit of joints that '
        'torque.slew_limits does not name.', 's', (0.001, EXIT_TIME / 2))
    change_rate: float = parameter(
        1.5, 'Greatest rate at which a change of payload, gravity, friction, gains or scales may '
        'change the torque while it is published, as a share of the effort limit; a faster one is '
        'refused. A change without a transition counts as one that takes torque.blend_time.',
        '1/s', (0.01, 100.0))
    exit_period: float = parameter(
        0.005, 'Period of the torques of the ramp when the node is deactivated or ends.', 's',
        (0.0005, 0.05))

    # The end of torques
    brake_time: float = parameter(
        1.0, 'Longest time to brake moving joints to rest, before the ramp to the safe torque. 0: '
        'joints are not braked.', 's', (0.0, 5.0))
    safe_action: str = parameter(
        'gravity', 'Last torque after a disable, a fault or the end of the node. gravity: the '
        'torque that holds the arm still; after a fault without a valid joint state, that of the '
        'last valid position, which decays within blind_gravity_time. zero: zero. hold: zero; '
        'after a fault the last torque is kept for hold_time first.', one_of=SAFE_ACTIONS)
    blind_gravity_time: float = parameter(
        2.0, 'Time over which the torque that balanced gravity at the last valid position decays '
        'to zero, after a fault without a valid joint state.', 's', (0.0, 10.0))
    hold_time: float = parameter(
        0.1, 'Time for which the last torque is kept, constant, after a fault before it goes to '
        'zero.', 's', (0.0, 10.0))
    watchdog_time: float = parameter(
        0.4, 'Time for which the loop of the torque process may stand still while torques are '
        'published; then the watchdog ends the process and publishes the last torques. At least 2 '
        's with use_sim_time. 0: there is no watchdog.', 's', (0.0, 10.0),
        check=check_watchdog_time)

    # Limits
    unknown_effort: str = parameter(
        'refuse', 'If a joint has no effort limit. refuse: torques cannot be enabled. assume: the '
        'limit is assumed_effort.', one_of=UNKNOWN_EFFORTS)
    assumed_effort: float = parameter(
        10.0, 'Effort limit of a joint that has none, with unknown_effort: assume.', 'N m or N',
        (1e-3, 1e6))
    position_margin: float = parameter(
        0.1, 'Distance to a position limit at which torques towards it begin to fade; they are '
        'zero at the limit, gravity excepted. At most a tenth of the range of the joint.',
        'rad or m', (0.0, 10.0))
    position_tolerance: float = parameter(
        0.05, 'Distance beyond a position limit that is a fault; at most a tenth of the range of '
        'the joint.', 'rad or m', (0.0, 10.0))
    velocity_margin: float = parameter(
        0.2, 'Share of the velocity limit: torques along the motion fade in the range of this '
        'width below the limit; at the limit they are zero, gravity excepted.', '', (0.0, 1.0))
    velocity_tolerance: float = parameter(
        0.2, 'Share of the velocity limit: exceeding the limit by this much is a fault.', '',
        (0.0, 10.0))
    jump_tolerance: float = parameter(
        0.1, 'Two successive positions that differ by more than this plus velocity limit x time '
        'are a fault.', 'rad or m', (1e-6, 10.0))
    jump_speed: float = parameter(
        50.0, 'Velocity limit of joints that have none, for the check of jump_tolerance only.',
        'rad/s or m/s', (1e-3, 1e6))

    def __post_init__(self) -> None:
        for declared in fields(self):
            check_parameter(declared.name, getattr(self, declared.name), declared)
