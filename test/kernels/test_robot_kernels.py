"""Test that kernels are made in the background while the robot computes in NumPy."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from support import small_robots
from support.agreement_of_paths import installed, outcome, without_numpy

from dynamics_node import Constraint, DynamicsError, Robot
from dynamics_node.compiler import ctypes_call, target
from dynamics_node.kernels import build, robot_kernels
from dynamics_node.kernels.dynamics_specs import DYNAMICS
from dynamics_node.kernels.keys import KernelKey
from dynamics_node.robot import dispatch

Q, V, A = np.array([0.3, -0.4]), np.array([0.5, 0.6]), np.array([0.7, -0.8])
WAIT = 30.0   # seconds until a test that hangs is a test that failed


@pytest.fixture
def arm():
    return small_robots.arm()


@pytest.fixture
def expected(arm):
    return Robot(arm.model, compile=False).inverse_dynamics(Q, V, A)


@pytest.fixture
def gate(monkeypatch):
    """Block every compilation until the event is set; `gate.requested` lists the keys."""
    gate, build_kernel = threading.Event(), build.build_kernel
    gate.requested = []

    def blocked(model, key):
        gate.requested.append(key)
        assert gate.wait(WAIT)
        return build_kernel(model, key)
    monkeypatch.setattr(build, 'build_kernel', blocked)
    yield gate
    gate.set()


def test_a_robot_computes_in_numpy_until_its_kernels_are_ready(arm, expected, gate):
    """The first call requests the kernel and does not wait; later calls use it."""
    for _ in range(3):
        np.testing.assert_array_equal(arm.inverse_dynamics(Q, V, A), expected)  # NumPy's own
    assert not arm.compiled
    assert not installed(arm)
    gate.set()
    arm.compile(wait=True)
    assert arm.compiled
    with without_numpy(arm):
        first = arm.inverse_dynamics(Q, V, A)
        assert 'inverse_dynamics' in installed(arm)
        np.testing.assert_array_equal(arm.inverse_dynamics(Q, V, A), first)
    np.testing.assert_allclose(first, expected, rtol=1e-12)


def test_each_kernel_is_made_once(arm, gate):
    """For any number of requests, by any robots of the same structure."""
    robots = [arm, arm.with_gravity((0, 0, 1)), arm.with_gravity((0, 1, 0))]
    for robot in robots * 3:
        robot.mass_matrix(Q)
        robot.compile()
    gate.set()
    for robot in robots:
        robot.compile(wait=True)
        assert robot.compiled
    assert sorted(key.kernel for key in gate.requested) == sorted(spec.name for spec in DYNAMICS)


def test_frames_wrenches_and_payloads_are_compiled_on_demand(arm):
    """All at once on request."""
    arm.compile(wait=True, frames=['lower', 'upper'], wrenches=True, payloads=True)
    with_payload = arm.with_payload('box', 'lower', 1.0)
    assert with_payload.compiled
    wrenches = {'upper': np.ones(6)}
    for robot in (arm, with_payload):
        with without_numpy(robot):
            robot.forward_dynamics(Q, V, A, wrenches)
            robot.hybrid_dynamics(Q, V, A, A, [True, False], wrenches)
            for frame in ('lower', 'upper'):
                robot.frame_pose(Q, frame), robot.frame_twist(Q, V, frame)
                for local in (False, True):
                    robot.jacobian(Q, frame, local), robot.jacobian_rate(Q, V, frame, local)
    with pytest.raises(DynamicsError, match="no frame 'elbow'"):
        arm.compile(frames=['elbow'])


@pytest.mark.parametrize('value', ['0', 'off', 'OFF', 'no', 'false'])
def test_the_environment_switches_it_off(monkeypatch, expected, value):
    """Then the robot computes in NumPy, and compile(wait=True) raises the reason."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', value)
    robot = small_robots.arm()
    np.testing.assert_array_equal(robot.inverse_dynamics(Q, V, A), expected)
    for other in (robot, robot.with_gravity((0, 0, 1)), robot.with_payload('box', 'lower', 1.0)):
        assert not other.compiled
        with pytest.raises(DynamicsError, match='compilation is switched off'):
            other.compile()


def test_an_argument_switches_it_off(expected):
    """For this robot, its copies and all that are made of it."""
    robot = small_robots.arm(compile=False)
    np.testing.assert_array_equal(robot.inverse_dynamics(Q, V, A), expected)
    for other in (robot, robot.with_gravity((0, 0, 1)), pickle.loads(pickle.dumps(robot))):
        assert not other.compiled
        with pytest.raises(DynamicsError, match='compile=False'):
            other.compile(wait=True)


def test_a_robot_without_joints_has_nothing_to_compile():
    """The message says so."""
    robot = small_robots.arm(locked={'upper_joint': 0.0, 'lower_joint': 0.0})
    with pytest.raises(DynamicsError, match='no joints that move'):
        robot.compile()
    assert robot.inverse_dynamics([], [], []).shape == (0,)


