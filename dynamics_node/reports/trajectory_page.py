"""Write the report of a trajectory: efforts and velocities against limits, power, energy."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import trapezoid

from dynamics_node import checks
from dynamics_node.checks import finite
from dynamics_node.control.trajectory_torques import TrajectoryTorques, trajectory_torques
from dynamics_node.errors import DynamicsError, several
from dynamics_node.reports.digits import plain, shown
from dynamics_node.reports.markup import Markup, tag
from dynamics_node.reports.page_elements import (
    facts,
    figure,
    grid,
    note,
    page,
    section,
    table,
)
from dynamics_node.reports.plots import Line, limit_bars, line_plot, near
from dynamics_node.reports.units import effort_units, speed_units
from dynamics_node.robot import arguments
from dynamics_node.robot.robot import Robot

AT_REST = 1e-12  # [rad/s or m/s] greatest speed of a joint that does not move


class Demand(NamedTuple):
    """Loads of the motors along a trajectory, (nv,) each; recovered energy is negative."""

    torques: TrajectoryTorques
    rms: np.ndarray              # root mean square effort over the time [N m or N]
    peak_velocity: np.ndarray    # greatest |v| [rad/s or m/s]
    velocity_limit: np.ndarray   # nan = unknown
    overrun: np.ndarray          # beyond the range of positions, 0 within [rad or m]
    power: np.ndarray            # tau v at each sample, (N, nv) [W]
    energy_in: np.ndarray        # integral of power > 0 [J]
    energy_back: np.ndarray      # integral of power < 0 [J]


def demand(robot: Robot, times: ArrayLike, q: ArrayLike, v: ArrayLike, a: ArrayLike,
           payload_frame: str = '', payload_com: ArrayLike = (0.0, 0.0, 0.0)) -> Demand:
    """Return the Demand of a motion; arguments as in `trajectory_torques`."""
    torques = trajectory_torques(robot, times, q, v, a, payload_frame=payload_frame,
                                 payload_com=payload_com)
    times, v = np.asarray(times, dtype=float), np.broadcast_to(v, torques.effort.shape)
    power = torques.effort * v
    return Demand(torques, _root_mean_square(times, torques.effort), np.abs(v).max(axis=0),
                  robot.model.max_velocity, _overrun(robot, q), power,
                  trapezoid(np.maximum(power, 0.0), times, axis=0),
                  trapezoid(np.minimum(power, 0.0), times, axis=0))


def trajectory_report_page(robot: Robot, times: ArrayLike, q: ArrayLike, v: ArrayLike,
                           a: ArrayLike, payload_frame: str = '',
                           payload_com: ArrayLike = (0.0, 0.0, 0.0),
                           about: Mapping[str, object] | None = None
                           ) -> tuple[str, dict[str, Any]]:
    """Return (html, numbers for JSON) of a motion; arguments as in `trajectory_torques`.

    :param about: {key: value} for the line below the title.
    :raise DynamicsError: an argument is wrong, or the robot has loops.
    """
    if arguments.check_robot(robot).loops.constraints:
        raise DynamicsError('the robot has closed loops; trajectory reports support trees '
                            'only')
    if not robot.nv:
        raise DynamicsError(f"robot '{robot.name}' has no movable joint, and no trajectory")
    payload_com = tuple(finite('payload_com', payload_com, (3,)).tolist())
    found = demand(robot, times, q, v, a, payload_frame, payload_com)
    times, v = np.asarray(times, dtype=float), np.asarray(v, dtype=float)
    v = np.broadcast_to(v, found.torques.effort.shape)
    torques = found.torques
    html = page(
        f'Trajectory of {robot.name}', checks.check_facts(about),
        facts(_figures(robot, times, found, payload_frame)),
        section('Peak effort against its limit', figure(limit_bars(
            'Greatest effort along the trajectory, against the limits', robot.dof_names,
            _signed_peaks(torques.effort), torques.effort_limit, effort_units(robot)),
            'A track ends at the limit to each side; no track: the limit is unknown.')),
        section('Efforts', _saturation(robot, torques),
                grid(_effort_plots(robot, times, torques)),
                note('Dashed lines are limits, drawn where the effort comes near them.'),
                _effort_table(robot, found)),
        section('Velocities', grid(_velocity_plots(robot, times, v, found)),
                _motion_table(robot, times, q, found)),
        section('Power and energy', _power(times, found),
                note('Mechanical power at the joints, tau v, without losses of motors and '
                     'gears.'), _energy_table(robot, found)),
        _payload_section(robot, torques, payload_frame, payload_com))
    return html, plain(_numbers(robot, times, found, payload_frame, payload_com))


def _numbers(robot: Robot, times: np.ndarray, found: Demand, payload_frame: str,
             payload_com: ArrayLike) -> dict[str, Any]:
    torques = found.torques
    first = torques.first_saturated
    return {'robot': robot.name, 'dof_names': robot.dof_names, 'duration': times[-1] - times[0],
            'samples': len(times), 'time': times, 'effort': torques.effort,
            'effort_limit': torques.effort_limit, 'peak_effort': torques.peak,
            'margin': torques.margin, 'rms_effort': found.rms,
            'first_saturated': robot.dof_names[first] if first >= 0 else None,
            'first_saturation_time': torques.first_saturation_time,
            'peak_velocity': found.peak_velocity, 'velocity_limit': found.velocity_limit,
            'position_overrun': found.overrun,
            'peak_power': np.abs(found.power).max(axis=0), 'energy_in': found.energy_in,
            'energy_back': found.energy_back,
            'payload_frame': payload_frame, 'payload_com': payload_com,
            'greatest_payload': torques.greatest_payload, 'payloads': robot.payloads,
            'gravity': robot.gravity}


def _root_mean_square(times: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the RMS over time, not over samples, which may be unevenly spaced."""
    if len(times) == 1:
        return np.abs(x[0])
    return np.sqrt(trapezoid(x ** 2, times, axis=0) / (times[-1] - times[0]))


