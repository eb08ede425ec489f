"""Which kernels there are in task space: as in `questions`, one per set of frames and kinds."""

from dynamics_node.kernels.spec import KernelSpec
from dynamics_node.task_space.newton_step import NewtonStep, newton_step

# In place of a frame it takes ((frame, kind), ...).
TASKS = {
    'newton_step': KernelSpec(('q', 'goal', 'limits', 'caution'),
                            (lambda *asked: tuple(newton_step(*asked)),), kind=NewtonStep),
}
