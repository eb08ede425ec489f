"""Declare the kernels of quantities of each link: poses, reactions, accelerations, energies.

`derivative=True`: they are compiled at their first use, not with every robot.
"""

from collections.abc import Sequence

from dynamics_node.algorithms.frame_acceleration import frame_acceleration
from dynamics_node.algorithms.joint_reactions import JointReactions, joint_reactions
from dynamics_node.algorithms.kinematics import body_pose_matrices
from dynamics_node.algorithms.link_energies import LinkEnergies, link_energies
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.kernels import autodiff
from dynamics_node.kernels.interpret import interpreted
from dynamics_node.kernels.result_types import JointReactionsDerivatives
from dynamics_node.kernels.spec import FRAME, WITH_WRENCHES, KernelSpec
from dynamics_node.model.model import Model

MOTION = ('q', 'v', 'a')
# Of the derivatives; a larger program takes minutes to compile.
MOST_NUMBERS = 10_000


def _is_small(model: Model, _: Sequence[Constraint]) -> bool:
    return 18 * len(model.bodies) * model.nv <= MOST_NUMBERS


LINKS = (
    KernelSpec('joint_reactions', 'Wrench of each joint and acceleration of each link.',
               MOTION, (('bodies', 6),) * 2, (joint_reactions,), wrenches=WITH_WRENCHES,
               derivative=True, regroup=False, result=JointReactions),
    KernelSpec('joint_reactions_derivatives', 'Derivatives of the wrench of each joint.',
               MOTION, (('bodies', 6, 'nv'),) * 3, (autodiff.joint_reactions_derivatives,),
               interpreted(autodiff.joint_reactions_derivatives, (*MOTION, *WITH_WRENCHES)),
               wrenches=WITH_WRENCHES, derivative=True, regroup=False, fits=_is_small,
               result=JointReactionsDerivatives),
    KernelSpec('body_poses', 'Homogeneous matrix of each moving link in the world.',
               ('q',), (('bodies', 4, 4),), (body_pose_matrices,), payload=False, derivative=True),
    KernelSpec('link_energies', 'Kinetic and potential energy of each link [J].',
               ('q', 'v'), (('bodies',),) * 2, (link_energies,), derivative=True, regroup=False,
               result=LinkEnergies),
)
FRAME_MOTIONS = (
    KernelSpec('frame_acceleration', "Linear and angular acceleration of a frame's origin.",
               MOTION, ((6,),), (frame_acceleration,), subject=FRAME, payload=False, local=True,
               derivative=True),
)
