"""Dynamics of any robot in a URDF: as a Python library, and served to ROS 2."""

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.friction_cone import check_contacts
from dynamics_node.errors import DynamicsError, ModelError, SingularModel, UnknownName
from dynamics_node.model.report import ModelReport, model_report
from dynamics_node.robot.robot import Robot
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.motion import FrameMotion, Tracking
from dynamics_node.task_space.target import Target
from dynamics_node.task_space.tasks import Task

__version__ = '0.1.0'

__all__ = [
    'Bound',
    'Constraint',
    'DynamicsError',
    'FrameMotion',
    'ModelError',
    'ModelReport',
    'Robot',
    'SingularModel',
    'Target',
    'Task',
    'Tracking',
    'UnknownName',
    'check_contacts',
    'model_report',
]