def _overrun(robot: Robot, q: ArrayLike) -> np.ndarray:
    beyond = np.zeros(robot.nv)
    for joint in robot.model.joints:
        if joint.q.stop - joint.q.start == 1:
            position = np.asarray(q)[..., joint.q.start]
            beyond[joint.v] = max(0.0, joint.lower - position.min(), position.max() - joint.upper)
    return beyond


def _signed_peaks(x: np.ndarray) -> np.ndarray:
    return x[np.abs(x).argmax(axis=0), np.arange(x.shape[1])]


def _figures(robot: Robot, times: np.ndarray, found: Demand, payload_frame: str) -> dict[str, str]:
    torques = found.torques
    share = torques.peak / torques.effort_limit
    fast = found.peak_velocity / found.velocity_limit
    verdict = 'yes'
    if torques.first_saturated >= 0 or (fast > 1.0).any() or found.overrun.any():
        verdict = tag('span', 'no', class_='bad')
    elif not (np.isfinite(share) & np.isfinite(fast)).all():
        verdict = 'yes, where limits are known'
    return {'Within the limits': verdict,
            'Duration': f'{shown(times[-1] - times[0])} s, {several(len(times), "sample")}',
            'Effort, of the limits': _worst(robot, share),
            'Velocity, of the limits': _worst(robot, fast),
            'Energy supplied': f'{shown(found.energy_in.sum())} J',
            'Peak power': f'{shown(found.power.sum(axis=1).max())} W',
            **({'Greatest payload': _payload(torques)} if payload_frame else {})}


def _worst(robot: Robot, share: np.ndarray) -> str:
    if not np.isfinite(share).any():
        return 'limits unknown'
    k = int(np.nanargmax(share))
    return tag('span', f'{shown(100 * share[k], 3)} % ({robot.dof_names[k]})',
               class_='bad' if share[k] > 1.0 else None)


def _saturation(robot: Robot, torques: TrajectoryTorques) -> Markup:
    first = torques.first_saturated
    if first < 0:
        return note('No known limit is exceeded.')
    return note(tag('span', f'{robot.dof_names[first]} saturates first, at '
                    f'{shown(torques.first_saturation_time)} s', class_='bad'),
                ', marked by a line.')


