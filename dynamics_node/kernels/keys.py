"""Which kernels there are: each public question as a function of arrays alone.

State inputs come per state (q, v, a, tau, given, wrenches). Uniform inputs are the robot's own
numbers that may change without a compile: gravity, armature, damping, friction, payload.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms import energy, jacobian, kinematics
from dynamics_node.algorithms.coriolis_matrix import coriolis_matrix
from dynamics_node.algorithms.friction import friction_torque
from dynamics_node.algorithms.hybrid_dynamics import by_articulated_bodies, by_blocks
from dynamics_node.algorithms.inverse_dynamics import bias_torque, gravity_torque, inverse_dynamics
from dynamics_node.algorithms.mass_matrix import mass_matrix, mass_matrix_inverse
from dynamics_node.constrained.constraint import size
from dynamics_node.kernels.constrained_specs import HELD, HELD_DERIVATIVES
from dynamics_node.kernels.derivative_specs import DERIVATIVES, FRAME_DERIVATIVES
from dynamics_node.kernels.spec import PUSHED, KernelSpec
from dynamics_node.kernels.task_specs import TASKS
from dynamics_node.model.configuration import UNIT_QUATERNION
from dynamics_node.model.payload import carried_inertias
from dynamics_node.spatial.inertia import Inertia
from dynamics_node.task_space.newton_step import goal_size


class KernelKey(NamedTuple):
    """Which kernel of a robot."""

    question: str
    frame: tuple = ()      # (frame,) or (frame, local) for questions about a frame; (parts,) of
                           # task space, ((frame, kind), ...)
    rubbing: bool = False  # damping and friction are inputs, else zero
    loaded: bool = False   # payloads are inputs, else none
    pushed: bool = False   # external wrenches are inputs, else none
    constraints: tuple = ()  # of Constraint, for questions about a robot that is held


def _forward(by):
    def forward(model, q, v, tau, *wrenches):
        result = by(model, q, v, np.zeros(model.nv), tau, np.zeros(model.nv, dtype=bool), *wrenches)
        return result.a, result.margin
    return forward


def _hybrid(model, q, v, a, tau, given, *wrenches):
    return tuple(by_blocks(model, q, v, a, tau, given, *wrenches))


QUESTIONS = {
    'inverse_dynamics': KernelSpec(('q', 'v', 'a'), (inverse_dynamics,), wrenches=PUSHED),
    'forward_dynamics': KernelSpec(
        ('q', 'v', 'tau'), (_forward(by_blocks), _forward(by_articulated_bodies)), True, PUSHED),
    'hybrid_dynamics': KernelSpec(('q', 'v', 'a', 'tau', 'given'), (_hybrid,), True, PUSHED),
    'mass_matrix': KernelSpec(('q',), (mass_matrix,)),
    'mass_matrix_inverse': KernelSpec(('q',), (lambda m, q: tuple(mass_matrix_inverse(m, q)),),
                                      True),
    'coriolis_matrix': KernelSpec(('q', 'v'), (coriolis_matrix,)),
    'gravity_torque': KernelSpec(('q',), (gravity_torque,)),
    'bias_torque': KernelSpec(('q', 'v'), (bias_torque,)),
    'friction_torque': KernelSpec(('v',), (friction_torque,)),
    'kinetic_energy': KernelSpec(('q', 'v'), (energy.kinetic_energy,)),
    'potential_energy': KernelSpec(('q',), (energy.potential_energy,)),
    'center_of_mass': KernelSpec(('q',), (energy.center_of_mass,)),
    'momentum': KernelSpec(('q', 'v'), (energy.momentum,)),
}
FRAME_QUESTIONS = {
    'frame_pose': KernelSpec(('q',), (kinematics.frame_pose,)),
    'frame_twist': KernelSpec(('q', 'v'), (kinematics.frame_twist,)),
    'jacobian': KernelSpec(('q',), (jacobian.jacobian,), local=True),
    'jacobian_rate': KernelSpec(('q', 'v'), (jacobian.jacobian_rate,), local=True),
}


ALL_KERNELS = {**QUESTIONS, **FRAME_QUESTIONS, **DERIVATIVES, **FRAME_DERIVATIVES, **HELD,
         **HELD_DERIVATIVES, **TASKS}

# Where damping and friction enter, and where payloads do not.
RUBBING = {f'{which}_dynamics{what}' for which in ('inverse', 'forward', 'hybrid')
           for what in ('', '_derivatives', '_directional_derivative')} | {'friction_torque',
                                                          'inverse_dynamics_hessian_product'}
RUBBING |= {*HELD, *HELD_DERIVATIVES} - {'impact', 'constraint_rows'}
WEIGHTLESS = {'friction_torque', 'regressor', 'energy_regressor', 'constraint_rows',
              *FRAME_QUESTIONS, *FRAME_DERIVATIVES, *TASKS}
# An answer of more numbers is left to NumPy: straight-line code for it would be no faster, and
# take minutes to compile.
MOST_NUMBERS = 10_000
MOST_SLOPES = 12_000  # the same of dA/dq, of which derivatives of held robots are made


def key_of(model, question, frame=(), pushed=False, constraints=()):
    """Return the key of the kernel that answers a question for a robot as it is now.

    :param frame: () or (frame,) or (frame, local).
    """
    rubbing = question in RUBBING and bool(model.damping.any() or model.friction.any())
    loaded = question not in WEIGHTLESS and bool(model.payloads)
    return KernelKey(question, tuple(frame), rubbing, loaded, pushed, constraints)


def has_kernel(model, question, constraints=()):
    """Return whether there is a kernel at all, or the answer is too large for one."""
    if ALL_KERNELS[question].held and not constraints:
        return False  # nothing holds it: the plain questions have kernels
    if question in HELD_DERIVATIVES:
        return sum(map(size, constraints)) * model.nv ** 2 <= MOST_SLOPES
    return not ALL_KERNELS[question].cubic or model.nv ** 3 <= MOST_NUMBERS


def all_keys(model, frames=(), wrenches=False, payloads=False, derivatives=False, constraints=()):
    """Return the keys of all questions a robot may be asked, held by a set of constraints too."""
    questions = {**QUESTIONS, **(DERIVATIVES if derivatives else {})}
    about_frames = {**FRAME_QUESTIONS, **(FRAME_DERIVATIVES if derivatives else {})}
    if constraints:
        questions.update({**HELD, **(HELD_DERIVATIVES if derivatives else {})})

    def key(name, pushed=False):
        return key_of(model, name, (), pushed, constraints if ALL_KERNELS[name].held else ())
    keys = [key(name) for name in questions if has_kernel(model, name, constraints)]
    if wrenches:
        keys += [key(name, True) for name, question in questions.items() if question.wrenches]
    if payloads:
        keys += [key._replace(loaded=True) for key in keys if key.question not in WEIGHTLESS]
    for frame in frames:
        keys += [key_of(model, name, (frame, *axes)) for name, q in about_frames.items()
                 for axes in ([(False,), (True,)] if q.local else [()])]
    return list(dict.fromkeys(keys))


def question_of(key):
    return ALL_KERNELS[key.question]


def frames_of(key):
    """Return the names of the frames that a key is about."""
    if key.question in TASKS:
        return [frame for frame, _ in key.frame[0]]
    return key.frame[:1]


def state_shapes(model, key):
    """Return {name: shape} of the inputs that come per state."""
    question = question_of(key)
    names = [*question.states, *(question.wrenches if key.pushed else ())]
    return {name: state_shape(model, name, key.constraints, key.frame) for name in names}


def state_shape(model, name, constraints=(), frame=()):
    """Return the shape of an input that comes per state."""
    bodies = len(model.bodies)
    if name == 'restitution':
        return (sum(map(size, constraints)),)
    if name == 'goal':
        return (goal_size(*frame),)
    shapes = {'q': (model.nq,), 'wrenches': (bodies, 6), 'dwrenches': (bodies, 6),
              'dinertias': (bodies, 10), 'dgravity': (3,), 'stabilisation': (2,),
              'caution': (1,), 'limits': (2 * model.nq,)}
    return shapes.get(name, (model.nv,))


def uniform_shapes(model, key):
    """Return {name: shape} of the robot's numbers that the kernel takes as inputs."""
    shapes = {'gravity': (3,), 'armature': (model.nv,)}
    if key.rubbing:
        shapes.update(damping=(model.nv,), friction=(model.nv,))
    if key.loaded:
        shapes['payload'] = (len(model.bodies) + 1, 10)
    return shapes


