"""Write the report of a robot: tree, masses, inertias, limits, findings, gravity torques."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.algorithms.manipulability import Manipulability
from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import row_names
from dynamics_node.control.closed_loops import ClosedLoops, check_support
from dynamics_node.errors import DynamicsError, several
from dynamics_node.model.report import ModelReport
from dynamics_node.reports.body_views import body_views
from dynamics_node.reports.digits import column, plain, shown
from dynamics_node.reports.manipulability_views import manipulability_views
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
from dynamics_node.reports.plots import limit_bars
from dynamics_node.reports.tree_picture import tree_picture
from dynamics_node.reports.units import effort_units
from dynamics_node.robot import arguments
from dynamics_node.robot.robot import Robot

MAX_NOTES = 6         # shown; there is one for every unknown tag of a URDF
ROUNDING = 1e-6       # [rad or m] distance to the neutral configuration that counts as zero
LEVELS = {'error': 'bad', 'warning': 'warn', 'note': 'soft'}


def model_report_page(robot: Robot, q: ArrayLike | None = None,
                      about: Mapping[str, object] | None = None,
                      frame: str | None = None) -> tuple[str, dict[str, Any]]:
    """Return (html, numbers for JSON) of a robot; the numbers are complete.

    :param q: (nq,) configuration of views, centre of mass and gravity; None: neutral, with closed
        loops.
    :param about: {key: value} for the line below the title.
    :param frame: link whose manipulability is drawn; None for none.
    :raise DynamicsError: q is not a configuration of this robot, or it has no such link.
    """
    arguments.check_robot(robot)
    q = neutral(robot) if q is None else arguments.check_configuration(
        robot.model, checks.check_single('q', q, robot.nq))
    report = robot.report()
    whole = robot.center_of_mass(q) if robot.total_mass > 0.0 else np.full(3, np.nan)
    torque, odd = gravity_torque(robot, q)
    limit = robot.model.max_effort
    numbers = {'report': report.as_dict(), 'configuration': q, 'center_of_mass': whole,
               'gravity': robot.gravity, 'dof_names': robot.dof_names, 'gravity_torque': torque,
               'effort_limit': limit, 'loops': _loops(robot)}
    moved = None
    if frame is not None:
        robot.model.frame(frame)  # one link
        moved = robot.manipulability(q, frame)
        numbers['manipulability'] = {'frame': frame, **moved._asdict()}
    html = page(
        f'Robot {robot.name}', checks.check_facts(about),
        facts(_figures(robot, report, whole, torque, limit)),
        section('Findings', *_findings(report)),
        section('Tree', figure(tree_picture(robot.model), _about_tree(robot))),
        section('Masses and inertias', grid(map(figure, body_views(robot, q))),
                note('Each ellipsoid is the solid one with the mass and inertia of a body; dots '
                     'are centres of mass, the cross is that of the robot. Joints are at ',
                     _configuration(robot, q), '.'), _masses(report), *_payloads(robot)),
        section('Limits and losses', _limits(report) or note('Nothing moves.')),
        *_loop_section(robot), section('Gravity', *_gravity(robot, torque, limit, odd)),
        None if moved is None else _manipulability(frame, moved))
    return html, plain(numbers)


def neutral(robot: Robot) -> np.ndarray:
    """Return the neutral configuration with closed loops, (nq,)."""
    q = robot.neutral()
    return robot.project_configuration(q) if robot.loops.constraints else q


def gravity_torque(robot: Robot, q: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the holding torques of the motors, (nv,) [N m or N], and why they are nan, or ''."""
    torque = robot.gravity_torque(q)
    if robot.springs:
        torque = torque + robot.spring_torque(q, np.zeros(robot.nv))
    try:
        check_support(robot)
        if not robot.loops.constraints:
            return torque, ''
        return ClosedLoops(robot).motor_torques(q, torque), ''
    except DynamicsError as error:
        return np.full(robot.nv, np.nan), str(error)


def _figures(robot: Robot, report: ModelReport, whole: np.ndarray, torque: np.ndarray,
             limit: np.ndarray) -> dict[str, object]:
    counts = [sum(finding.level == level for finding in report.findings) for level in LEVELS]
    found = ', '.join(several(n, level) for n, level in zip(counts, LEVELS) if n) or 'none'
    share = np.abs(torque) / limit
    return {'Total mass': f'{shown(report.total_mass)} kg',
            'Moving mass': f'{shown(report.moving_mass)} kg',
            'Base': report.base,
            'Degrees of freedom': report.nv,
            'Centre of mass [m]': ', '.join(column(whole.round(9), 3)),
            'Gravity, of the effort limits': (f'up to {shown(100 * np.nanmax(share), 2)} %'
                                              if np.isfinite(share).any() else 'limits unknown'),
            'Findings': found}


def _findings(report: ModelReport) -> tuple[Markup | None, ...]:
    if not report.findings:
        return (note('No findings.'),)
    ordered = [f for level in LEVELS for f in report.findings if f.level == level]
    notes = sum(f.level == 'note' for f in ordered)
    left_out = max(0, notes - MAX_NOTES)
    ordered = ordered[:len(ordered) - left_out]
    return (table('Errors are impossible values, warnings suspicious ones, notes information.', {
        'level': [tag('span', f.level, class_=LEVELS[f.level]) for f in ordered],
        'where': [f.where for f in ordered], 'what': [f.text for f in ordered]}),
        note(f'and {several(left_out, "more note")}, all in the JSON') if left_out else None)


