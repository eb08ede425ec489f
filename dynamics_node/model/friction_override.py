"""Override the joint damping and friction of the URDF."""

from collections.abc import Mapping

from dynamics_node.checks import at_least_zero, mapping
from dynamics_node.model.model import Model


def with_friction(model: Model, damping: Mapping[str, float] | None = None,
                  friction: Mapping[str, float] | None = None) -> Model:
    """Return the model with other damping and dry friction at some joints.

    :param damping: joint name -> [N m s/rad or N s/m], for each of its degrees of freedom.
    :param friction: joint name -> [N m or N].
    """
    changes = {}
    for key, values in (('damping', damping), ('friction', friction)):
        changes[key] = getattr(model, key).copy()
        for name, value in mapping(key, {} if values is None else values, "{'joint': 0.1}").items():
            changes[key][model.joint(name).v] = at_least_zero(f"{key}['{name}']", value)
    return model.with_(**changes)
