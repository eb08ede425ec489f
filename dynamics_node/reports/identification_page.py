"""Write the report of an identification: parameters, deviations, residuals on unseen motion."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dynamics_node.checks import check_facts
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.identifiable_parameters import NEVER
from dynamics_node.identification.loop_equations import loop_torques
from dynamics_node.identification.loop_summary import LoopSummary
from dynamics_node.identification.parameters import ParameterLayout
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.robot_fit import Identification
from dynamics_node.identification.validation import split
from dynamics_node.reports.digits import plain, shown
from dynamics_node.reports.markup import Markup, tag
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
    unit_text,
)
from dynamics_node.reports.plots import Line, error_bars, line_plot
from dynamics_node.reports.units import effort_units
from dynamics_node.robot.robot import Robot

DRAWN = 4000   # validation samples in plots; RMS are of all samples


def identification_report_page(found: Identification, robot: Robot, recording: Recording,
                               about: Mapping[str, object] | None = None,
                               warnings: Sequence[str] = (),
                               unseen: Recording | None = None) -> tuple[str, dict[str, Any]]:
    """Return (html, numbers for JSON) of an Identification.

    :param robot: before the identification.
    :param recording: that was identified, joints in the order of the robot.
    :param about: {key: value} for the line below the title.
    :param warnings: more warnings, about the recording.
    :param unseen: the recording for validation; None: the end of `recording`.
    :raise DynamicsError: the recording has other joints.
    """
    if tuple(recording.joint_names) != robot.joint_names:
        raise DynamicsError(f'the recording is of {", ".join(recording.joint_names)}; expected '
                            f'{", ".join(robot.joint_names)}')
    warnings = (*warnings, *found.warnings)
    html = page(
        f'Identification of {robot.name}', check_facts(about),
        facts(_figures(found, recording)),
        section('Do not use these parameters', bullets(found.verdict.reasons))
        if found.verdict.reasons else None,
        section('Warnings', bullets(warnings)) if warnings else None,
        section('Closed loops', *_loops(found.loops)) if found.loops else None,
        section('Efforts that the model does not explain', *_residuals(
            found, robot, *_held_out(found, recording, unseen))),
        section('Friction and armature', *_joint_parameters(found)),
        section('Links', *_links(found)),
        section('Base parameters', *_base_parameters(found)),
        section('What the data do not determine', *_undetermined(found)))
    return html, plain(_numbers(found, recording, warnings))


def _numbers(found: Identification, recording: Recording, warnings: Sequence[str]
             ) -> dict[str, Any]:
    base, spread, base_spread = found.base, found.spread, found.base_spread
    verdict = found.verdict
    return {
        'success': verdict.success, 'reasons': verdict.reasons,
        'error': verdict.total_error, 'error_share': verdict.total_share,
        'error_shares': verdict.shares,
        'joint_names': recording.joint_names, 'samples': len(recording.time),
        'duration': recording.time[-1] - recording.time[0], 'condition': found.condition,
        'optimality': found.optimality, 'options': found.options, 'warnings': warnings,
        'loops': found.loops, 'rows': found.rows, 'friction': found.friction,
        'proposal': found.proposal,
        'residuals': found.residuals, 'gain': found.residuals.gain, 'noise': found.noise,
        'parameters': {
            'names': found.layout.names, 'units': found.layout.units, 'before': found.before,
            'values': found.values, 'sigma': spread.sigma, 'relative': spread.relative,
            'determined': spread.determined, 'identifiable': base.kinds},
        'base_parameters': {
            'names': base.names, 'meanings': base.meanings(), 'before': base.values(found.before),
            'values': found.base_values, 'sigma': base_spread.sigma,
            'relative': base_spread.relative, 'determined': base_spread.determined,
            'covariance': found.base_covariance}}


def _figures(found: Identification, recording: Recording) -> dict[str, str]:
    verdict = found.verdict
    return {'Torque error on held-out samples': tag(
                'span', f'{shown(verdict.total_error, 3)} N m or N, '
                f'{shown(100.0 * verdict.total_share, 2)} % of the torque',
                class_=None if verdict.success else 'bad'),
            'Recorded': f'{shown(recording.time[-1] - recording.time[0], 3)} s, '
                        f'{len(recording.time)} samples',
            **({'Equations': f'{len(found.rows)} per sample, of closed loops'} if found.loops
               else {}),
            'Base parameters': f'{found.base.size}, of {found.layout.size} parameters',
            'Determined by the data': f'{int(found.base_spread.determined.sum())}',
            'Condition number': shown(found.condition, 3),
            'Method': found.options.method}


def _loops(loops: LoopSummary) -> Iterator[Markup | None]:
    yield note('The forces in the loops are not measured, so the equations are projected onto the '
               'motions of the mechanism: one per independent joint, which contains the torques of '
               'the joints that move with it. Joints without a motor need no measured effort.')
    rows = {'constraints': loops.constraints, 'equations, one per sample each': loops.rows,
            'motors': loops.motors, 'joints without a motor': loops.passive,
            'parameters that no motion determines, because of the loops': loops.hidden,
            'parameters determined only in combination, because of the loops': loops.merged}
    yield table('Equations that were used, and parameters that they do not determine.', {
        'what': tuple(rows), 'names': [', '.join(names) or 'none' for names in rows.values()]})
    if loops.spare:
        yield note(f'There are {loops.spare} more motors than degrees of freedom: only the sums of '
                   'efforts that move the mechanism are used, not the internal forces.')


def _held_out(found: Identification, recording: Recording, unseen: Recording | None
              ) -> tuple[Recording, float]:
    """Return (recording for validation, time that is zero in its figures)."""
    if unseen is not None:
        return unseen, unseen.time[0]
    return split(recording, found.options.validation_share)[1], recording.time[0]


def _residuals(found: Identification, robot: Robot, unseen: Recording, start: float
               ) -> Iterator[Markup | None]:
    rms = found.residuals
    yield table('RMS of measured minus predicted effort [N m or N]. The parameters were fitted to '
                'the first part of the recording; its end, or another recording, is for '
                'validation.', {
                    'joint': found.rows, 'fitted, before': rms.train_before,
                    'fitted, after': rms.train_after, 'unseen, before': rms.validation_before,
                    'unseen, after': rms.validation_after,
                    'after [% of torque]': numbers(100.0 * found.verdict.shares, 2),
                    'before / after': _ratio(rms.validation_before, rms.validation_after),
                    'noise, as fitted': found.noise.sigma})
    unseen = unseen.rows(slice(None, None, -(-len(unseen.time) // DRAWN)))
    state = unseen.q, unseen.v, unseen.a
    rows, loops = found.base.rows, found.base.loops
    before = (robot.inverse_dynamics(*state) if loops is None
              else loop_torques(loops, robot.inverse_dynamics, *state))
    after = found.predict(*state, coupled_motors=False)
    left = [(unseen.tau - torque)[:, rows] for torque in (before, after)]
    times = unseen.time - start
    yield grid(figure(line_plot(name, [
        Line('before', times, left[0][:, k], 'two'), Line('after', times, left[1][:, k])],
        'time [s]', f'measured \N{MINUS SIGN} predicted [{unit}]'))
        for k, (name, unit) in enumerate(zip(found.rows, np.array(effort_units(robot))[rows])))


def _ratio(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    return np.divide(before, after, out=np.full_like(before, np.nan), where=after > 0.0)


def _joint_parameters(found: Identification) -> Iterator[Markup | None]:
    layout = found.layout
    if found.friction:
        yield note(f'Friction: {found.friction}.')
    yield table('Before \u2192 after, with one standard deviation, from data and prior.', {
        'joint': layout.joints, **{kind: _changes(found, _places(layout, kind))
                                   for kind in layout.per_joint}})
    yield grid(picture for kind in layout.per_joint
               for picture in _bars(found, kind, _places(layout, kind), layout.joints))


def _places(layout: ParameterLayout, kind: str) -> np.ndarray:
    return np.arange(layout.size)[layout.each(kind)]


def _changes(found: Identification, places: np.ndarray) -> list[str]:
    return [f'{shown(found.before[k], 3)} \u2192 {shown(found.values[k], 3)} \u00b1 '
            f'{shown(found.spread.sigma[k], 2)} {unit_text(found.layout.units[k])}'
            for k in places]


def _links(found: Identification) -> Iterator[Markup | None]:
    layout = found.layout
    mass = np.arange(0, layout.inertial, 10)
    yield note('Every link is physically consistent. Efforts determine most inertial parameters '
               'only in combination: the others stay near the URDF, with large deviations.')
    yield table('Mass with one standard deviation, and centre of mass in the link frame.', {
        'link': layout.bodies, 'before [kg]': found.before[mass], 'after [kg]': found.values[mass],
        '\u00b1 [kg]': found.spread.sigma[mass],
        'centre before [m]': _centres(layout, found.before),
        'centre after [m]': _centres(layout, found.values)})
    yield grid(_bars(found, 'mass', mass, layout.bodies))


def _centres(layout: ParameterLayout, values: np.ndarray) -> list[str]:
    """Return the centres of mass as texts: first moments over masses."""
    bodies = values[:layout.inertial].reshape(-1, 10)
    return [', '.join(shown(x / body[0], 3, 1e-6) for x in body[1:4]) if body[0] > 0.0 else ''
            for body in bodies]


def _bars(found: Identification, title: str, places: np.ndarray, names: Sequence[str]
          ) -> Iterator[Markup]:
    """Yield the figures of some parameters, one for each unit."""
    units = np.array(found.layout.units)[places]
    for unit in dict.fromkeys(units):
        chosen = [k for k in range(len(places)) if units[k] == unit]
        entries = places[chosen]
        yield figure(error_bars(
            title, [names[k] for k in chosen], found.values[entries], found.spread.sigma[entries],
            found.before[entries], unit_text(unit)))


def _base_parameters(found: Identification) -> Iterator[Markup | None]:
    base, sigma = found.base, found.base_spread.sigma
    before, units = base.values(found.before), np.array(found.layout.units)[base.kept]
    yield note('The combinations of parameters that efforts depend on: no recording determines '
               'more. A + marks further terms, listed below. Dots are identified values with '
               'two standard deviations to each side, from the data alone; hollow dots are the '
               'values before.')
    yield grid(_base_bars(found, before, units))
    yield table('Meaning of each. Grey ones are hardly determined by these data.', {
        'no.': [str(k + 1) for k in range(base.size)], 'meaning': base.meanings(),
        'before': numbers(before), 'after': numbers(found.base_values),
        '\u00b1': numbers(sigma, 2), '\u00b1 [%]': numbers(100 * found.base_spread.relative, 2),
        'unit': [unit_text(unit) for unit in units]},
        ['' if determined else 'soft' for determined in found.base_spread.determined])


def _base_bars(found: Identification, before: np.ndarray, units: np.ndarray) -> Iterator[Markup]:
    """Yield the figures of inertial base parameters, by body and unit; others are shown above."""
    base = found.base
    places = [name.rpartition('.')[::2] for name in base.names]
    for key in dict.fromkeys((body, unit) for (body, _), unit, kept in zip(
            places, units, base.kept) if kept < found.layout.inertial):
        chosen = [k for k in range(base.size) if (places[k][0], units[k]) == key
                  and base.kept[k] < found.layout.inertial]
        yield figure(error_bars(
            key[0], [f'{k + 1}  {places[k][1]}' for k in chosen], found.base_values[chosen],
            found.base_spread.sigma[chosen], before[chosen], unit_text(key[1])))


def _undetermined(found: Identification) -> tuple[Markup, ...]:
    never = [name for name, kind in zip(found.layout.names, found.base.kinds) if kind == NEVER]
    hardly = [name for name, determined
              in zip(found.base.names, found.base_spread.determined) if not determined]
    return (note('Not determined by any motion, since no effort depends on them: ',
                 ', '.join(never) or 'none', '.'),
            note('Hardly determined by this motion, so that they stay near the URDF: ',
                 ', '.join(hardly) or 'none', '.'),
            *([note('To determine them, record:'), bullets(found.missing_motion.split('; '))]
              if hardly else []))
