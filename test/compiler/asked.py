"""Everything a robot can be asked, with arguments: what both paths have to agree on."""

from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.compiler.questions import FRAME_QUESTIONS, QUESTIONS, Key, key_of, state_shapes


class Asked(NamedTuple):
    """One call of a Robot's method, and the kernel that answers it."""

    key: Key
    arguments: dict

    def __str__(self):
        return f'{self.key}'

    def flat(self, model):
        """Return the state inputs of the kernel on end, for a single state."""
        values = dict(self.arguments)
        if self.key.pushed:
            values['wrenches'] = body_wrenches(model, values['wrenches'])
        return np.concatenate([np.ravel(values[name]).astype(float)
                               for name in state_shapes(model, self.key)])

    def answer(self, robot):
        """Return the robot's answer as a list of arrays."""
        return listed(getattr(robot, self.key.question)(**self.arguments))


def asked(robot, state, frame, pushed=(False, True)):
    """Return every question as a list of Asked.

    :param state: has q, v, a, tau, wrenches: single or batches.
    :param frame: link of the questions about a frame, asked in both axes.
    :param pushed: with wrenches or without, where a question takes them.
    """
    values = {name: getattr(state, name) for name in ('q', 'v', 'a', 'tau')}
    values['given'] = np.arange(robot.nv) % 3 == 0
    result = []
    for name, question in QUESTIONS.items():
        arguments = {part: values[part] for part in question.states}
        for push in pushed if question.wrenches else (False,):
            wrenches = {'wrenches': state.wrenches} if push else {}
            result.append(Asked(key_of(robot.model, name, pushed=push), {**arguments, **wrenches}))
    for name, question in FRAME_QUESTIONS.items():
        arguments = {part: values[part] for part in question.states}
        for local in ({'local': False}, {'local': True}) if question.local else ({},):
            key = key_of(robot.model, name, (frame, *local.values()))
            result.append(Asked(key, {**arguments, 'frame': frame, **local}))
    return result


def listed(answer):
    """Return one array or a tuple of arrays as a list."""
    return list(answer) if isinstance(answer, tuple) else [answer]
