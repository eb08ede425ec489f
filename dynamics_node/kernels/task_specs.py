"""Declare the kernels of inverse kinematics, one per set of frames and kinds of targets."""

from dynamics_node.kernels.spec import NUMBER, TARGETS, KernelSpec
from dynamics_node.task_space.closed_form import arm_solution
from dynamics_node.task_space.newton_step import NewtonStep, newton_step

TASK_SPACE = (
    KernelSpec('newton_step', 'Next configuration on the way to targets: a damped Newton step.',
               ('q', 'goal', 'limits', 'caution'),
               (('nq',), NUMBER, NUMBER, NUMBER, ('targets',)), (newton_step,), result=NewtonStep,
               subject=TARGETS, payload=False, direct=False),
    KernelSpec('arm_solution', 'Cosines and sines of the joints of one closed-form solution.',
               ('q', 'goal', 'branch'), ((6, 2),), (arm_solution,), subject=TARGETS,
               payload=False, direct=False),
)
