"""Call each kernel, compiled and in NumPy, with arguments."""

from functools import partial
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inertial_parameters import body_inertia_rates
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.kernels.keys import KernelKey, has_kernel, key_of
from dynamics_node.kernels.shapes import state_shapes
from dynamics_node.kernels.spec import FRAME, ROBOT
from dynamics_node.kernels.table import specs_of


class KernelCall(NamedTuple):
    """One call of a Robot's method, and its kernel."""

    key: KernelKey
    arguments: dict

    def __str__(self):
        return f'{self.key}'

    def flat(self, model):
        """Return the state inputs of the kernel in one array, for a single state."""
        values = dict(self.arguments)
        for name in {'wrenches', 'dwrenches'} & set(values):
            values[name] = body_wrenches(model, values[name])
        if 'dinertias' in values:
            values['dinertias'] = body_inertia_rates(model, values['dinertias'])
        return np.concatenate([np.ravel(values[name]).astype(float)
                               for name in state_shapes(model, self.key)])

    def method(self, robot):
        """Return the Robot's method of the kernel, or the kernel itself if it has none."""
        return getattr(robot, self.key.kernel, partial(robot._dispatcher.call, self.key.kernel))

    def results(self, robot):
        """Return the results of the call on a robot as a list of arrays."""
        return listed(self.method(robot)(**self.arguments))


def kernel_calls(robot, state, frame, with_wrenches=(False, True), derivatives=False):
    """Return a KernelCall of every kernel.

    :param state: has q, v, a, tau, wrenches: single or batches.
    :param frame: link of the kernels about a frame, called in both axes.
    :param with_wrenches: with wrenches or without, where a kernel takes them.
    :param derivatives: those kernels instead.
    """
    values = _values(robot, state, frame)
    result = []
    for spec in _specs(ROBOT, derivatives):
        if not has_kernel(robot.model, spec.name):
            continue
        arguments = {part: values[part] for part in spec.inputs}
        for wrenches in with_wrenches if spec.wrenches else (False,):
            forces = {part: values[part] for part in spec.wrenches} if wrenches else {}
            result.append(KernelCall(key_of(robot.model, spec.name, with_wrenches=wrenches),
                                     {**arguments, **forces}))
    for spec in _specs(FRAME, derivatives):
        arguments = {part: values[part] for part in spec.inputs}
        for local in ({'local': False}, {'local': True}) if spec.local else ({},):
            key = key_of(robot.model, spec.name, (frame, *local.values()))
            result.append(KernelCall(key, {**arguments, 'frame': frame, **local}))
    return result


def _specs(subject, derivatives):
    return [spec for spec in specs_of(subject) if spec.derivative == derivatives]


def _values(robot, state, frame):
    """Return a value for every input that a kernel may have."""
    values = {name: getattr(state, name) for name in ('q', 'v', 'a', 'tau', 'wrenches')}
    values['given'] = np.arange(robot.nv) % 3 == 0
    rng, n = np.random.default_rng(2), np.shape(state.v)[:-1]
    for name in ('weights', 'dq', 'dv', 'da', 'dtau', 'ddamping', 'dfriction', 'darmature'):
        values[name] = rng.normal(size=(*n, robot.nv))
    values['dgravity'] = rng.normal(size=(*n, 3))
    for name in ('dorigins', 'daxes'):
        values[name] = rng.normal(size=(*n, 6 * len(robot.model.bodies)))
    values['dinertias'] = {frame: rng.normal(size=(*n, 10))}
    values['dwrenches'] = {link: rng.normal(size=(*n, 6)) for link in (*state.wrenches, frame)}
    return values


def listed(result):
    """Return one array or a tuple of arrays as a list."""
    return list(result) if isinstance(result, tuple) else [result]
