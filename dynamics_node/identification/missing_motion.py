"""Name the motions that would determine the parameters that a recording does not determine.

A base parameter is named after its first term, such as link_4.mcx or joint_2.viscous; its kind says
what the motion lacks.
"""

from collections.abc import Sequence

from dynamics_node.model.model import Model

OF_KIND = {   # kind of a parameter -> what to do with its joint
    'm': 'a pose change of its links against gravity', 'mc': 'a wider range of positions',
    'I': 'greater accelerations and velocities, also of the joints before it',
    'armature': 'greater accelerations', 'viscous': 'a wider range of velocities',
    'coulomb': 'more slow motion in both directions', 'offset': 'motion in both directions',
    'stribeck': 'slow motion at several velocities',
    'coulomb_asymmetry': 'more slow motion in both directions',
    'viscous_asymmetry': 'a wider range of velocities in both directions',
    'load': 'motion with small and with large loads'}


def missing_motion(model: Model, names: Sequence[str]) -> str:
    """Return what to record so that the named parameters are determined; '' if there are none.

    :param names: names of base parameters that the data do not determine.
    """
    joints = {body.name: body.joint_name for body in model.bodies}
    wanted: dict[str, list[str]] = {}
    for name in names:
        of, _, kind = name.rpartition('.')
        texts = wanted.setdefault(joints.get(of, of), [])
        text = OF_KIND[_kind(kind.removeprefix('motor_'))]   # of a motor: the same
        if text not in texts:
            texts.append(text)
    return '; '.join(f'{joint}: {", ".join(texts)}' for joint, texts in wanted.items())


def _kind(parameter: str) -> str:
    """Return 'mc' for 'mcx' and so on, 'I' for an inertia, other names as they are."""
    for kind in ('mc', 'I'):
        if parameter.startswith(kind):
            return kind
    return parameter
