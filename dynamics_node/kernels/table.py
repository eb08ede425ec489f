"""List all kernels by name. A new KernelSpec belongs in a *_specs.py, in one of these tuples."""

from dynamics_node.kernels.closed_specs import CLOSED
from dynamics_node.kernels.constrained_specs import CONSTRAINED
from dynamics_node.kernels.derivative_specs import DERIVATIVES, FRAME_DERIVATIVES
from dynamics_node.kernels.dynamics_specs import DYNAMICS, FRAMES
from dynamics_node.kernels.link_specs import FRAME_MOTIONS, LINKS
from dynamics_node.kernels.spec import KernelSpec
from dynamics_node.kernels.spring_specs import SPRINGS
from dynamics_node.kernels.task_specs import TASK_SPACE

SPECS = (*DYNAMICS, *FRAMES, *DERIVATIVES, *FRAME_DERIVATIVES, *LINKS, *FRAME_MOTIONS,
         *CONSTRAINED, *CLOSED, *TASK_SPACE, *SPRINGS)
ALL_KERNELS: dict[str, KernelSpec] = {spec.name: spec for spec in SPECS}


def specs_of(subject: str, derivatives: bool = True) -> list[KernelSpec]:
    """Return the specs of a subject, those of derivatives only if they are wanted."""
    return [spec for spec in SPECS if spec.subject == subject
            and (derivatives or not spec.derivative)]
