"""Which kernels there are in task space: as in `questions`, one per set of frames and kinds."""

from dynamics_node.compiler.question import Question
from dynamics_node.task_space.newton_step import Step, newton_step

# In place of a frame it takes ((frame, kind), ...).
TASKS = {
    'newton_step': Question(('q', 'goal', 'limits', 'caution'),
                            (lambda *asked: tuple(newton_step(*asked)),), kind=Step),
}
