"""Show an identification: progress, condition number, residual, before and after."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dynamics_node.errors import several
from dynamics_node.inspector.control_panel import NamedTrajectory
from dynamics_node.inspector.guarded_requests import GuardedRequests
from dynamics_node.inspector.html_box import STYLE, HtmlBox
from dynamics_node.inspector.identify_state import IdentifyFound, Identifying, IdentifyState
from dynamics_node.inspector.live_state import LiveState
from dynamics_node.inspector.served_reports import ServedReports
from dynamics_node.reports.digits import shown
from dynamics_node.reports.markup import Markup, joined, tag
from dynamics_node.reports.plots import shortened

if TYPE_CHECKING:
    import viser

SHORTEST, LONGEST, USUAL = 5.0, 3600.0, 30.0   # [s] of a recording
MOST_ROWS = 12       # parameters that are shown, those that change most
GOOD = 300.0         # condition numbers below this are good, see docs/identification.md
CODE_TO_IDENTIFY = 'Code to identify'
SURE_TO_IDENTIFY = 'I see the robot; it may move now'
BEFORE, AFTER = '#999999', '#0072b2'
ABOUT = ('The node records joint states while the robot moves, then identifies masses, centres of '
         'mass, inertias and friction.')


class IdentifyView:
    """Shows the identification that was started last."""

    def __init__(self, gui: viser.GuiApi, reports: ServedReports):
        """Add the view to the container that is open."""
        self._box, self._reports = HtmlBox(gui), reports
        self._linked: IdentifyFound | None = None
        self._path = ''
        self.show(IdentifyState())

    def show(self, state: IdentifyState) -> None:
        """Show a state."""
        if state.found is not self._linked:
            self._linked = found = state.found
            self._path = '' if found is None or found.report is None else (
                self._reports.put('identification', found.report))
        self._box.show(identify_view(state, self._path))


class IdentifyPanel:
    """Buttons of one client that start, cancel and use an identification."""

    def __init__(self, gui: viser.GuiApi, identifying: Identifying, requests: GuardedRequests,
                 state: Callable[[], LiveState], trajectory: NamedTrajectory | None = None):
        """Add them to the container that is open.

        :param gui: GUI of the client, not of the server.
        :param requests: requests of the same client.
        :param state: returns the present LiveState of the node.
        :param trajectory: reference that is sent when the recording begins; None: something else
            moves the robot.
        """
        self._identifying, self._requests = identifying, requests
        self._state, self._trajectory = state, trajectory
        if trajectory is None:
            self._duration = gui.add_number('Duration [s]', USUAL, min=SHORTEST, max=LONGEST,
                                            step=1.0, hint='move the robot meanwhile')
            begin = gui.add_button('Record and identify', color='red')
        else:
            begin = gui.add_button(f'Run {shortened(trajectory.name, 20)} and identify',
                                   color='red', hint=f'moves the robot for {trajectory.duration:g} '
                                   's; torques must be enabled')
        cancel = gui.add_button('Cancel')
        use = gui.add_button('Use the result in the node', hint='torques must be disabled')
        begin.on_click(lambda event: self.begin(event.client_id))
        cancel.on_click(lambda event: requests.request(event.client_id, identifying.cancel))
        use.on_click(lambda event: requests.request(event.client_id, identifying.use))

    def begin(self, client: int | None) -> None:
        """Start an identification if the box is ticked."""
        self._requests.confirmed(client, self._begin)

    def _begin(self) -> str:
        if self._trajectory is None:
            return self._identifying.begin(float(self._duration.value), None)
        if self._state().gate != 'enabled':
            return ('refused: torques are not enabled, so that the node would not follow '
                    f'{self._trajectory.name}')
        return self._identifying.begin(max(SHORTEST, self._trajectory.duration),
                                       self._trajectory.points)


def identify_view(state: IdentifyState, report: str = '') -> Markup:
    """Return the progress of an identification and its result.

    :param report: path of the HTML report on this server; '' for none.
    """
    if not state.stage:
        return tag('div', ABOUT, style=STYLE)
    known = [f'Condition number {shown(state.condition, 3)}'
             f'{"" if state.condition < GOOD else f" (good motions have less than {GOOD:g})"}.'
             if np.isfinite(state.condition) else 'Condition number: not known yet.',
             f'Residual {shown(state.residual, 3)} (RMS of measured minus predicted torque, '
             'N m or N).'
             if np.isfinite(state.residual) else 'Residual: not known yet.']
    rows = [tag('div', tag('b', f'{state.stage.capitalize()}'
                           f'{f", {state.samples} samples" if state.samples else ""}')),
            _progress(state.progress) if state.running else Markup(''),
            *(tag('div', text) for text in known)]
    if state.found is not None and state.found.joint_names:
        rows += _result(state.found)
    if report:
        rows.append(tag('div', tag('a', 'Report of the identification', href=report,
                                   target='_blank', rel='noopener noreferrer',
                                   style='color:inherit')))
    elif state.found is not None and state.found.files:
        rows.append(tag('div', 'Files on the machine of the node: '
                        f'{", ".join(state.found.files)}'))
    return tag('div', *rows, style=STYLE)


def _progress(share: float) -> Markup:
    done = f'{100.0 * min(1.0, max(0.0, share)):.0f}'
    return tag('div', tag('div', style=f'width:{done}%;height:8px;background:{AFTER}'),
               title=f'{done} %', role='progressbar',
               style='background:rgba(128,128,128,0.3);margin:4px 0')


def _result(found: IdentifyFound) -> list[Markup]:
    """Return the comparison of before and after, and the parameters that change most."""
    greatest = max(float(np.max(found.rms_before)), float(np.max(found.rms_after)), 1e-12)
    rows = [tag('tr', tag('td', shortened(name, 16), title=name),
                tag('td', _bar(before / greatest, BEFORE), _bar(after / greatest, AFTER),
                    style='width:45%'),
                tag('td', f'{shown(float(before), 3)} \N{RIGHTWARDS ARROW} '
                    f'{shown(float(after), 3)}'))
            for name, before, after in zip(found.joint_names, found.rms_before, found.rms_after)]
    words = (f'Error {shown(found.gain, 3)} times smaller: '
             f'{shown(100.0 * found.error_share, 3)} % of the measured torque is left.')
    legend = joined(tag('span', '\N{BLACK SQUARE}', style=f'color:{BEFORE}'), ' before ',
                    tag('span', '\N{BLACK SQUARE}', style=f'color:{AFTER}'),
                    ' after: RMS torque error on data that were not used [N m or N]')
    return [tag('div', words), tag('div', legend), tag('table', *rows, style='width:100%'),
            _changes(found), *(tag('div', f'Warning: {text}') for text in found.warnings)]


def _bar(share: float, colour: str) -> Markup:
    return tag('div', style=f'width:{100.0 * float(share):.1f}%;height:6px;background:{colour};'
               'margin:1px 0')


def _changes(found: IdentifyFound) -> Markup:
    """Return a table of the determined parameters that change most, relative to their size."""
    before, values = np.asarray(found.before), np.asarray(found.values)
    scale = np.maximum(np.abs(before), np.abs(values))
    change = np.where(scale > 0.0, np.abs(values - before) / np.where(scale > 0.0, scale, 1.0), 0.0)
    order = [k for k in np.argsort(-change) if found.determined[k] and change[k] > 0.0]
    rows = [tag('tr', tag('td', found.parameter_names[k]),
                tag('td', f'{shown(float(before[k]), 3)} \N{RIGHTWARDS ARROW} '
                    f'{shown(float(values[k]), 3)} {found.parameter_units[k]}'))
            for k in order[:MOST_ROWS]]
    count = several(len(order), 'parameter')
    return tag('details', tag('summary', f'{count} changed that the data determine'),
               tag('table', *rows))
