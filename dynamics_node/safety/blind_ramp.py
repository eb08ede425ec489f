"""Compute the last torques without a joint state: from the last one to the safe torque.

Without a joint state the torque that balances gravity is known for the last valid position only.
An arm that moves needs another one soon, so it decays.
"""

from collections.abc import Sequence

from dynamics_node.safety.ramp import torque_steps
from dynamics_node.safety.settings import SafetySettings


def blind_ramp(last: Sequence[float], gravity: Sequence[float], slew: Sequence[float],
               settings: SafetySettings) -> list[Sequence[float]]:
    """Return the torques to publish exit_period apart; the first one is the last torque.

    `safe_action` gravity: to gravity in ramp_out_time, then to zero in blind_gravity_time. zero: to
    zero in ramp_out_time. hold: the last torque for hold_time, then to zero in ramp_out_time. Each
    takes longer if the slew limits demand it.

    :param last: released last, one entry per joint [N m or N].
    :param gravity: that balances gravity at the last valid position; both within the effort limits.
    :param slew: slew limits [N m/s or N/s].
    """
    zero = (0.0,) * len(last)
    legs = {'gravity': ((gravity, settings.ramp_out_time), (zero, settings.blind_gravity_time)),
            'zero': ((zero, settings.ramp_out_time),),
            'hold': ((last, settings.hold_time), (zero, settings.ramp_out_time))}
    torques = [last]
    for end, duration in legs[settings.safe_action]:
        torques += torque_steps(torques[-1], end, duration, slew, settings.exit_period)[1:]
    return torques