def test_a_large_batch_waits_for_its_kernel(arm, expected, gate):
    """A smaller one does not: NumPy is faster."""
    few, many = (np.tile(Q, (n, 1)) for n in (dispatch.WORTH_WAITING - 1, dispatch.WORTH_WAITING))
    np.testing.assert_array_equal(arm.inverse_dynamics(few, V, A)[0], expected)
    threading.Timer(0.2, gate.set).start()
    with without_numpy(arm):
        found = arm.inverse_dynamics(many, V, A)
    np.testing.assert_allclose(found, np.tile(expected, (len(many), 1)), rtol=1e-12)


def test_a_large_batch_whose_kernel_cannot_be_made_is_computed_in_numpy(arm, expected, monkeypatch):
    """It does not wait twice, nor fail."""
    def failing(model, key):
        raise RuntimeError('LLVM is ill')
    monkeypatch.setattr(build, 'build_kernel', failing)
    for _ in range(2):
        found = arm.inverse_dynamics(np.tile(Q, (dispatch.WORTH_WAITING, 1)), V, A)
        np.testing.assert_array_equal(found[-1], expected)


@pytest.mark.parametrize(('error', 'message'), [
    (RuntimeError('LLVM is ill'), 'LLVM is ill.*NumPy path is used'),
    (ImportError('no llvmlite'), 'no llvmlite.*pip install llvmlite'),
    (MemoryError(), 'MemoryError'), (DynamicsError('said so'), '^said so$')], ids=repr)
def test_a_failed_kernel_raises_where_it_is_waited_for(arm, expected, monkeypatch, error,
                                                           message):
    """Calls are computed in NumPy, as before."""
    build_kernel = build.build_kernel

    def failing(model, key):
        if key.kernel == 'inverse_dynamics':
            raise error
        return build_kernel(model, key)
    monkeypatch.setattr(build, 'build_kernel', failing)
    for _ in range(2):
        with pytest.raises(DynamicsError, match=message):
            arm.compile(wait=True)
        np.testing.assert_array_equal(arm.inverse_dynamics(Q, V, A), expected)
    assert not arm.compiled
    with without_numpy(arm):
        assert arm.mass_matrix(Q).shape == (2, 2)


def test_threads_get_correct_results_while_kernels_are_made(expected):
    """Four threads call one robot from before the first kernel to after the last."""
    arm, wrong, done = small_robots.arm(), [], threading.Event()
    mass = Robot(arm.model, compile=False).mass_matrix(Q)
    batch = [np.tile(part, (40, 1)) for part in (Q, V, A)]

    def call():
        while True:
            last = done.is_set()
            got = (arm.inverse_dynamics(Q, V, A), arm.mass_matrix(Q),
                   arm.inverse_dynamics(*batch)[17])
            if not all(np.allclose(part, want, rtol=1e-12, atol=0.0)
                       for part, want in zip(got, (expected, mass, expected))):
                wrong.append(got)
            if last:
                return
    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    arm.compile(wait=True)
    done.set()
    for thread in threads:
        thread.join(WAIT)
    assert not wrong
    assert {'inverse_dynamics', 'mass_matrix'} <= installed(arm)


