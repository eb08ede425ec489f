"""Declare the kernels of inverse kinematics and of the whole-body problem.

One per set of frames and kinds of targets, and one per set of tasks and constraints.
"""

from collections.abc import Sequence

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.kernels.spec import NUMBER, TARGETS, WHOLE_BODY, WITH_WRENCHES, KernelSpec
from dynamics_node.model.model import Model
from dynamics_node.task_space.closed_form import arm_solution
from dynamics_node.task_space.newton_step import NewtonStep, newton_step
from dynamics_node.task_space.torque_space import TorqueSpace, refused, torque_space

MOST_SOLVED = 25_000  # entries of L, times columns: 16,000 for TALOS, with 44,000 instructions


def is_small(model: Model, constraints: Sequence[Constraint]) -> bool:
    """Return whether a program that solves M X = B for nv columns is small enough."""
    entries = sum(1 + len(list(model.ancestors(i))) for i in range(len(model.bodies)))
    return entries * model.nv <= MOST_SOLVED


TASK_SPACE = (
    KernelSpec('newton_step', 'Next configuration on the way to targets: a damped Newton step.',
               ('q', 'goal', 'limits', 'caution'),
               (('nq',), NUMBER, NUMBER, NUMBER, ('targets',)), (newton_step,), result=NewtonStep,
               subject=TARGETS, payload=False, direct=False),
    KernelSpec('arm_solution', 'Cosines and sines of the joints of one closed-form solution.',
               ('q', 'goal', 'branch'), ((6, 2),), (arm_solution,), subject=TARGETS,
               payload=False, direct=False),
    KernelSpec('torque_space', 'Rows of whole-body tasks, accelerations and forces by torques.',
               ('q', 'v', 'numbers', 'stabilisation'),
               (('unknowns and tasks', 'actuated and 1'), (2, 'limited')),
               (torque_space,), refused, TorqueSpace, margins=True, subject=WHOLE_BODY,
               wrenches=WITH_WRENCHES, friction=True, direct=False, regroup=False,
               fits=is_small),
)
