"""Release the torques of a Stop, by measured joint states, by predicted ones, or by neither."""

from collections.abc import Callable, Iterator, Sequence

from dynamics_node.safety.gate_limits import GateLimits
from dynamics_node.safety.records import LastValid, Predict, Release
from dynamics_node.safety.releaser import Releaser
from dynamics_node.safety.state_checks import StateChecks
from dynamics_node.safety.stop import Stop


def use_prediction(checks: StateChecks, out: Releaser, predict: Predict, braking: bool) -> bool:
    """Predict the joint state and use it; return False if that is impossible.

    :param braking: whether the torque of the prediction must be the one that brakes.
    """
    proposal = predict(LastValid(checks.age, *checks.measured, out.last, braking))
    return proposal is not None and checks.use_prediction(proposal)


def stop_release(stop: Stop, checks: StateChecks, out: Releaser, predict: Predict,
                 zero: Sequence[float]) -> Release | None:
    """Return the next Release of a Stop; None if it would exceed the limits, an internal error."""
    if stop.braking and stop.blind and not use_prediction(checks, out, predict, braking=True):
        stop.end_braking(out.last)
    stop.check_rest(checks.at_rest, out.last)
    if stop.braking:
        return out.release(*out.within_limits(checks), together=True)
    return out.release(stop.torque(checks.gravity, zero))


def blind_stop(limits: GateLimits, last_valid: LastValid, gravity: Sequence[float],
               predict: Predict, clock: Callable[[], float]) -> Iterator[Release]:
    """Yield the last Releases of a gate that receives no joint states any more.

    It is for a process that continues after the process of the gate has ended. The first Release
    repeats the last one of the gate; the last one is zero.

    :param last_valid: its `seconds` are those at the first value of the clock.
    :param gravity: torque that balanced gravity at the last valid joint state, nv entries.
    :param clock: returns a steady time [s].
    """
    settings, checks, out = limits.settings, StateChecks(limits), Releaser()
    checks.resume(last_valid, gravity)
    out.begin(limits, last_valid.torque)
    before, release = clock(), out.make(last_valid.torque)
    # Joints at rest are braked too: the last torque may have moved them since. Braking ends when
    # the predicted joints rest.
    stop = Stop.after_fault(settings, out.last, blind=True, braking=settings.brake_time > 0.0)
    while release is not None:
        yield release
        if not stop.braking and stop.is_over(out.last, checks.gravity, limits.zero):
            return
        now = clock()
        for each in (checks, out, stop):
            each.pass_time(now - before)
        before = now
        release = stop_release(stop, checks, out, predict, limits.zero)
