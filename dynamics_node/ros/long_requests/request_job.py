"""Run the handler of a service in a worker process, with the robot and state of the request.

A RequestJob contains the robot and the state that the node had when the request arrived. So a robot
or payload that is set later does not change the reply.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.current_robot import CurrentRobot, SharedRobot
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters.caps import Caps
from dynamics_node.ros.services.table import SERVICES
from dynamics_node.ros.state.age_limit import AgeLimit
from dynamics_node.ros.state.measured_state import MeasuredSnapshot


class RequestJob(NamedTuple):
    """A request, and the state of the node when it arrived."""

    service: str
    request: Any
    robot: SharedRobot
    compiled: bool                # whether the node computes with kernels
    measured: MeasuredSnapshot    # without its model
    stamp: int                    # time of stamps [ns]
    steady: float                 # time of transitions of payloads [s]
    max_state_age: float          # [s]
    caps: Caps

    @property
    def compiling(self) -> bool:
        """Whether kernels of the robot are being compiled, in the node."""
        return self.robot.described is not None and self.robot.described.compiling > 0


def request_job(node_state: NodeState, service: str, request: Any, steady: float) -> RequestJob:
    """Return the RequestJob of a request now.

    :param steady: time of the clock of the current robot [s].
    """
    current, measured = node_state.current_robot, node_state.snapshot()
    without_model: Any = None   # the process has the model already
    return RequestJob(service, request, current.shared(), current.robot.compiled,
                      measured._replace(model=without_model), node_state.clock(), steady,
                      node_state.parameters.max_state_age, node_state.caps)


class JobState:
    """The part of a NodeState that handlers read, in a worker process."""

    def __init__(self) -> None:
        self._steady = 0.0
        self.current_robot = CurrentRobot(lambda: self._steady)
        self._job: Any = None   # RequestJob

    @property
    def robot(self) -> Robot:
        """The robot of the request."""
        return self.current_robot.robot

    @property
    def age_limit(self) -> AgeLimit:
        """The age limit of the request, at the time of the request."""
        stamp = self._job.stamp
        return AgeLimit(lambda: stamp, self._job.max_state_age)

    @property
    def caps(self) -> Caps:
        """The caps of the request."""
        return self._job.caps

    def snapshot(self) -> MeasuredSnapshot:
        """Return the measured state of the request."""
        return self._job.measured._replace(model=self.robot.model)

    def run(self, job: RequestJob) -> Any:
        """Return the response to a request."""
        self._job, self._steady = job, job.steady
        self.current_robot.adopt(job.robot)
        if job.compiled:   # kernels give other rounding errors than NumPy
            with suppress(DynamicsError):
                self.robot.compile(wait=True)
        kind, handler, _ = SERVICES[job.service]
        state: Any = self
        return handler(state, job.request, kind.Response())
