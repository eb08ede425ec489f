"""Everything a robot can be asked, with arguments: what both paths have to agree on."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inertial_parameters import body_inertia_rates
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.kernels.derivative_specs import DERIVATIVES, FRAME_DERIVATIVES
from dynamics_node.kernels.keys import (
    FRAME_QUESTIONS,
    QUESTIONS,
    KernelKey,
    has_kernel,
    key_of,
    state_shapes,
)


class Asked(NamedTuple):
    """One call of a Robot's method, and the kernel that answers it."""

    key: KernelKey
    arguments: dict

    def __str__(self):
        return f'{self.key}'

    def flat(self, model):
        """Return the state inputs of the kernel on end, for a single state."""
        values = dict(self.arguments)
        for name in {'wrenches', 'dwrenches'} & set(values):
            values[name] = body_wrenches(model, values[name])
        if 'dinertias' in values:
            values['dinertias'] = body_inertia_rates(model, values['dinertias'])
        return np.concatenate([np.ravel(values[name]).astype(float)
                               for name in state_shapes(model, self.key)])

    def answer(self, robot):
        """Return the robot's answer as a list of arrays."""
        return listed(getattr(robot, self.key.question)(**self.arguments))


def asked(robot, state, frame, pushed=(False, True), derivatives=False):
    """Return every question as a list of Asked.

    :param state: has q, v, a, tau, wrenches: single or batches.
    :param frame: link of the questions about a frame, asked in both axes.
    :param pushed: with wrenches or without, where a question takes them.
    :param derivatives: those questions instead.
    """
    values = _values(robot, state, frame)
    result = []
    for name, question in (DERIVATIVES if derivatives else QUESTIONS).items():
        if not has_kernel(robot.model, name):
            continue
        arguments = {part: values[part] for part in question.states}
        for push in pushed if question.wrenches else (False,):
            forces = {part: values[part] for part in question.wrenches} if push else {}
            result.append(Asked(key_of(robot.model, name, pushed=push), {**arguments, **forces}))
    for name, question in (FRAME_DERIVATIVES if derivatives else FRAME_QUESTIONS).items():
        arguments = {part: values[part] for part in question.states}
        for local in ({'local': False}, {'local': True}) if question.local else ({},):
            key = key_of(robot.model, name, (frame, *local.values()))
            result.append(Asked(key, {**arguments, 'frame': frame, **local}))
    return result


def _values(robot, state, frame):
    """Return an argument for every name of a state that a question may have."""
    values = {name: getattr(state, name) for name in ('q', 'v', 'a', 'tau', 'wrenches')}
    values['given'] = np.arange(robot.nv) % 3 == 0
    rng, n = np.random.default_rng(2), np.shape(state.v)[:-1]
    for name in ('weights', 'dq', 'dv', 'da', 'dtau', 'ddamping', 'dfriction', 'darmature'):
        values[name] = rng.normal(size=(*n, robot.nv))
    values['dgravity'] = rng.normal(size=(*n, 3))
    values['dinertias'] = {frame: rng.normal(size=(*n, 10))}
    values['dwrenches'] = {link: rng.normal(size=(*n, 6)) for link in (*state.wrenches, frame)}
    return values


def listed(answer):
    """Return one array or a tuple of arrays as a list."""
    return list(answer) if isinstance(answer, tuple) else [answer]
