"""Define the data that services read and change: current robot, measured state, clocks.

This is not the lifecycle state, see node.py. Independent of rclpy: the clocks and the source of
waiting joint states are constructor arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dynamics_node.robot.robot import Robot
from dynamics_node.ros.current_robot import CurrentRobot, SharedRobot
from dynamics_node.ros.identification.payload_samples import PayloadSamples
from dynamics_node.ros.identification.worker_process import WorkerProcess
from dynamics_node.ros.parameters.caps import DEFAULT_CAPS
from dynamics_node.ros.parameters.declared import ModelParameters
from dynamics_node.ros.parameters.observer import ObserverParameters
from dynamics_node.ros.shared_folders import ParameterFiles
from dynamics_node.ros.state.age_limit import AgeLimit
from dynamics_node.ros.state.joint_state_buffer import JointStateBuffer
from dynamics_node.ros.state.joint_state_bytes import Reading, ReceivedJointState
from dynamics_node.ros.state.measured_state import MeasuredSnapshot, MeasuredState


class NodeState:
    """The current robot and its measured state.

    :ivar clock: returns the time of stamps [ns].
    :ivar parameters: ModelParameters in use.
    :ivar caps: Caps in use.
    :ivar observer_parameters: meaning of measured efforts, for identification.
    :ivar measured_state: MeasuredState of the robot; None before the first description.
    :ivar received: number of joint states since the first robot was loaded.
    :ivar buffer, payload_samples, worker: for identification.
    """

    def __init__(self, clock: Callable[[], int], steady_clock: Callable[[], float],
                 parameters: ModelParameters,
                 observer_parameters: ObserverParameters | None = None,
                 waiting: Callable[[], Iterable[ReceivedJointState]] = tuple,
                 share: Callable[[CurrentRobot], None] | None = None,
                 fetch: Callable[[], None] | None = None,
                 files: ParameterFiles | None = None) -> None:
        """Start without a robot.

        :param steady_clock: returns seconds and never goes back.
        :param waiting: returns the joint states received but not taken yet.
        :param share, files: see CurrentRobot.
        :param fetch: makes `waiting` return all that have arrived; None: it always does.
        """
        self.clock, self.parameters, self.caps = clock, parameters, DEFAULT_CAPS
        self.observer_parameters = observer_parameters or ObserverParameters()
        self.current_robot = CurrentRobot(steady_clock, share, files)
        self.measured_state: Any = None
        self.buffer, self.payload_samples = JointStateBuffer(), PayloadSamples()
        self.worker = WorkerProcess()
        self.received = 0
        self._waiting, self._fetch = waiting, fetch

    @property
    def robot(self) -> Robot:
        """The current robot; raises a DynamicsError while there is none."""
        return self.current_robot.robot

    @property
    def age_limit(self) -> AgeLimit:
        """The greatest age of measurements that complete a request."""
        return AgeLimit(self.clock, self.parameters.max_state_age)

    # Measurements ----------------------------------------------------------------------------

    def snapshot(self) -> MeasuredSnapshot:
        """Return the measured state with all joint states received so far.

        :raise DynamicsError: there is no robot.
        """
        if self._fetch is not None:
            self._fetch()
        self.catch_up()
        if self.measured_state is None:
            self.current_robot.check_exists()
        return self.measured_state.snapshot()

    def catch_up(self) -> None:
        """Store the joint states that are waiting."""
        for received in self._waiting():
            self.take(*received)

    def take(self, stamp: int, reading: Reading | None, data: bytes) -> None:
        """Store a joint state; none while there is no robot.

        :param reading: None if the bytes could not be read.
        :param data: the bytes of the message, for the buffer.
        """
        state = self.measured_state
        if state is None:
            return
        self.received += 1
        if reading is None:
            state.counts['unreadable'] += 1
        else:
            if self.buffer.on:
                self.buffer.take(stamp, data)
            state.take(stamp, reading.names, reading.position, reading.velocity, reading.effort)

    # Changes ---------------------------------------------------------------------------------

    def load(self, source: str | bytes) -> bool:
        """Make the robot of a URDF text or path the current one, see CurrentRobot.load."""
        self.catch_up()
        changed = self.current_robot.load(source, self.parameters, self.caps)
        if changed:
            self._measure_current_robot()
        return changed

    def adopt(self, state: SharedRobot) -> bool:
        """Use the current robot of the serving process, see CurrentRobot.adopt."""
        self.catch_up()
        changed = self.current_robot.adopt(state)
        if changed:
            self._measure_current_robot()
        return changed

    def _measure_current_robot(self) -> None:
        """Measure the joints of the current robot; joints of the same name keep their values."""
        p = self.parameters
        options = self.robot.model, p.missing_velocity, p.velocity_filter_time
        self.measured_state = (self.measured_state.moved_to(*options) if self.measured_state
                               else MeasuredState(*options, clock=self.clock))

    def use(self, parameters: ModelParameters,
            observer_parameters: ObserverParameters | None = None) -> None:
        """Use other parameters; those of the robot take effect at the next load."""
        self.catch_up()  # the old parameters apply to the joint states received before
        self.parameters = parameters
        self.observer_parameters = observer_parameters or self.observer_parameters
        if self.measured_state:
            self.measured_state.missing_velocity = parameters.missing_velocity
            self.measured_state.filter_time = parameters.velocity_filter_time
