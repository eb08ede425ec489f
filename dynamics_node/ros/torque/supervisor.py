"""Connect the serving node to its torque process and watchdog: start, inform, report the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from std_srvs.srv import SetBool

from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.kernels.keys import KernelKey
from dynamics_node.robot.urgent_kernel import compile_urgently
from dynamics_node.ros.child_process import Start, start_child
from dynamics_node.ros.current_robot import CurrentRobot, SharedRobot
from dynamics_node.ros.parameters.declared import NodeParameters
from dynamics_node.ros.parameters.torque import TorqueParameters, core_numbers
from dynamics_node.ros.tf_frames import TfFrames
from dynamics_node.ros.torque.process import TorqueProcess
from dynamics_node.ros.torque.records import (
    SERVICES,
    START_AGAIN,
    TOPICS,
    FrameWanted,
    GoalEnd,
    GoalFeedback,
    GoalRequest,
    Setup,
    TorqueStatus,
)
from dynamics_node.ros.torque.watchdog_process import WatchdogSetup

NONE = 'there is no torque process'
HIGHEST_PRIORITY = 99   # of SCHED_FIFO


class TorqueSupervisor:
    """The torque process of a node. It is started by `configure` and survives `cleanup`."""

    def __init__(self, node: Any, arguments: Sequence[str], on_change: Callable[[], None],
                 on_goal: Callable[[], None] = lambda: None,
                 start: Start = start_child) -> None:
        """Start nothing yet.

        :param node: the serving node.
        :param arguments: arguments of the command line, for rclpy in the torque process.
        :param on_change: called when the status has changed.
        :param on_goal: called when there is feedback or the end of a goal, see goal_records.
        :param start: starts the processes.
        """
        self._node, self._arguments, self._on_change = node, list(arguments), on_change
        self._on_goal, self._start = on_goal, start
        self._process: Any = None    # TorqueProcess, None until configured once
        self._sent = 0          # serial of the robot that the process has
        self._reported = ''     # failure in the log
        self._refusing: Any = None   # the service ~/enable while there is no process
        self._tf_frames = TfFrames(node)

    @property
    def failure(self) -> str:
        """Why there is no torque process; '' while there is one."""
        return NONE if self._process is None else self._process.failure

    @property
    def pid(self) -> int:
        """Id of the process, 0 if none was started."""
        return 0 if self._process is None else self._process.pid

    @property
    def watchdog_failure(self) -> str:
        """Why there is no watchdog although there is a torque process; '' otherwise."""
        if self.failure or not self._process.watchdog.failure:
            return ''
        return (f'the watchdog process {self._process.watchdog.failure}; torques go on without it, '
                f'but are not enabled again. {START_AGAIN}')

    @property
    def watchdog_pid(self) -> int:
        """Id of the watchdog process, 0 if none was started."""
        return 0 if self._process is None else self._process.watchdog.pid

    @property
    def lost_joint_states(self) -> int:
        """Number of joint states that were overwritten before this process has read them."""
        return 0 if self._process is None else self._process.joint_states.lost

    @property
    def status(self) -> TorqueStatus | None:
        """The status received last; None before the first one."""
        return None if self._process is None else self._process.status

    @property
    def ended(self) -> bool:
        """Whether there was a torque process and it has ended."""
        return self._process is not None and bool(self._process.failure)

    # Lifecycle -------------------------------------------------------------------------------

    def configure(self, parameters: NodeParameters) -> None:
        """Configure the process; start it where there is none.

        :raise DynamicsError: it cannot be started.
        """
        if self.failure or self.watchdog_failure or self._process.has_ended:
            self._stop_refusing()
            if self._process is not None:
                self._process.close()   # it has ended, or its watchdog has
            self._reported = ''   # the new process may end as the one before
            setup = self._setup(parameters)
            self._process = TorqueProcess(setup, _watchdog_setup(setup, parameters.torque),
                                          self._arguments, self._wake, self._wake_for_goal,
                                          self._start)
        self._sent = 0
        granted = self._process.call('configure', parameters)
        self._node.log.info(f'torque process {self.pid}: real time: {granted}')
        granted = self._process.watchdog.wait_until_ready()
        self._node.log.info(f'watchdog process {self.watchdog_pid}: real time: {granted}')

    def _setup(self, parameters: NodeParameters) -> Setup:
        """Return names and QoS as the user has set them for the serving node."""
        node, topic = self._node, parameters.torque.command_topic
        names = {each: node.resolve_topic_name(each)
                 for each in (*TOPICS, *([topic] if topic else []))}
        names.update({each: node.resolve_service_name(each) for each in SERVICES})
        overrides = {f'qos_overrides.{name}': parameter.value for name, parameter in
                     node.get_parameters_by_prefix('qos_overrides').items()}
        overrides['use_sim_time'] = node.get_parameter('use_sim_time').value
        return Setup(node.get_name(), node.get_namespace(), names, overrides)

    def tell(self, name: str, *arguments: Any) -> None:
        """Let the process carry out a command that it does not refuse; log its end."""
        if not self.failure:
            try:
                self._call(name, *arguments)
            except DynamicsError as error:
                self._node.log.error(f'{name}: {error}')

    def cleanup(self) -> None:
        """Publish the ramp to the safe torque; destroy the topics of the process."""
        self.tell('cleanup')
        self._tf_frames.close()
        self._stop_refusing()

    def close(self) -> None:
        """Publish the ramp to the safe torque; end the process."""
        if self._process is not None:
            self._process.close()
            self._write_log()
            self._process = None

    # Changes ---------------------------------------------------------------------------------

    def send_robot(self, current: CurrentRobot, checked: bool = False) -> None:
        """Let the process use the current robot.

        :param checked: whether `check` has accepted it already.
        :raise DynamicsError: it cannot now, for instance while torques are enabled.
        """
        if not self.failure:
            shared = current.shared(self._sent)
            self._call('set_robot', shared, checked)
            self._sent = shared.serial

    def check(self, parameters: NodeParameters, robot: SharedRobot | None) -> None:
        """Raise a DynamicsError if other parameters cannot be used now.

        :param robot: the robot with these parameters; None if there is none.
        """
        if not self.failure:
            self._call('check', parameters, robot)

    def check_idle(self) -> None:
        """Raise a DynamicsError while torques are published."""
        if not self.failure and not self._call('status').gate.idle:
            raise DynamicsError('torque is enabled: disable it first, by ~/enable')

    # Goals -----------------------------------------------------------------------------------

    def follow_goal(self, request: GoalRequest) -> None:
        """Let the process follow a trajectory; its feedback and its end are in goal_records.

        :raise DynamicsError: the trajectory is refused; what was followed before goes on.
        """
        if self.failure:
            raise DynamicsError(self.failure)
        self._call('follow_goal', request)

    def goal_records(self) -> list[GoalFeedback | GoalEnd]:
        """Return feedback and ends of goals since the last call."""
        return [] if self._process is None else self._process.goal_records()

    def _call(self, name: str, *arguments: Any) -> Any:
        return self._process.call(name, *arguments)

    # Messages ----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Ask for the status; a process that does not reply is killed."""
        if self._process is not None:
            self._process.refresh()

    def efforts(self) -> dict[str, float]:
        """Return {joint: torque} as published last."""
        self.refresh()
        return self.status.effort if self.status is not None else {}

    def joint_states(self) -> list[tuple[int, bytes]]:
        """Return [(stamp [ns], data)] of the joint states received since the last call."""
        return [] if self._process is None else self._process.joint_states.read()

    def fetch_joint_states(self) -> None:
        """Let the process pass on all joint states that it has received."""
        if not self.failure and not self._process.joint_states.awake:
            self.tell('fetch_joint_states')

    def _wake(self, read: Callable[[], None] | None = None) -> None:
        """Let the executor read the messages; called in another thread."""
        if self._node.executor is not None:
            self._node.executor.create_task(read or self.read_messages)

    def _wake_for_goal(self) -> None:
        self._wake(self._on_goal)

    def read_messages(self) -> None:
        """Write the log of the process; compile its kernels; report its end."""
        if self._process is None:
            return
        self._write_log()
        for key in self._process.wanted_kernels():
            self._compile(key)
        for wanted in self._process.wanted_frames():
            self._locate(wanted)
        if self.failure and self.failure != self._reported:
            self._reported = self.failure
            self._node.log.error(self.failure)
            self._on_goal()
            self._refusing = self._node.create_service(SetBool, '~/enable', self._refuse)
        if self.watchdog_failure and self.watchdog_failure != self._reported:
            self._reported = self.watchdog_failure
            self._node.log.error(self.watchdog_failure)
        self._on_change()

    def _write_log(self) -> None:
        for line in self._process.log_lines():
            self._node.log.relay(*line)

    def _compile(self, key: KernelKey) -> None:
        """Compile a kernel that the process needs, before others; announce its end."""
        process, state = self._process, self._node.node_state
        if state is not None and state.current_robot.exists:
            compile_urgently(state.robot, key, lambda: process.announce_kernel(key))
        else:
            process.announce_kernel(key)

    def _locate(self, wanted: FrameWanted) -> None:
        """Send a reference back with the pose of its frame, or with why that is not known."""
        state = self._node.node_state
        if state is None or not state.current_robot.exists:   # torques have ended, with the topics
            self._node.log.warning(f"a reference in frame '{wanted.frame}' was refused: there is "
                                   'no robot any more')
            return
        model = state.robot.model
        pose, refusal = self._tf_frames.pose(
            wanted.frame, state.parameters.frame_prefix + model.root, wanted.stamp)
        unknown = UnknownName('frame', wanted.frame, model.frames)
        self.tell('follow_seen_from', wanted, pose,
                  refusal and f'header.frame_id: {unknown}; {refusal}')

    def _stop_refusing(self) -> None:
        """Leave ~/enable to the torque process."""
        if self._refusing is not None:
            self._node.destroy_service(self._refusing)
            self._refusing = None

    def _refuse(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.success, response.message = False, self.failure
        return response


def _watchdog_setup(setup: Setup, p: TorqueParameters) -> WatchdogSetup:
    """Return the setup of the watchdog; its priority is one above the torque process."""
    return WatchdogSetup(setup.name, setup.namespace, setup.names['~/torque'],
                         setup.names.get(p.command_topic, ''),
                         p.realtime_priority and min(p.realtime_priority + 1, HIGHEST_PRIORITY),
                         core_numbers('torque.cpu', p.cpu),
                         {name: value for name, value in setup.overrides.items()
                          if name.startswith('qos_overrides')})
