"""Declare the parameters `service.*`: the bounds of requests."""

from dataclasses import dataclass

from dynamics_node.parameter import parameter


@dataclass(frozen=True)
class ServiceParameters:
    """Bounds of requests."""

    max_duration: float = parameter(
        5.0, 'Greatest duration of a request; a longer one is stopped and refused.', 's',
        bounds=(0.1, 3600.0))
    max_states: int = parameter(
        200_000, 'Greatest number of states, or points of a trajectory, in one request.',
        bounds=(1, 100_000_000))
    max_waiting: int = parameter(
        100, 'Greatest number of long requests of one client that wait; further ones are refused.',
        bounds=(1, 10_000))
    workers: int = parameter(
        2, 'Greatest number of processes that compute long requests. Each client uses one at a '
        'time.', bounds=(1, 16))
