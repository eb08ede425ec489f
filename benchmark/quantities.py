"""Measure further quantities: time of our call, and of Pinocchio where it has the same.

Quantities without a counterpart have our time and the number of operations alone. Methods that
assemble their arguments in Python are timed as a user calls them.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from engines import Call, Pinocchio
from robots import urdf
from timing import at_once, over_states, take_turns

from dynamics_node import Robot
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.kernels.keys import key_of

BATCH = 1024
SINGLES = 64
TIP = 'panda_hand'


class Quantity(NamedTuple):
    """The time of one quantity of one robot."""

    robot: str
    what: str
    single: float       # ns per call of one state
    batch: float        # ns per state of a batch
    operations: int     # of the kernel; of several kernels their sum
    peer: float | None  # ns per call of Pinocchio
    bar: None = None


class Subject(NamedTuple):
    """One quantity: how both engines compute it."""

    ours: Callable      # f(robot) -> f(q, v, x)
    kernels: tuple      # of (name, arguments), whose operations are counted
    theirs: str = ''    # expression with pin, model, data, tip, q, v, x; empty: none


_UNIT = {'dq': np.ones(7)}
LONGER = {'dorigins': {'panda_joint4': [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]}}
WORLD = 'pin.ReferenceFrame.LOCAL_WORLD_ALIGNED'
ARM = {
    'joint reactions': Subject(
        lambda robot: robot.joint_reactions, (('joint_reactions', ()),),
        'pin.rnea(model, data, q, v, x)'),
    'frame acceleration': Subject(
        lambda robot: lambda q, v, x: robot.frame_acceleration(q, v, x, TIP),
        (('frame_acceleration', (TIP,)),),
        'pin.forwardKinematics(model, data, q, v, x); '
        f'pin.getFrameClassicalAcceleration(model, data, tip, {WORLD})'),
    'analytic Jacobian': Subject(
        lambda robot: lambda q, v, x: robot.analytic_jacobian(q, TIP),
        (('jacobian', (TIP, False)), ('frame_pose', (TIP,)))),
    'Jacobian': Subject(
        lambda robot: lambda q, v, x: robot.jacobian(q, TIP), (('jacobian', (TIP, False)),),
        f'pin.computeFrameJacobian(model, data, q, tip, {WORLD})'),
    'regressor': Subject(
        lambda robot: robot.regressor, (('regressor', ()),),
        'pin.computeJointTorqueRegressor(model, data, q, v, x)'),
    'gravity stiffness': Subject(
        lambda robot: lambda q, v, x: robot.gravity_stiffness(q), (('gravity_stiffness', ()),),
        'pin.computeGeneralizedGravityDerivatives(model, data, q)'),
    'Coriolis matrix': Subject(
        lambda robot: lambda q, v, x: robot.coriolis_matrix(q, v), (('coriolis_matrix', ()),),
        'pin.computeCoriolisMatrix(model, data, q, v)'),
    'dM/dq': Subject(
        lambda robot: lambda q, v, x: robot.mass_matrix_derivatives(q),
        (('mass_matrix_derivatives', ()),)),
    'derivatives of joint reactions': Subject(
        lambda robot: robot.joint_reactions_derivatives, (('joint_reactions_derivatives', ()),)),
    'inverse dynamics along a direction': Subject(
        lambda robot: lambda q, v, x: robot.inverse_dynamics_directional_derivative(
            q, v, x, **_UNIT),
        (('inverse_dynamics_directional_derivative', ()),)),
    'forward dynamics along a direction': Subject(
        lambda robot: lambda q, v, x: robot.forward_dynamics_directional_derivative(
            q, v, x, **_UNIT),
        (('forward_dynamics_directional_derivative', ()),)),
    'inverse dynamics by a length': Subject(
        lambda robot: lambda q, v, x: robot.inverse_dynamics_directional_derivative(
            q, v, x, **LONGER),
        (('inverse_dynamics_directional_derivative', ()),
         ('inverse_dynamics_geometry_derivative', ()))),
}
CLOSED = {
    'closed dynamics': Subject(
        lambda robot: lambda q, v, x: robot.closed_dynamics(q, v), ('closed_dynamics',)),
    'closed hybrid dynamics': Subject(
        lambda robot: lambda q, v, x: robot.closed_hybrid_dynamics(
            q, v, x, x, [name == 'left_shoulder' for name in robot.joint_names]),
        ('closed_hybrid_dynamics',)),
    'closed inverse derivatives': Subject(
        lambda robot: robot.closed_inverse_derivatives, ('closed_inverse_derivatives',)),
    'closed forward derivatives': Subject(
        lambda robot: robot.closed_forward_derivatives, ('closed_forward_derivatives',)),
}


def measure_arm(turns, tick):
    """Return the Quantities of the Panda."""
    text = urdf('panda')
    robot = Robot.from_urdf(text, friction=False)
    peer = Pinocchio(text, robot.joint_names)
    rng = np.random.default_rng(1)
    states = [rng.uniform(-2.0, 2.0, (BATCH, robot.nv)), *rng.normal(size=(2, BATCH, robot.nv))]
    names = {'pin': pin, 'model': peer.model, 'data': peer.data,
             'tip': peer.model.getFrameId(TIP)}
    theirs = list(zip(*(part[:SINGLES] for part in peer.states(*states))))
    found = []
    for k, (what, subject) in enumerate(ARM.items()):
        keys = [key_of(robot.model, *kernel) for kernel in subject.kernels]
        *steps, last = subject.theirs.split('; ')
        loop = over_states(Call(last, names, '; '.join(steps)), 'q, v, x', theirs) if last else None
        found.append(_timed('panda', what, robot, subject, keys, states, loop, turns))
        tick((k + 1) / len(ARM))
    return found


def measure_closed(turns, tick):
    """Return the Quantities of the five-bar linkage; its coordinates are the two motors."""
    robot = Robot.from_urdf(MECHANISMS['five_bar'].urdf, loops=MECHANISMS['five_bar'].loops)
    motors = tuple(k for k, name in enumerate(robot.joint_names)
                   if name not in robot.loops.passive)
    rng = np.random.default_rng(1)
    some = [robot.project_configuration(0.1 * rng.normal(size=4)) for _ in range(SINGLES)]
    q = np.tile(some, (BATCH // SINGLES, 1))
    states = [q, *rng.normal(size=(2, BATCH, 4))]
    found = []
    for k, (what, subject) in enumerate(CLOSED.items()):
        keys = [key_of(robot.model, name, (motors,), False, robot._sets.of(None))
                for name in subject.kernels]
        found.append(_timed('five-bar', what, robot, subject, keys, states, None, turns))
        tick((k + 1) / len(CLOSED))
    return found


def _timed(name, what, robot, subject, keys, states, theirs, turns):
    robot._dispatcher.compile(keys, wait=True)
    subject.ours(robot)(*(part[0] for part in states))  # the first call binds the kernel
    call = Call('call(q, v, x)', {'call': subject.ours(robot)})
    runs = {'single': over_states(call, 'q, v, x', list(
        zip(*(part[:SINGLES] for part in states)))),
        'batch': at_once(call, **dict(zip('qvx', states)))}
    if theirs is not None:
        runs['peer'] = theirs
    least = {run: 1e9 * min(seconds) for run, seconds in take_turns(
        runs, turns, lambda share: None).items()}
    peer = least['peer'] / SINGLES if theirs is not None else None
    return Quantity(name, what, least['single'] / SINGLES, least['batch'] / BATCH, sum(
        robot._dispatcher.kernels.kernel(key).operations for key in keys), peer)


if __name__ == '__main__':
    import table
    print(table.quantities([*measure_arm(30, lambda _: None), *measure_closed(30, lambda _: None)]))
