"""Find a convention of joints under which a recording agrees with the URDF.

With wrong zeros, signs, axes or names, most of a torque stays unexplained, whatever the masses are.
Frequent mistakes of this kind are tried one by one, and one that explains most of the rest is
named. Parts of the torque that friction, armature and offset can explain are removed first.
Factors between measured and predicted torques are ignored here: see torque_factors.py.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.identification.loop_equations import project
from dynamics_node.identification.recording import Recording
from dynamics_node.robot.robot import Robot

POOR = 0.5            # unexplained share of a torque above which conventions are tried
BETTER = 0.6          # least decrease of the sum of unexplained shares under another convention
WORSE = 0.1           # greatest increase of that of one joint
SAME = 0.05           # conventions whose sums differ by less are all named
SAMPLES = 150         # greatest number of samples that are compared
QUARTER = np.pi / 2.0


def other_convention(robot: Robot, recording: Recording, judged: np.ndarray,
                     loops: LoopMotion | None = None) -> str | None:
    """Return the conventions that the recording may have, in words; None: none is better.

    :param recording: SAMPLES of it are used.
    :param judged: (k,) whether the URDF determines the torque of each joint with a motor.
    """
    recording = recording.rows(slice(None, None, 1 + len(recording.time) // SAMPLES))
    now = unexplained(robot, recording, loops)[judged]
    if not (now > POOR).any():
        return None
    found = [(unexplained(robot, other, loops)[judged] - now, text)
             for text, other in _conventions(robot, recording, loops)]
    good = [(change.sum(), text) for change, text in found
            if change.sum() < -BETTER and change.max() < WORSE]
    best = min(good, default=(0.0, ''))[0]
    texts = [text for change, text in sorted(good) if change < best + SAME]
    return ', or '.join(texts) or None


def unexplained(robot: Robot, recording: Recording, loops: LoopMotion | None = None) -> np.ndarray:
    """Return the share of each torque that is not a positive multiple of the URDF's, 0 to 1."""
    model = project(loops, recording.q,
                    robot.inverse_dynamics(recording.q, recording.v, recording.a))
    rows = np.arange(robot.nv) if loops is None else loops.independent
    driven = recording.with_effort if loops is None else np.flatnonzero(loops.active[rows])
    return np.array([_unexplained(recording.tau[:, rows[k]], model[:, k], recording.v[:, rows[k]],
                                  recording.a[:, rows[k]], robot.model.friction_speed)
                     for k in driven])


def _unexplained(tau: np.ndarray, model: np.ndarray, v: np.ndarray, a: np.ndarray, speed: float
                 ) -> float:
    tau, model = (without_joint_part(x, v, a, speed) for x in (tau, model))
    sizes = float(np.linalg.norm(tau) * np.linalg.norm(model))
    return 1.0 - max(float(tau @ model) / sizes, 0.0) ** 2 if sizes > 0.0 else 1.0


def without_joint_part(x: np.ndarray, v: np.ndarray, a: np.ndarray, speed: float) -> np.ndarray:
    """Return a torque without what offset, friction and armature of its joint can explain, (N,).

    :param speed: speed at which 71 % of dry friction acts.
    """
    Q = np.linalg.qr(np.column_stack([np.ones_like(v), v, v / np.hypot(v, speed), a]))[0]
    return x - Q @ (Q.T @ x)


def _conventions(robot: Robot, recording: Recording, loops: LoopMotion | None
                 ) -> Iterator[tuple[str, Recording]]:
    """Yield (convention, the recording converted from it to that of the URDF)."""
    names = robot.dof_names
    rows = (recording.with_effort if loops is None else
            loops.independent[loops.active[loops.independent]])
    for k in rows:
        yield (f"the effort of joint '{names[k]}' has the opposite sign of the URDF's: invert it",
               _changed(recording, k, tau=-1.0))
    for i, k in combinations(rows, 2):
        yield (f"the efforts of joints '{names[i]}' and '{names[k]}' are swapped",
               _swapped(recording, i, k, 'tau'))
    if loops is not None:
        return   # positions must satisfy the loops
    for k in rows:
        yield (f"joint '{names[k]}' turns the other way than in the URDF: invert its axis there, "
               'or its position and its effort', _changed(recording, k, -1.0, -1.0, -1.0, -1.0))
    for i, k in combinations(rows, 2):
        yield (f"joints '{names[i]}' and '{names[k]}' are swapped: check the order of names",
               _swapped(recording, i, k, 'q', 'v', 'a', 'tau'))
    for joint in robot.model.joints:
        for turn in (1, -1, 2) if joint.kind != 'prismatic' else ():
            yield (f"the zero of joint '{joint.name}' is off by {90 * turn} degrees: subtract them "
                   'from its position', _moved(recording, joint.v.start, -turn * QUARTER))


def _changed(recording: Recording, k: int, q: float = 1.0, v: float = 1.0, a: float = 1.0,
             tau: float = 1.0) -> Recording:
    """Return the recording with the columns of a joint multiplied by factors."""
    factors = np.ones((4, recording.v.shape[1]))
    factors[:, k] = q, v, a, tau
    return recording._replace(**{name: getattr(recording, name) * row for name, row in zip(
        ('q', 'v', 'a', 'tau'), factors) if (row != 1.0).any()})


def _swapped(recording: Recording, i: int, k: int, *fields: str) -> Recording:
    order = np.arange(recording.v.shape[1])
    order[[i, k]] = k, i
    return recording._replace(**{name: getattr(recording, name)[:, order] for name in fields})


def _moved(recording: Recording, k: int, by: float) -> Recording:
    q = recording.q.copy()
    q[:, k] += by
    return recording._replace(q=q)
