"""Write the report of a fleet: robots ranked by deviation and drift, common parameters."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dynamics_node.checks import check_facts
from dynamics_node.identification.fleet_fit import FleetIdentification, FleetMember
from dynamics_node.reports.digits import plain, shown
from dynamics_node.reports.markup import Markup
from dynamics_node.reports.page_elements import (
    bullets,
    facts,
    figure,
    grid,
    note,
    numbers,
    page,
    section,
    table,
)
from dynamics_node.reports.plots import error_bars

UNUSUAL = 4.0     # standard deviations of the other robots
MANY = 40         # robots in a figure
FIGURES = 6


def fleet_report_page(found: FleetIdentification, name: str,
                      about: Mapping[str, object] | None = None,
                      warnings: tuple[str, ...] = ()) -> tuple[str, dict[str, Any]]:
    """Return (html, numbers for JSON) of a FleetIdentification.

    :param name: name of the type of robot.
    :param about: {key: value} for the line below the title.
    :param warnings: about recordings.
    """
    html = page(
        f'Fleet of {name}', check_facts(about), facts(_figures(found)),
        section('Warnings', bullets(warnings)) if warnings else None,
        section('Robots, the most unusual one first', *_robots(found)),
        section('Changes over time', *_drifts(found)),
        section('Common parameters', *_common(found)))
    return html, plain(_numbers(found, warnings))


def _figures(found: FleetIdentification) -> dict[str, str]:
    unusual = [each.name for each in found.robots if each.distance >= UNUSUAL]
    changed = [each.name for each in found.robots if any(drift.changed for drift in each.drifts)]
    return {'Robots': str(len(found.robots)),
            'Recordings': str(sum(each.recordings for each in found.robots)),
            'Unusual robots': ', '.join(unusual) or 'none',
            'Robots that changed': ', '.join(changed) or 'none',
            'Inertias differ between robots by': f'{shown(100.0 * found.variation["inertia"], 2)} %'
                                                 ' (standard deviation)'}


def _robots(found: FleetIdentification) -> Iterator[Markup | None]:
    robots = found.robots
    yield note('The deviation is that of the most unusual parameter, in standard deviations of the '
               f'other robots: up to 3 is usual, {UNUSUAL:g} and more is not. The change of torque '
               'is the RMS difference to the common model on the recorded motion of the robot.')
    yield table('Robots of the fleet.', {
        'robot': [each.name for each in robots],
        'recordings': [str(each.recordings) for each in robots],
        'deviation': numbers([each.distance for each in robots], 2),
        'of parameter': [each.unusual for each in robots],
        'change of torque [%]': numbers([100.0 * each.share for each in robots], 2),
        'at joint': [found.common.dof_names[int(np.argmax(each.torque_change))]
                     for each in robots]},
        ['bad' if each.distance >= UNUSUAL else '' for each in robots])
    shown_robots = sorted(robots[:MANY], key=lambda each: each.name)
    names = list(dict.fromkeys(each.unusual for each in robots))[:FIGURES]
    yield grid(_figure(found, name, shown_robots) for name in names)


def _figure(found: FleetIdentification, name: str, robots: Sequence[FleetMember]) -> Markup:
    """Return the deviations of one base parameter, the common value as hollow marks."""
    k = found.base.names.index(name)
    unit = found.layout.units[found.base.kept[k]]
    return figure(error_bars(
        name, [each.name for each in robots], np.array([each.deviation[k] for each in robots]),
        np.array([each.sigma[k] for each in robots]), np.zeros(len(robots)), unit))


def _drifts(found: FleetIdentification) -> Iterator[Markup | None]:
    rows = sorted(((each, drift) for each in found.robots for drift in each.drifts),
                  key=lambda row: -row[1].share)
    if not rows:
        yield note('No robot has more than one recording with a date: time stamps in seconds since '
                   '1970.')
        return
    yield note('Later recordings against the first one of the same robot. Changes of base '
               'parameters of four standard deviations and more are named.')
    yield table('Changes since the first recording, the largest first.', {
        'robot': [each.name for each, _ in rows],
        'after [d]': numbers([drift.days for _, drift in rows], 3),
        'change of torque [%]': numbers([100.0 * drift.share for _, drift in rows], 2),
        'parameters that changed': [', '.join(
            f'{name} ({z:+.1f})' for name, z in list(drift.changed.items())[:5]) or 'none'
            for _, drift in rows]},
        ['bad' if drift.changed else '' for _, drift in rows])


def _common(found: FleetIdentification) -> Iterator[Markup | None]:
    layout = found.layout
    yield note('Every link is physically consistent. What the recordings of all robots do not '
               'determine stays near the URDF.')
    mass = np.arange(0, layout.inertial, 10)
    yield table('Masses.', {
        'link': layout.bodies, 'URDF [kg]': found.before[mass], 'common [kg]': found.values[mass],
        '\u00b1 [kg]': found.spread.sigma[mass]})
    names = layout.names[layout.inertial:]
    yield table('Joint parameters; the last column is the standard deviation between robots.', {
        'parameter': names, 'unit': layout.units[layout.inertial:],
        'common': found.values[layout.inertial:], '\u00b1': found.spread.sigma[layout.inertial:],
        'between robots': [found.variation[each] for each in names]})


def _numbers(found: FleetIdentification, warnings: Sequence[str]) -> dict[str, Any]:
    return {
        'warnings': warnings, 'variation': found.variation,
        'common': {'names': found.layout.names, 'units': found.layout.units,
                   'before': found.before, 'values': found.values, 'sigma': found.spread.sigma},
        'base_parameters': {'names': found.base.names, 'values': found.base_values,
                            'sigma': found.base_sigma},
        'robots': [{
            'name': each.name, 'distance': each.distance, 'unusual': each.unusual,
            'torque_change': each.torque_change, 'share': each.share, 'values': each.values,
            'deviation': each.deviation, 'sigma': each.sigma, 'recordings': each.recordings,
            'drifts': [drift._asdict() for drift in each.drifts]} for each in found.robots]}
