"""Show the controls of a running node to one client: torques, payloads, gains, a reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dynamics_node.identification.trajectory_files import TimedPoints
from dynamics_node.inspector.guarded_requests import GuardedRequests
from dynamics_node.inspector.live_state import LiveState
from dynamics_node.inspector.load_case import ALL_JOINTS
from dynamics_node.robot.robot import Robot

if TYPE_CHECKING:
    import viser

PAYLOAD = 'inspector'   # name of the payload that the page attaches
MOST_GAIN = 1e5
REFUSED = ('This page cannot change anything: the inspector was started without --allow-control.')
NO_GAINS = 'no gains'   # choice while they are not known


class Control(Protocol):
    """Requests to a node; each returns the answer in words."""

    def enable(self, on: bool) -> str:
        """Enable or disable torques."""

    def attach(self, name: str, frame: str, mass: float) -> str:
        """Attach a payload."""

    def detach(self, name: str) -> str:
        """Remove a payload."""

    def set_gains(self, gain: str, values: dict[str, float]) -> str:
        """Set a gain of some joints, {joint: value}."""

    def follow(self, points: TimedPoints) -> str:
        """Send a reference that starts now."""


class NamedTrajectory(NamedTuple):
    """A trajectory that was given when the inspector was started."""

    name: str            # of the file
    points: TimedPoints

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self.points.times[-1])


class ControlPanel:
    """Buttons that act on the node."""

    def __init__(self, gui: viser.GuiApi, robot: Robot, control: Control,
                 requests: GuardedRequests, frame: str, state: Callable[[], LiveState],
                 trajectory: NamedTrajectory | None = None):
        """Add the controls to the container that is open.

        :param gui: GUI of the client, not of the server.
        :param requests: requests of the same client.
        :param state: returns that of the node now.
        :param trajectory: that can be sent as a reference; None: none.
        """
        self._control, self._requests, self._robot = control, requests, robot
        self._state = state
        enable = gui.add_button('Enable torques', color='red')
        disable = gui.add_button('Disable torques')
        if trajectory is not None:
            send = gui.add_button(f'Send {trajectory.name}', hint='as the reference, from now on: '
                                  f'{trajectory.duration:g} s')
            send.on_click(lambda event: requests.confirmed(
                event.client_id, lambda: control.follow(trajectory.points)))
        self._frame = gui.add_dropdown('Payload at', robot.frame_names, initial_value=frame)
        self._mass = gui.add_number('Mass [kg]', 0.0, min=0.0, max=1000.0, step=0.01)
        attach, detach = gui.add_button('Attach payload'), gui.add_button('Detach payload')
        self._gain = gui.add_dropdown('Gain', tuple(state().gains) or (NO_GAINS,))
        self._joint = gui.add_dropdown('Of', (ALL_JOINTS, *robot.dof_names))
        self._value = gui.add_number('Value', self._present(), min=0.0, max=MOST_GAIN,
                                     step=0.1)
        change = gui.add_button('Set gain')
        for choice in (self._gain, self._joint):
            choice.on_update(lambda _: setattr(self._value, 'value', self._present()))
        enable.on_click(lambda event: self.enable(event.client_id))
        disable.on_click(lambda event: self.disable(event.client_id))
        attach.on_click(lambda event: requests.request(event.client_id, lambda: control.attach(
            PAYLOAD, self._frame.value, float(self._mass.value))))
        detach.on_click(lambda event: requests.request(
            event.client_id, lambda: control.detach(PAYLOAD)))
        change.on_click(lambda event: requests.confirmed(event.client_id, self._set_gain))

    def _present(self) -> float:
        """Return the value in use of the gain that is chosen; of the first joint for all."""
        values = self._state().gains.get(self._gain.value, {})
        return float(values.get(self._joint.value, next(iter(values.values()), 0.0)))

    def _set_gain(self) -> str:
        gains = self._state().gains
        if self._gain.value not in gains:   # another description, or torque.gains has changed
            self._gain.options = tuple(gains) or (NO_GAINS,)
            return ('refused: the gains of the node are not known' if not gains else
                    f'refused: the gains of the node are {" and ".join(gains)} now; choose one')
        chosen = self._joint.value
        names = self._robot.dof_names if chosen == ALL_JOINTS else (chosen,)
        return self._control.set_gains(self._gain.value,
                                       dict.fromkeys(names, float(self._value.value)))

    def enable(self, client: int | None) -> None:
        """Enable torques if the box is ticked."""
        self._requests.confirmed(client, lambda: self._control.enable(True))

    def disable(self, client: int | None) -> None:
        """Disable torques."""
        self._requests.request(client, lambda: self._control.enable(False), disables=True)
