"""Declare the parameters `model.*`: the greatest sizes of robot descriptions."""

from dataclasses import dataclass

from dynamics_node.parameter import parameter


@dataclass(frozen=True)
class ModelSizeParameters:
    """Greatest sizes of robot descriptions."""

    max_elements: int = parameter(
        50_000, 'Greatest number of XML elements of a URDF, those in comments included.',
        bounds=(1, 10_000_000))
    max_joints: int = parameter(
        1000, 'Greatest number of elements <joint> of a URDF, fixed ones and those of '
        'transmissions included.', bounds=(1, 100_000))
    max_name: int = parameter(
        200, 'Greatest number of characters of a name in a URDF.', bounds=(1, 10_000))
    max_compiled: int = parameter(
        100, 'Greatest number of degrees of freedom of a robot that is compiled; a larger one is '
        'computed by NumPy.', bounds=(1, 100_000))
    max_loops: int = parameter(
        50, 'Greatest number of constraints in the parameter constraints.', bounds=(1, 1000))
    max_springs: int = parameter(
        50, 'Greatest number of springs and actuators in the parameter springs.', bounds=(1, 1000))
