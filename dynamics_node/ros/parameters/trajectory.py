"""Declare the parameters `trajectory.*`: defaults of goals of ~/follow_joint_trajectory."""

from dataclasses import dataclass

from dynamics_node.parameter import PerJoint, parameter


@dataclass(frozen=True)
class TrajectoryParameters:
    """Goals of ~/follow_joint_trajectory."""

    path_tolerance: PerJoint = parameter(
        PerJoint(0.0), 'Greatest position error on the way, where the goal gives none; 0: any.',
        'rad or m', bounds=(0.0, 100.0))
    goal_tolerance: PerJoint = parameter(
        PerJoint(0.0), 'Greatest position error at the end, where the goal gives none; 0: any.',
        'rad or m', bounds=(0.0, 100.0))
    stopped_velocity_tolerance: float = parameter(
        0.01, 'Greatest speed at the end, where the goal gives none; 0: any.', 'rad/s or m/s',
        bounds=(0.0, 100.0))
    goal_time: float = parameter(
        0.0, 'Time after the end of a trajectory within which the goal tolerances must be met, '
        'where the goal gives none; 0: any.', 's', bounds=(0.0, 3600.0))
    feedback_rate: float = parameter(
        20.0, 'Greatest rate of feedback.', 'Hz', bounds=(0.1, 1000.0))