def _effort_plots(robot: Robot, times: np.ndarray, torques: TrajectoryTorques) -> Iterator[Markup]:
    for k, (name, unit) in enumerate(zip(robot.dof_names, effort_units(robot))):
        limit = torques.effort_limit[k]
        event = torques.first_saturation_time if k == torques.first_saturated else None
        line = Line('effort', times, torques.effort[:, k])
        yield figure(line_plot(name, [line], 'time [s]', f'effort [{unit}]', (-limit, limit),
                               event), _far_limit(line, limit, unit))


def _velocity_plots(robot: Robot, times: np.ndarray, v: np.ndarray, found: Demand
                    ) -> Iterator[Markup]:
    for k, (name, unit) in enumerate(zip(robot.dof_names, speed_units(robot))):
        if found.peak_velocity[k] > AT_REST:
            limit, line = found.velocity_limit[k], Line('velocity', times, v[:, k], 'three')
            yield figure(line_plot(name, [line], 'time [s]', f'velocity [{unit}]',
                                   (-limit, limit)), _far_limit(line, limit, unit))


def _far_limit(line: Line, limit: float, unit: str) -> str | None:
    if np.isnan(limit):
        return 'limit unknown'
    return None if near([line], (-limit, limit)).size else (
        f'limit \N{PLUS-MINUS SIGN}{shown(limit)} {unit}, far away')


def _effort_table(robot: Robot, found: Demand) -> Markup | None:
    torques = found.torques
    over = ['bad' if margin < 0.0 else '' for margin in torques.margin]
    return table('Efforts [N m or N]. The margin is the limit less the peak; a dash is unknown.', {
        'joint': robot.dof_names, 'peak': torques.peak, 'rms': found.rms,
        'limit': torques.effort_limit, 'margin': torques.margin,
        'peak of limit [%]': 100 * torques.peak / torques.effort_limit,
        'rms of limit [%]': 100 * found.rms / torques.effort_limit}, over)


def _motion_table(robot: Robot, times: np.ndarray, q: ArrayLike, found: Demand) -> Markup | None:
    q = np.broadcast_to(q, (len(times), robot.nq))
    joints = [joint for joint in robot.model.joints if joint.q.stop - joint.q.start == 1]
    places, speeds = ([getattr(joint, x).start for joint in joints] for x in 'qv')
    least, greatest = q[:, places].min(axis=0), q[:, places].max(axis=0)
    lower, upper = (np.array([getattr(joint, x) for joint in joints]) for x in ('lower', 'upper'))
    speed, limit = found.peak_velocity[speeds], found.velocity_limit[speeds]
    bad = (found.overrun[speeds] > 0.0) | (speed > limit)
    return table('Positions [rad or m] and velocities [rad/s or m/s] against their limits.', {
        'joint': [joint.name for joint in joints], 'from': least, 'to': greatest,
        'lower limit': lower, 'upper limit': upper, 'peak velocity': speed,
        'velocity limit': limit, 'of limit [%]': 100 * speed / limit},
        ['bad' if x else '' for x in bad])


def _power(times: np.ndarray, found: Demand) -> Markup:
    return grid([figure(line_plot('All joints together', [
        Line('power', times, found.power.sum(axis=1), 'two')], 'time [s]', 'power [W]'))])


def _energy_table(robot: Robot, found: Demand) -> Markup | None:
    return table('Energy that each drive supplies and recovers.', {
        'joint': [*robot.dof_names, 'total'],
        'peak power [W]': np.append(np.abs(found.power).max(axis=0),
                                    np.abs(found.power.sum(axis=1)).max()),
        'supplied [J]': np.append(found.energy_in, found.energy_in.sum()),
        'recovered [J]': np.append(found.energy_back, found.energy_back.sum())})


def _payload_section(robot: Robot, torques: TrajectoryTorques, frame: str, com: Sequence[float]
                     ) -> Markup | None:
    if not frame:
        return None
    carried = ', '.join(f'{name} of {shown(load.mass)} kg' for name, load in robot.payloads.items())
    return section('Greatest payload', note(
        f'A point mass of at most {_payload(torques)} at ({", ".join(map(shown, com))}) m in '
        f'{frame} can be carried along the trajectory within the effort limits',
        f', on top of {carried}.' if carried else '.'))


def _payload(torques: TrajectoryTorques) -> str:
    if np.isinf(torques.greatest_payload):
        return 'any mass (no limit binds)'
    return f'{shown(torques.greatest_payload)} kg'
