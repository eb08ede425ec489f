"""Estimate how long requests take: a function for each service that can take long, see table.py.

Measured on one core of a server of 2023 with a 7-axis arm and with TALOS (38 degrees of freedom).
An estimate only has to tell a long request from a short one, and hours from seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.control import spline
from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.keys import has_kernel
from dynamics_node.robot.kernel_ready import kernel_ready
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.convert import nanoseconds
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.services.batch_inputs import DYNAMICS
from dynamics_node.ros.services.derivative_terms import TENSORS
from dynamics_node.ros.services.request_fields import entry_of
from dynamics_node.task_space.closed_form import kernels_of

# [s] A request that takes longer is long. A reply by another process takes 1 ms more, and 0.05 us
# more per number; a 7-axis arm of which no kernel is ready yet stays below this for one state.
LONG = 0.01
COMPILATION = 1.0     # [s] assumed for kernels that a request waits for; they take 0.3 to 70 s
# [s] with kernels, for each number in the reply
NUMBER = 25e-9
DISCRETE_NUMBER = 150e-9   # of a linearization with a step: a matrix exponential
TRAJECTORY_NUMBER = 100e-9
RESTART = 4e-6        # [s] of inverse kinematics, for each degree of freedom
# [s] without kernels, for each degree of freedom of one state
INVERSE, FORWARD, TERMS, DERIVATIVES = 65e-6, 170e-6, 530e-6, 1.2e-3
DIRECTIONAL = 0.7e-3  # directional derivative; once more if the geometry changes
TENSOR = 0.4e-3       # dM/dq or Christoffel symbols, for each pair of degrees of freedom
FRAME = 0.2e-3        # each of pose, twist, Jacobian, its rate and acceleration of a frame
REACTIONS = 70e-6     # wrenches and accelerations of all joints, or of a sensor; poses of all links
CONSTRAINED = 0.6e-3
CLOSED_TERMS = 1.6e-3   # of a closed mechanism
CLOSED_LINEARIZATION = 4.5e-3   # and derivatives
CLOSED_RESTART = 3e-3   # of inverse kinematics with loops, with kernels
CLOSED_SAMPLE = 1.5e-3  # of a trajectory with loops closed
CLOSED_SAMPLE_COMPILED = 0.1e-3   # the same with kernels
ROW_PAIR = 1e-6       # of the square of the number of constraint rows
MOST_ROWS = 6         # of one constraint
SELF_TEST = 2e-3      # of one sample, with and without kernels
# kind of a FrameTarget -> kinds of the parts that its kernel has
PARTS = {'pose': ('position', 'orientation'), 'position': ('position',),
         'orientation': ('orientation',), 'axis': ('axis',),
         'position_and_axis': ('position', 'axis')}


class Duration(NamedTuple):
    """The number of states and the estimated time of a request, to which limits apply."""

    states: int      # in the request: states, or points of a trajectory
    seconds: float   # estimated


Estimate: TypeAlias = Callable[[NodeState, Any], Duration]   # of (state of the node, request)
REFUSED = Duration(0, 0.0)   # of a request that its handler refuses


def duration_of(estimate: Estimate, node_state: NodeState, request: Any) -> Duration:
    """Return the Duration of a request, by the estimate of its service."""
    try:
        return estimate(node_state, request)
    except DynamicsError:
        return REFUSED


def _duration(robot: Robot, states: int, numpy: float, compiled: float,
              ready: Callable[[], bool]) -> Duration:
    """Return the Duration of some states.

    :param numpy: seconds of one state without kernels.
    :param compiled: the same with kernels.
    :param ready: tells whether the kernels are ready; takes 20 us, and is not always called.
    """
    seconds = states * numpy
    if seconds > LONG:
        if ready():
            seconds = states * compiled
        elif robot.compilation_enabled:   # many states wait for their kernel
            seconds = min(seconds, COMPILATION)
    return Duration(states, seconds)


def _states(node_state: NodeState, request: Any) -> int:
    """Return the number of states in a request."""
    selection = node_state.current_robot.select_joints(request.joint_names)
    places, given = max(1, len(selection.v)), max(
        len(getattr(request, field, ())) for field in ('velocity', 'acceleration', 'effort'))
    return max(1, given // places, len(request.position) // max(1, len(selection.q)))


def single_state(numpy: float) -> Estimate:
    """Return the estimate of a service for one state, of all kernels of a robot."""
    def duration(node_state: NodeState, request: Any) -> Duration:
        robot = node_state.robot
        return _duration(robot, 1, robot.nv * numpy, 0.0, lambda: robot.compiled)
    return duration


def dynamics_terms(node_state: NodeState, request: Any) -> Duration:
    if request.closed:  # a kernel exists for the motors as coordinates alone
        return Duration(1, node_state.robot.nv * CLOSED_TERMS)
    return single_state(TERMS)(node_state, request)


def batch_dynamics(node_state: NodeState, request: Any) -> Duration:
    robot, question = node_state.robot, request.question
    nv, states = robot.nv, _states(node_state, request)
    if question == 'terms':
        return _duration(robot, states, nv * TERMS, nv * (2 * nv + 3) * NUMBER,
                         lambda: robot.compiled)
    kernel = entry_of(question, DYNAMICS).kernel
    return _duration(robot, states, nv * (INVERSE if question == 'inverse' else FORWARD),
                     2 * nv * NUMBER, lambda: kernel_ready(robot, (kernel,)))


def dynamics_derivatives(node_state: NodeState, request: Any) -> Duration:
    robot, kernel = node_state.robot, entry_of(request.question, DYNAMICS).kernel
    nv = robot.nv
    if request.closed:
        return _closed_derivatives(node_state, request)
    return _duration(robot, _states(node_state, request), nv * DERIVATIVES,
                     nv * (3 * nv + 1) * NUMBER,
                     lambda: kernel_ready(robot, (kernel,), (f'{kernel}_derivatives',)))


def directional_derivative(node_state: NodeState, request: Any) -> Duration:
    robot, kernel = node_state.robot, entry_of(request.question, DYNAMICS).kernel
    loaded = bool(request.external_wrenches)
    kernels = [(f'{kernel}_directional_derivative', (), loaded or bool(request.wrench_rates))]
    if request.origin_joints or request.axis_joints:
        kernels.append((f'{kernel}_geometry_derivative', (), loaded))
    per_joint = robot.nv * len(kernels)
    return _duration(robot, _states(node_state, request), per_joint * DIRECTIONAL,
                     per_joint * NUMBER, lambda: kernel_ready(robot, *kernels))


def derivative_terms(node_state: NodeState, request: Any) -> Duration:
    robot = node_state.robot
    nv = robot.nv
    tensors = [name for name in TENSORS if getattr(request, name)]
    others = [name for name in ('gravity_stiffness', 'regressor') if getattr(request, name)]
    if request.weights:
        others.append('inverse_dynamics_hessian_product')
    numpy = nv * (len(tensors) * nv * TENSOR + len(others) * DERIVATIVES)
    numbers = nv * (len(tensors) * nv * nv + len(others) * 10 * len(robot.body_names))
    return _duration(robot, _states(node_state, request), numpy, numbers * NUMBER,
                     lambda: kernel_ready(robot, *((name,) for name in (*tensors, *others))))


def linearization(node_state: NodeState, request: Any) -> Duration:
    robot = node_state.robot
    nv = robot.nv
    if request.closed:
        return _closed_states(node_state, request)
    return _duration(
        robot, _states(node_state, request), nv * DERIVATIVES,
        2 * nv * (3 * nv + 1) * (DISCRETE_NUMBER if request.step else NUMBER),
        lambda: kernel_ready(robot, ('forward_dynamics',), ('forward_dynamics_derivatives',)))


def _closed_derivatives(node_state: NodeState, request: Any) -> Duration:
    """A kernel exists for the motors as coordinates alone, and not for large mechanisms."""
    if request.question == 'hybrid':
        return REFUSED
    robot, kernel = node_state.robot, f'closed_{request.question}_derivatives'
    loops, passive = robot.loops
    if request.coordinates or not has_kernel(robot.model, kernel, loops):
        return _closed_states(node_state, request)
    motors = tuple(np.flatnonzero(actuated_dofs(robot.model, passive)).tolist())
    key = kernel, (motors,), bool(request.external_wrenches), loops
    return _duration(robot, _states(node_state, request), robot.nv * CLOSED_LINEARIZATION,
                     robot.nv * (3 * robot.nv + 1) * NUMBER, lambda: kernel_ready(robot, key))


def _closed_states(node_state: NodeState, request: Any) -> Duration:
    states = _states(node_state, request)
    return Duration(states, states * node_state.robot.nv * CLOSED_LINEARIZATION)


def trajectory_torques(node_state: NodeState, request: Any) -> Duration:
    robot, points, period = node_state.robot, request.trajectory.points, request.check_period
    states = len(points)
    if states and period > 0.0:
        length = max(0.0, nanoseconds(points[-1].time_from_start) * 1e-9)
        if length > period * spline.MOST_SAMPLES:
            return REFUSED
        states += int(length / period)
    if request.closed:
        rows = 'constraint_rows', (), False, robot.loops.constraints
        return _duration(robot, states, robot.nv * CLOSED_SAMPLE,
                         robot.nv * CLOSED_SAMPLE_COMPILED,
                         lambda: kernel_ready(robot, ('inverse_dynamics',), rows))
    return _duration(robot, states, robot.nv * INVERSE, robot.nv * TRAJECTORY_NUMBER,
                     lambda: kernel_ready(robot, ('inverse_dynamics',)))


def kinematics(node_state: NodeState, request: Any) -> Duration:
    robot = node_state.robot
    frames = list(request.frames) or robot.frame_names
    for frame in frames:
        robot.model.frame(frame)
    if request.closed:
        return _closed_frames(robot, len(frames))
    wanted = {'jacobian': request.jacobians or request.rotation_parameters,
              'jacobian_rate': request.jacobian_rates,
              'frame_acceleration': request.accelerations}
    names = ['frame_pose', 'frame_twist', *(name for name in wanted if wanted[name])]
    local = dict.fromkeys(wanted, (request.local,))
    seconds = _duration(
        robot, len(frames), robot.nv * FRAME * len(names) / 4, 6 * robot.nv * NUMBER,
        lambda: kernel_ready(robot, *((name, (frame, *local.get(name, ())))
                                      for frame in frames for name in names))).seconds
    return Duration(1, seconds)


def joint_reactions(node_state: NodeState, request: Any) -> Duration:
    robot = node_state.robot
    return Duration(1, robot.nv * REACTIONS * (2 + len(request.sensor_links)))


def operational_space(node_state: NodeState, request: Any) -> Duration:
    if request.closed:
        return _closed_frames(node_state.robot, len(request.frames))
    return Duration(1, node_state.robot.nv * FRAME * len(request.frames))


def _closed_frames(robot: Robot, frames: int) -> Duration:
    """Return the Duration of Jacobians of a closed mechanism, which needs its terms for each."""
    return Duration(1, robot.nv * (1 + frames) * (CLOSED_TERMS + FRAME))


def constrained_dynamics(node_state: NodeState, request: Any) -> Duration:
    """Kernels exist for the loops of the robot alone; they are small mechanisms.

    The constraints of a YAML text are counted without reading it: each has one key `kind`. A soft
    contact has one key `stiffness`.
    """
    robot = node_state.robot
    text = getattr(request, 'constraints_yaml', '') or getattr(request, 'contacts_yaml', '')
    rows = MOST_ROWS * (text.count('kind') + len(getattr(request, 'contact_frames', ())))
    soft = getattr(request, 'soft_contacts_yaml', '').count('stiffness')
    return Duration(1, robot.nv * (CONSTRAINED + soft * FRAME) + rows * rows * ROW_PAIR)


def inverse_kinematics(node_state: NodeState, request: Any) -> Duration:
    robot = node_state.robot
    for target in request.targets:
        robot.model.frame(target.frame)
        entry_of(target.kind, PARTS)
    if not request.targets:
        return REFUSED
    if robot.loops.constraints:
        return Duration(1, COMPILATION
                        + (1 + max(0, request.restarts)) * robot.nv * CLOSED_RESTART)
    parts = tuple((target.frame, part) for target in request.targets for part in PARTS[target.kind])
    if kernel_ready(robot, *((kernel, (parts,)) for kernel in kernels_of(robot.model, parts))):
        return Duration(1, (1 + max(0, request.restarts)) * robot.nv * RESTART)
    return Duration(1, COMPILATION)


def differential_kinematics(node_state: NodeState, request: Any) -> Duration:
    held = constrained_dynamics(node_state, request).seconds if request.constraints_yaml else 0.0
    return Duration(1, held + node_state.robot.nv * FRAME * len(request.tasks))


def self_test(node_state: NodeState, request: Any) -> Duration:
    return Duration(1, (request.samples or 10) * node_state.robot.nv * SELF_TEST)
