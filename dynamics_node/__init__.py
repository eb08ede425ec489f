"""Dynamics of any robot in a URDF: as a Python library, and served to ROS 2."""

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.errors import DynamicsError, ModelError, SingularModel, UnknownName
from dynamics_node.model.report import ModelReport, model_report
from dynamics_node.robot import Robot

__version__ = '0.1.0'

__all__ = [
    'Constraint',
    'DynamicsError',
    'ModelError',
    'ModelReport',
    'Robot',
    'SingularModel',
    'UnknownName',
    'model_report',
]
