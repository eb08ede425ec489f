"""Dynamics of any robot in a URDF: as a Python library, and served to ROS 2."""

from typing import TYPE_CHECKING

from dynamics_node.lazy_names import lazy_names

if TYPE_CHECKING:   # editors and type checkers; at run time see lazy_names
    from dynamics_node.constrained.constraint import Constraint
    from dynamics_node.constrained.friction_cone import check_contacts
    from dynamics_node.constrained.rigid_contact import RigidContact
    from dynamics_node.constrained.soft_contact import SoftContact
    from dynamics_node.errors import DynamicsError, ModelError, SingularModel, UnknownName
    from dynamics_node.model.denavit_hartenberg import links_from_dh
    from dynamics_node.model.force_elements import Actuator, Spring
    from dynamics_node.model.links import RobotLink
    from dynamics_node.model.read_mjcf import read_mjcf
    from dynamics_node.model.report import ModelReport, model_report
    from dynamics_node.model.screw_axes import links_from_screws
    from dynamics_node.robot.robot import Robot
    from dynamics_node.task_space.bounds import Bound
    from dynamics_node.task_space.motion import FrameMotion, Tracking
    from dynamics_node.task_space.target import Target
    from dynamics_node.task_space.tasks import Task

__version__ = '0.1.0'

__all__ = [
    'Actuator',
    'Bound',
    'Constraint',
    'DynamicsError',
    'FrameMotion',
    'ModelError',
    'ModelReport',
    'RigidContact',
    'Robot',
    'RobotLink',
    'SingularModel',
    'SoftContact',
    'Spring',
    'Target',
    'Task',
    'Tracking',
    'UnknownName',
    'check_contacts',
    'links_from_dh',
    'links_from_screws',
    'model_report',
    'read_mjcf',
]

if not TYPE_CHECKING:   # a type checker would believe that every name exists
    __getattr__, __dir__ = lazy_names(__name__, {
        'constrained.constraint': ('Constraint',),
        'constrained.friction_cone': ('check_contacts',),
        'constrained.rigid_contact': ('RigidContact',),
        'constrained.soft_contact': ('SoftContact',),
        'errors': ('DynamicsError', 'ModelError', 'SingularModel', 'UnknownName'),
        'model.denavit_hartenberg': ('links_from_dh',),
        'model.force_elements': ('Actuator', 'Spring'),
        'model.links': ('RobotLink',),
        'model.read_mjcf': ('read_mjcf',),
        'model.report': ('ModelReport', 'model_report'),
        'model.screw_axes': ('links_from_screws',),
        'robot.robot': ('Robot',),
        'task_space.bounds': ('Bound',),
        'task_space.motion': ('FrameMotion', 'Tracking'),
        'task_space.target': ('Target',),
        'task_space.tasks': ('Task',),
    })