def _about_tree(robot: Robot) -> str:
    words = ('A number in a circle is a revolute joint, in a square a prismatic one. Bars are '
             'masses, with fixed links and payloads.')
    return words + (' Dashed curves are closed loops.' if robot.loops.constraints else '')


def _configuration(robot: Robot, q: np.ndarray) -> str:
    if np.abs(q - robot.neutral()).max(initial=0.0) < ROUNDING:
        return 'the neutral configuration'
    moved = [joint for joint in robot.model.joints
             if np.abs(q - robot.neutral())[joint.q].max() >= ROUNDING]
    return ', '.join(f'{joint.name} = {" ".join(shown(x, 4, 1e-9) for x in q[joint.q])}'
                     for joint in moved) + ', the others neutral'


def _masses(report: ModelReport) -> Markup | None:
    links = report.links
    com = np.array([link.com for link in links]).reshape(-1, 3).T
    moments = np.array([link.moments for link in links]).reshape(-1, 3).T
    return table('Every link of the URDF. The centre of mass is in the link frame; principal '
                 'moments are about it.', {
                     'link': [link.name for link in links],
                     'mass [kg]': np.array([link.mass for link in links]),
                     **{f'{axis} [m]': x for axis, x in zip('xyz', com)},
                     **{f'I{k} [kg m\u00b2]': x for k, x in zip('\u2081\u2082\u2083', moments)},
                     'moves with': [link.body or '(fixed)' for link in links]})


def _payloads(robot: Robot) -> tuple[Markup | None, ...]:
    loads = robot.payloads
    if not loads:
        return ()
    com = np.array([load.com for load in loads.values()]).T
    return (table('Payloads. The centre of mass is in their frame.', {
        'payload': list(loads), 'at': [load.frame for load in loads.values()],
        'mass [kg]': np.array([load.mass for load in loads.values()]),
        **{f'{axis} [m]': x for axis, x in zip('xyz', com)}}),)


def _limits(report: ModelReport) -> Markup | None:
    joints = report.joints
    numbers = {'lower [rad or m]': 'lower', 'upper [rad or m]': 'upper',
               'velocity [rad/s or m/s]': 'max_velocity', 'effort [N m or N]': 'max_effort',
               'damping [N m s/rad or N s/m]': 'damping', 'friction [N m or N]': 'friction',
               'armature [kg m\u00b2 or kg]': 'armature'}
    return table('Movable joints. A dash is unknown.', {
        'joint': [joint.name for joint in joints], 'kind': [joint.kind for joint in joints],
        **{heading: np.array([getattr(joint, field) for joint in joints])
           for heading, field in numbers.items()},
        **({'also moves': [', '.join(joint.mimics) for joint in joints]}
           if any(joint.mimics for joint in joints) else {})})


def _loops(robot: Robot) -> dict[str, Any]:
    constraints, passive = robot.loops
    return {'constraints': {constraint.name: constraint.kind for constraint in constraints},
            'rows': row_names(constraints), 'passive': passive}


def _loop_section(robot: Robot) -> tuple[Markup, ...]:
    constraints, passive = robot.loops
    if not constraints:
        return ()
    rows = table('Constraints that close the loops.', {
        'loop': [constraint.name for constraint in constraints],
        'kind': [constraint.kind for constraint in constraints],
        'frame or joints': [constraint.frame or ', '.join(constraint.joints)
                            for constraint in constraints],
        'to': [constraint.to if constraint.frame else '' for constraint in constraints]})
    return (section('Closed loops', rows,
                    note('Joints without a motor: ', ', '.join(passive) or 'none', '.')),)


def _manipulability(frame: str | None, found: Manipulability) -> Markup:
    radii = {'velocity': found.velocity_radii, 'force': found.force_radii,
             'acceleration': found.dynamic_radii}
    return section(
        'Manipulability', grid(map(figure, manipulability_views(found))),
        note(f'What {frame} reaches along x, y and z with joint velocities of norm 1, and with '
             'joint torques of norm 1. Each ellipsoid is scaled to the same size: its shape and '
             f'direction count. Measure {shown(float(found.velocity_measure))}, condition number '
             f'{shown(float(found.condition_number))}.'),
        table('Radii, the greatest first; those of force belong to the axes of velocity.', {
            'ellipsoid': list(radii),
            **{f'radius {k + 1}': np.array([each[k] for each in radii.values()])
               for k in range(3)}}))


def _gravity(robot: Robot, torque: np.ndarray, limit: np.ndarray, odd: str
             ) -> tuple[Markup | None, ...]:
    if not robot.nv:
        return (note('Nothing moves.'),)
    if odd:
        return (note(odd),)
    active = actuated_dofs(robot.model, robot.loops.passive)
    names, units = np.array(robot.dof_names), np.array(effort_units(robot))
    bars = limit_bars('Holding effort against its limits', names[active],
                      torque[active], limit[active], units[active])
    text = f'Gravity is ({", ".join(shown(x) for x in robot.gravity)}) m/s\u00b2.'
    text += ' The torques of the springs are included.' if robot.springs else ''
    passive = [f'{name} {shown(x)} {unit}' for name, x, unit in zip(
        names[~active], torque[~active], units[~active]) if abs(x) > 0.0]
    return (figure(bars, f'{text} A track ends at the limit to each side; no track: the limit '
                   'is unknown.'),
            note(f'Torques at joints without a motor: {", ".join(passive)}.')
            if passive else None)