def in_child(function):
    """Return what a function returns in a forked process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(int(WAIT))  # rather dead than stuck
        os.close(reading)
        os.write(writing, pickle.dumps(outcome(function)))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, 'rb') as pipe:
        written = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    kind, result = pickle.loads(written)
    assert kind == 'ok', result
    return result


def test_a_forked_process_keeps_its_kernels(arm, expected):
    """It can compile more."""
    arm.compile(wait=True)

    def child():
        with without_numpy(arm):
            first = arm.inverse_dynamics(Q, V, A)
        arm.compile(wait=True, frames=['lower'])
        with without_numpy(arm):
            arm.jacobian(Q, 'lower')
        return first
    np.testing.assert_allclose(in_child(child), expected, rtol=1e-12)
    np.testing.assert_allclose(arm.inverse_dynamics(Q, V, A), expected, rtol=1e-12)


def test_a_process_forked_while_kernels_are_made_makes_its_own(arm, expected, monkeypatch,
                                                              tmp_path):
    """No lock stays locked, and queued kernels are compiled again."""
    started, compile_ir = threading.Event(), target.compile_ir

    def slow(*args, **named):
        with target._lock:
            started.set()
            time.sleep(0.1)  # while which we fork
        return compile_ir(*args, **named)
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(target, 'compile_ir', slow)
        arm.compile()
        assert started.wait(WAIT)

    def child():
        arm.compile(wait=True)
        with without_numpy(arm):
            return arm.inverse_dynamics(Q, V, A)
    np.testing.assert_allclose(in_child(child), expected, rtol=1e-12)
    assert arm.compile(wait=True).compiled


def test_a_compiled_robot_pickles(arm, expected):
    """The copy finds its kernels in the cache."""
    arm.compile(wait=True).inverse_dynamics(Q, V, A)
    copy = pickle.loads(pickle.dumps(arm))
    np.testing.assert_array_equal(copy.inverse_dynamics(Q, V, A), expected)  # NumPy's, at first
    copy.compile(wait=True)
    with without_numpy(copy):
        np.testing.assert_array_equal(copy.inverse_dynamics(Q, V, A),
                                      arm.inverse_dynamics(Q, V, A))


def test_the_code_of_a_deleted_robot_is_unloaded():
    """Callers and the dispatcher refer to each other: the garbage collector frees both."""
    arm = small_robots.arm().compile(wait=True)
    arm.inverse_dynamics(Q, V, A), arm.jacobian(Q, 'lower')
    code = [weakref.ref(kernel.code) for kernel in arm._dispatcher.kernels._done.values()]
    references = [weakref.ref(arm._dispatcher), weakref.ref(arm._dispatcher.kernels), *code]
    del arm
    gc.collect()
    assert [ref() for ref in references] == [None] * len(references)


def test_ctypes_is_used_without_the_extension(monkeypatch, expected):
    """The same results, slower."""
    monkeypatch.setattr(dispatch, 'Caller', ctypes_call.Caller)
    arm = small_robots.arm().compile(wait=True)
    with without_numpy(arm):
        got = [arm.inverse_dynamics(Q, V, A), arm.inverse_dynamics([Q] * 9, V.tolist(), A)[8]]
        assert isinstance(vars(arm)['inverse_dynamics'], ctypes_call.Caller)
    np.testing.assert_allclose(got, [expected] * 2, rtol=1e-12)


def test_a_program_ends_cleanly_while_kernels_are_made(tmp_path):
    """Nothing on stderr, no crash in LLVM; the time is that of one kernel."""
    code = 'from support import small_robots; small_robots.arm().compile()'
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, timeout=WAIT,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path),
             'DYNAMICS_NODE_CACHE': str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, '')
    assert len(list(tmp_path.iterdir())) < len(DYNAMICS)


class Job:
    """Record that the job ran; block the worker until released, if requested."""

    def __init__(self, log, name, blocked=False):
        self.log, self.name = log, name
        self.started, self.go, self.done = (threading.Event() for _ in range(3))
        if not blocked:
            self.go.set()

    def __call__(self, cancelled=False):
        self.started.set()
        assert cancelled or self.go.wait(WAIT)
        self.log.append((self.name, cancelled))
        self.done.set()


def test_a_worker_runs_urgent_jobs_first_and_cancels_the_rest_when_stopped():
    """The running job ends; waiting ones are cancelled; new ones are refused."""
    worker, log = robot_kernels.Worker(), []
    running, urgent = Job(log, 'running', blocked=True), Job(log, 'urgent', blocked=True)
    waiting = Job(log, 'waiting')
    assert worker.submit(running)
    assert running.started.wait(WAIT)
    assert worker.submit(waiting)
    assert worker.submit(urgent, urgent=True)
    running.go.set()
    assert urgent.started.wait(WAIT)
    stop = threading.Thread(target=worker.stop)
    stop.start()
    assert waiting.done.wait(WAIT)
    urgent.go.set()
    stop.join(WAIT)
    assert log == [('running', False), ('waiting', True), ('urgent', False)]
    assert not worker.submit(Job(log, 'late'))


def test_a_job_that_arrives_as_the_worker_times_out_is_done():
    """The wait has timed out, but the queue is not empty."""
    worker, log = robot_kernels.Worker(), []
    wait, late = worker._ready.wait, Job(log, 'late')

    def timed_out(timeout):
        worker._ready.wait = wait
        worker._jobs.append(late)
        return False
    worker._ready.wait = timed_out
    worker.submit(Job(log, 'early'))
    assert late.done.wait(WAIT)
    worker.stop()
    assert log == [('early', False), ('late', False)]


def test_where_no_thread_can_be_started_the_robot_computes_in_numpy(arm, expected, monkeypatch):
    """And compile(wait=True) raises the reason."""
    def refuse(_):
        raise RuntimeError("can't start new thread")
    monkeypatch.setattr(robot_kernels, '_worker', robot_kernels.Worker())
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, 'start', refuse)
        np.testing.assert_array_equal(arm.inverse_dynamics(Q, V, A), expected)
        with pytest.raises(DynamicsError, match='no thread can be started'):
            arm.compile(wait=True)
    assert arm.compile(wait=True).compiled


def test_whole_body_problems_leave_the_sets_of_constraints_to_others(arm, monkeypatch):
    """As many of both are compiled at first use, in any order."""
    monkeypatch.setattr(robot_kernels, 'MOST_SETS', 2)
    kernels, requested = robot_kernels.RobotKernels(arm.model), []
    monkeypatch.setattr(kernels, 'request', requested.append)
    tasks = [KernelKey('torque_space', ((k,), (), ())) for k in range(3)]
    sets = [KernelKey('constrained_forward_dynamics', constraints=(
        Constraint('tip', 'point_contact', frame),)) for frame in 'abc']
    for key in (*tasks, *sets, tasks[1], sets[0]):
        assert kernels.kernel(key) is None
    assert requested == [*tasks[:2], *sets[:2], tasks[1], sets[0]]