def uniform_values(model, key):
    """Return the arrays for a robot, in the order of uniform_shapes."""
    values = {'gravity': model.gravity, 'armature': model.armature, 'damping': model.damping,
              'friction': model.friction}
    if key.loaded:
        values['payload'] = np.array([_ten(load) for load in carried_inertias(model)])
    return tuple(np.ascontiguousarray(values[name], dtype=float)
                 for name in uniform_shapes(model, key))


def functions(model, key):
    """Return the functions of symbols that answer a key, to be traced; model.inertias are bare."""
    question = question_of(key)
    names = [*state_shapes(model, key), *uniform_shapes(model, key)]

    def of(answer):
        def function(*arrays):
            given = dict(zip(names, arrays))
            states = {name: given[name] for name in state_shapes(model, key)}
            margin = []
            if 'q' in states:
                states['q'], margin = _normalised(model, states['q'])
            robot = _symbolic(model, key, given)
            held = (key.constraints,) if question.held else ()
            result = answer(robot, *held, *states.values(), *key.frame)
            result = result if isinstance(result, tuple) else (result,)
            if question.margins:
                result, margin = result[:-1], [*margin, *result[-1]]
            return (*result, np.array(margin, dtype=object))
        return function
    answers = question.answers[:1] if model.has_mimic else question.answers  # see hybrid_dynamics
    return [of(answer) for answer in answers]


def _symbolic(model, key, given):
    """Return the model with symbols in place of the numbers that may change."""
    nothing = np.zeros(model.nv)
    inertias = model.inertias
    if key.loaded:
        inertias = tuple(own + _inertia(load) for own, load in zip(inertias, given['payload']))
    return model.with_(gravity=given['gravity'], armature=given['armature'],
                       damping=given.get('damping', nothing),
                       friction=given.get('friction', nothing), inertias=inertias)


def _normalised(model, q):
    """Return q with unit quaternions, and margins that are positive where they were nearly so."""
    q, margin = q.copy(), []
    for joint in model.joints:
        if joint.kind == 'floating':
            part = slice(joint.q.start + 3, joint.q.stop)
            square = q[part] @ q[part]
            margin += [square - (1.0 - UNIT_QUATERNION) ** 2, (1.0 + UNIT_QUATERNION) ** 2 - square]
            q[part] = q[part] / np.sqrt(square)
    return q, margin


def _ten(inertia):
    I = inertia.tensor
    return [inertia.mass, *inertia.moment, I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]]


def _inertia(ten):
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = ten
    return Inertia(m, np.array([hx, hy, hz]),
                   np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
