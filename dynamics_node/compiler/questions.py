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
from dynamics_node.model.configuration import UNIT_QUATERNION
from dynamics_node.model.payload import carried_inertias
from dynamics_node.spatial.inertia import Inertia


class Key(NamedTuple):
    """Which kernel of a robot."""

    question: str
    frame: tuple = ()      # (frame,) or (frame, local) for questions about a frame
    rubbing: bool = False  # damping and friction are inputs, else zero
    loaded: bool = False   # payloads are inputs, else none
    pushed: bool = False   # external wrenches are inputs, else none


class Question(NamedTuple):
    """What is asked, of which state."""

    states: tuple
    answers: tuple         # functions to choose from, the cheapest program wins
    margins: bool = False  # the last answer must be positive
    wrenches: bool = False
    local: bool = False    # may be asked in the frame's own axes


def _forward(by):
    def forward(model, q, v, tau, *wrenches):
        result = by(model, q, v, np.zeros(model.nv), tau, np.zeros(model.nv, dtype=bool), *wrenches)
        return result.a, result.margin
    return forward


def _hybrid(model, q, v, a, tau, given, *wrenches):
    return tuple(by_blocks(model, q, v, a, tau, given, *wrenches))


QUESTIONS = {
    'inverse_dynamics': Question(('q', 'v', 'a'), (inverse_dynamics,), wrenches=True),
    'forward_dynamics': Question(('q', 'v', 'tau'), (_forward(by_blocks),
                                                     _forward(by_articulated_bodies)), True, True),
    'hybrid_dynamics': Question(('q', 'v', 'a', 'tau', 'given'), (_hybrid,), True, True),
    'mass_matrix': Question(('q',), (mass_matrix,)),
    'mass_matrix_inverse': Question(('q',), (lambda m, q: tuple(mass_matrix_inverse(m, q)),), True),
    'coriolis_matrix': Question(('q', 'v'), (coriolis_matrix,)),
    'gravity_torque': Question(('q',), (gravity_torque,)),
    'bias_torque': Question(('q', 'v'), (bias_torque,)),
    'friction_torque': Question(('v',), (friction_torque,)),
    'kinetic_energy': Question(('q', 'v'), (energy.kinetic_energy,)),
    'potential_energy': Question(('q',), (energy.potential_energy,)),
    'center_of_mass': Question(('q',), (energy.center_of_mass,)),
    'momentum': Question(('q', 'v'), (energy.momentum,)),
}
FRAME_QUESTIONS = {
    'frame_pose': Question(('q',), (kinematics.frame_pose,)),
    'frame_twist': Question(('q', 'v'), (kinematics.frame_twist,)),
    'jacobian': Question(('q',), (jacobian.jacobian,), local=True),
    'jacobian_rate': Question(('q', 'v'), (jacobian.jacobian_rate,), local=True),
}


# Where damping and friction enter, and where payloads do not.
RUBBING = {'inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics', 'friction_torque'}
WEIGHTLESS = {'friction_torque', *FRAME_QUESTIONS}


def key_of(model, question, frame=(), pushed=False):
    """Return the key of the kernel that answers a question for a robot as it is now.

    :param frame: () or (frame,) or (frame, local).
    """
    rubbing = question in RUBBING and bool(model.damping.any() or model.friction.any())
    loaded = question not in WEIGHTLESS and bool(model.payloads)
    return Key(question, tuple(frame), rubbing, loaded, pushed)


def all_keys(model, frames=(), wrenches=False, payloads=False):
    """Return the keys of all questions a robot may be asked."""
    keys = [key_of(model, question) for question in QUESTIONS]
    if wrenches:
        keys += [key_of(model, name, pushed=True) for name, q in QUESTIONS.items() if q.wrenches]
    if payloads:
        keys += [key._replace(loaded=True) for key in keys if key.question not in WEIGHTLESS]
    for frame in frames:
        keys += [key_of(model, name, (frame, *axes)) for name, q in FRAME_QUESTIONS.items()
                 for axes in ([(False,), (True,)] if q.local else [()])]
    return list(dict.fromkeys(keys))


def question_of(key):
    return QUESTIONS.get(key.question) or FRAME_QUESTIONS[key.question]


def state_shapes(model, key):
    """Return {name: shape} of the inputs that come per state."""
    question = question_of(key)
    sizes = {'q': model.nq}
    shapes = {name: (sizes.get(name, model.nv),) for name in question.states}
    if key.pushed:
        shapes['wrenches'] = (len(model.bodies), 6)
    return shapes


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
            result = answer(robot, *states.values(), *key.frame)
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
