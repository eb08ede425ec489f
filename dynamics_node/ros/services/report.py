"""Serve ~/model_report and ~/self_test."""

import json

from dynamics_node.constrained.constraint import row_names
from dynamics_node.constrained.read_loops import Loops
from dynamics_node.model.force_elements import LineElement
from dynamics_node.robot.robot import Robot
from dynamics_node.robot.self_test import self_test as run_self_test
from dynamics_node.ros import convert
from dynamics_node.ros.node_state import NodeState
from dynamics_node.srv import ModelReport, SelfTest


def model_report(node_state: NodeState, _: ModelReport.Request,
                 response: ModelReport.Response) -> ModelReport.Response:
    """Fill a ModelReport response."""
    robot = node_state.robot
    report, joints = robot.report(), robot.model.joints
    response.robot, response.report = (
        report.name, str(report) + _loops(robot.loops) + _force_elements(robot))
    response.json = json.dumps(report.as_dict(), allow_nan=False)
    response.model_id = node_state.current_robot.model_id
    response.total_mass = report.total_mass
    response.joint_names = [joint.name for joint in joints]
    response.joint_types = [joint.kind for joint in joints]
    response.lower_position = [joint.lower for joint in joints]
    response.upper_position = [joint.upper for joint in joints]
    response.max_velocity = [joint.max_velocity for joint in joints]
    response.max_effort = [joint.max_effort for joint in joints]
    response.frame_names = list(robot.frame_names)
    response.never_measured = node_state.snapshot().never_measured
    response.findings = [f'{found.level}: {found.where}: {found.text}'
                         for found in report.findings]
    response.gravity = convert.vector3(robot.gravity)
    response.compiled = robot.compiled
    response.success = True
    return response


def _loops(loops: Loops) -> str:
    """Return the lines of the report about closed loops."""
    if not loops.constraints:
        return ''
    lines = '\n'.join(f'  {constraint.name}: {constraint.kind}'
                      + (f' of {constraint.frame} to {constraint.to}' if constraint.frame else
                         f' of {" and ".join(constraint.joints)}')
                      for constraint in loops.constraints)
    return (f'\n\nloops, {len(row_names(loops.constraints))} rows:\n{lines}\n'
            f'passive joints: {", ".join(loops.passive) or "none"}')


def _force_elements(robot: Robot) -> str:
    """Return the lines of the report about springs and linear actuators."""
    springs = [f'  {spring.name}: at {spring.joint}' if spring.joint else _line(spring)
               for spring in robot.springs]
    actuators = [_line(actuator) for actuator in robot.actuators]
    return ''.join('\n'.join(['', '', f'{what}:', *lines])
                   for what, lines in (('springs', springs), ('actuators', actuators)) if lines)


def _line(element: LineElement) -> str:
    return f'  {element.name}: from {element.frame} to {element.to}'


def self_test(node_state: NodeState, request: SelfTest.Request,
              response: SelfTest.Response) -> SelfTest.Response:
    """Fill a SelfTest response."""
    robot = node_state.robot
    result = run_self_test(robot, samples=request.samples or 10, seed=request.seed)
    response.passed, response.report = result.passed, str(result)
    response.checks = [check.name for check in result.checks]
    response.residuals = [float(check.residual) for check in result.checks]
    response.tolerances = [float(check.tolerance) for check in result.checks]
    response.model_id = node_state.current_robot.model_id
    response.success = True
    return response
