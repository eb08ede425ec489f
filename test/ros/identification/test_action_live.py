"""Test live identification: the node moves an arm unlike its URDF, records and identifies it.

MuJoCo under the torques of the real node, in lockstep; the arm is that of examples/identify.py.
"""

import threading

import numpy as np
import pytest
from support.paths import EXAMPLES

pytest.importorskip('mujoco', reason='the arm is simulated by mujoco (requirements/test.txt)')

pytestmark = [pytest.mark.long, pytest.mark.usefixtures('forked_loops')]

SIM = EXAMPLES / 'sim'
RATE = 125.0               # [Hz]
LEAD = 0.8                 # [s] from enable to the motion
BETTER = 10.0              # times smaller errors of the torque that another motion needs
TRACKS_BETTER = 5.0        # times smaller tracking error
STIFF = [480.0, 480.0, 320.0, 320.0, 160.0, 80.0, 80.0]   # [N m/rad] the model is not to be trusted
SPRINGS = {'torque.gains': 'kp_kd', 'torque.mode': 'impedance',
           **{f'torque.kp.joint_{k}': x for k, x in enumerate(STIFF, 1)},
           **{f'torque.kd.joint_{k}': 0.1 * x for k, x in enumerate(STIFF, 1)}}
COMPUTED = {'torque.gains': 'kp_kd', 'torque.mode': 'computed_torque', 'torque.kp.default': 225.0,
            'torque.kd.default': 30.0}


@pytest.fixture
def truth(monkeypatch, compiler_on):
    """The arm, for its description; it is simulated in another process.

    The node compiles: it evaluates many regressors.
    """
    monkeypatch.syspath_prepend(SIM)
    from unknown_arm import UnknownArm

    from dynamics_node.example_robots import ARM7
    return UnknownArm(ARM7, seed=1)


@pytest.fixture
def loop(ros_environment, tmp_path, truth):
    """A loop whose arm does not publish its description: the node has the bundled one."""
    from closed_loop import ClosedLoop
    from unknown_arm import VELOCITY_NOISE

    from dynamics_node.example_robots import ARM7
    urdf = tmp_path / 'truth.urdf'
    urdf.write_text(truth.urdf)
    rotors = {f'armature.{joint}': value for joint, value in truth.armature.items()}
    with ClosedLoop(tmp_path, rate=RATE, remap={'robot_description': 'kept_to_itself'}, arm={
            'robot_description': urdf, **rotors,
            'velocity_noise': VELOCITY_NOISE}, node={
            'robot_description': ARM7, 'observer.effort_meaning': 'motor_torque',
            'shared_folders': f'[{tmp_path}]',
            'safety.ramp_in_time': 0.5}) as loop:
        yield loop


def tracked(loop, motion, parameters):
    """Return the RMS error of a motion [rad]."""
    loop.place(motion.positions[0])
    loop.enable(parameters)
    loop.follow(motion, start=LEAD)
    run = loop.run(LEAD + motion.times[-1])
    moving = run.t >= LEAD
    error = run.q[moving] - motion.at(run.t[moving] - LEAD).q
    return rms(error)


class Identifying:
    """The client of ~/identify."""

    def __init__(self, loop):
        from rclpy.action import ActionClient

        from dynamics_node.action import Identify
        self._loop, self._kind = loop, Identify
        self._client = ActionClient(loop._node, Identify, 'dynamics_node/identify')
        loop._ask.wait(self._client.server_is_ready, 'the action')

    def begin(self, **fields):
        """Send a goal; return a function that waits for its result."""
        goal = self._kind.Goal(**fields)
        handle = self._reply(self._spun(lambda: self._client.send_goal_async(goal)))
        assert handle.accepted
        future = self._spun(handle.get_result_async)
        return lambda: self._reply(future).result

    def _spun(self, call):
        """Return call(), run by the thread that spins the loop's node: see RemoteNode.spun."""
        return self._reply(self._loop._node.executor.create_task(call))

    def _reply(self, future):
        answered = threading.Event()
        future.add_done_callback(lambda _: answered.set())
        self._loop._ask.wait(answered.is_set, 'the action')
        return future.result()


def rms(x):
    return float(np.sqrt(np.mean(x ** 2)))


def test_the_node_identifies_the_arm_that_it_moves(loop, truth, tmp_path):
    from fast_motion import fast_motion
    from identify import read_files

    from dynamics_node import Robot
    from dynamics_node.control.spline import Spline
    from dynamics_node.example_robots import ARM7
    from dynamics_node.identification.excitation_search import ExcitationSettings, excitation
    from dynamics_node.identification.trajectory_files import sample_trajectory
    fast = fast_motion(1.6, 2.7)
    before = tracked(loop, fast, COMPUTED)

    trajectory = excitation(Robot.from_urdf(ARM7), ExcitationSettings(
        margin=0.3, iterations=0, seconds=0.0)).trajectory   # the first that keeps within limits
    motion = Spline(*sample_trajectory(trajectory))
    loop.place(motion.positions[0])
    loop.enable(SPRINGS)
    loop.follow(motion, start=LEAD)
    loop.run(LEAD)
    action = Identifying(loop)
    result = action.begin(duration=trajectory.period - 0.1, output=str(tmp_path / 'out'))
    loop.run(trajectory.period)
    found = result()
    assert found.success, found.message
    robots = [Robot.from_urdf(ARM7), Robot.from_urdf(truth.urdf, armature=truth.armature),
              read_files(tmp_path / 'out' / 'robot.urdf', tmp_path / 'out' / 'friction.yaml')]
    believed, needed, known = (
        robot.inverse_dynamics(fast.positions, fast.velocities, fast.accelerations)
        for robot in robots)
    assert rms(known - needed) < rms(believed - needed) / BETTER

    loop.disable()
    applied = action.begin(recording=str(tmp_path / 'out' / 'recording.csv'), apply=True)()
    assert applied.success and applied.model_id != found.model_id, applied.message
    assert tracked(loop, fast, COMPUTED) < before / TRACKS_BETTER
