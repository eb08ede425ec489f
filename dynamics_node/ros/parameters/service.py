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
    max_states_with_torques: int = parameter(
        20_000, 'Value of max_states while torques are enabled.', bounds=(1, 100_000_000))
    max_reply: int = parameter(
        100_000_000, 'Greatest number of bytes of the numbers in one reply.',
        bounds=(1000, 1_000_000_000))
    max_reply_with_torques: int = parameter(
        10_000_000, 'Value of max_reply while torques are enabled.', bounds=(1000, 1_000_000_000))
    max_entries: int = parameter(
        10_000, 'Greatest number of entries of a list that is not counted by another parameter: '
        'names, or numbers of one state.', bounds=(1, 1_000_000))
    max_frames: int = parameter(
        1000, 'Greatest number of frames of ~/kinematics, of external wrenches, and of inertias, '
        'origins and axes of ~/directional_derivative.',
        bounds=(1, 100_000))
    max_targets: int = parameter(
        20, 'Greatest number of targets of ~/inverse_kinematics, of frames of '
        '~/operational_space, and of sensors of ~/joint_reactions.', bounds=(1, 1000))
    max_tasks: int = parameter(
        50, 'Greatest number of tasks of ~/task_control and ~/differential_kinematics, and of '
        'bounds.', bounds=(1, 1000))
    max_sides: int = parameter(
        32, 'Greatest number of faces of a friction pyramid.', bounds=(3, 1000))
    max_constraints: int = parameter(
        50, 'Greatest number of constraints of a request: the loops of the robot, and contacts.',
        bounds=(1, 1000))
    max_yaml: int = parameter(
        50_000, 'Greatest number of characters of a YAML text in a request.',
        bounds=(1, 200_000))
    max_name: int = parameter(
        200, 'Greatest number of characters of a name in a request.', bounds=(1, 10_000))
    max_restarts: int = parameter(
        1000, 'Greatest number of restarts of ~/inverse_kinematics.', bounds=(0, 1_000_000))
    max_samples: int = parameter(
        1000, 'Greatest number of samples of ~/self_test.', bounds=(1, 1000))
    max_waiting: int = parameter(
        100, 'Greatest number of long requests of one client that wait; further ones are refused.',
        bounds=(1, 10_000))
    max_waiting_bytes: int = parameter(
        200_000_000, 'Greatest number of bytes of all long requests that wait.',
        bounds=(1000, 10_000_000_000))
    max_recording: int = parameter(
        200_000_000, 'Greatest number of bytes of joint states that are stored for '
        'identification.', bounds=(100_000, 10_000_000_000))
    workers: int = parameter(
        2, 'Greatest number of processes that compute long requests. Each client uses one at a '
        'time.', bounds=(1, 16))
