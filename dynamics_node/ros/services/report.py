"""What the robot is, and whether it computes right."""

import json

from dynamics_node.constrained.constraint import row_names
from dynamics_node.robot.self_test import self_test as run_self_test
from dynamics_node.ros import convert


def model_report(desk, _, response):
    """Fill a ModelReport response."""
    robot = desk.robot
    report, joints = robot.report(), robot.model.joints
    response.robot, response.report = report.name, str(report) + _loops(robot.loops)
    response.json = json.dumps(report.as_dict(), allow_nan=False)
    response.model_id = desk.held.model_id
    response.total_mass = report.total_mass
    response.joint_names = [joint.name for joint in joints]
    response.joint_types = [joint.kind for joint in joints]
    response.lower_position = [joint.lower for joint in joints]
    response.upper_position = [joint.upper for joint in joints]
    response.max_velocity = [joint.max_velocity for joint in joints]
    response.max_effort = [joint.max_effort for joint in joints]
    response.frame_names = list(robot.frame_names)
    desk.catch_up()
    response.never_measured = desk.state.never_measured
    response.findings = [f'{found.level}: {found.where}: {found.text}'
                         for found in report.findings]
    response.gravity = convert.vector3(robot.gravity)
    response.compiled = robot.compiled
    response.success = True
    return response


def _loops(loops):
    """Return the lines about what closes the loops of the robot."""
    if not loops.constraints:
        return ''
    held = '\n'.join(f'  {constraint.name}: {constraint.kind}'
                     + (f' of {constraint.frame} to {constraint.to}' if constraint.frame else
                        f' of {" and ".join(constraint.joints)}')
                     for constraint in loops.constraints)
    return (f'\n\nloops, {len(row_names(loops.constraints))} rows:\n{held}\n'
            f'passive joints: {", ".join(loops.passive) or "none"}')


def self_test(desk, request, response):
    """Fill a SelfTest response."""
    robot = desk.robot
    result = run_self_test(robot, samples=request.samples or 10, seed=request.seed)
    response.passed, response.report = result.passed, str(result)
    response.checks = [check.name for check in result.checks]
    response.residuals = [float(check.residual) for check in result.checks]
    response.tolerances = [float(check.tolerance) for check in result.checks]
    response.model_id = desk.held.model_id
    response.success = True
    return response
