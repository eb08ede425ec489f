"""Write what a page shows of a state as JSON."""

import json
import re
from typing import Any

from dynamics_node.inspector.figures import Figures, MotionState
from dynamics_node.reports.digits import plain
from dynamics_node.robot.robot import Robot


def state_record(robot: Robot, state: MotionState, found: Figures, frame: str) -> dict[str, Any]:
    """Return the numbers of a state, as strict JSON values; None for unknown."""
    return plain({
        'robot': robot.name, 'joint_names': robot.joint_names, 'dof_names': robot.dof_names,
        'position': state.q, 'velocity': state.v, 'acceleration': state.a,
        'torque': found.torque, 'parts': found.parts._asdict(), 'effort_limit': found.limit,
        'margin': found.margin, 'mass_matrix': found.mass_matrix,
        'mass_matrix_names': found.matrix_names,
        'center_of_mass': found.center_of_mass, 'tool_frame': frame,
        'greatest_payload': found.greatest_payload, 'gravity': robot.gravity,
        'payloads': robot.payloads})


def state_text(*arguments: Any) -> str:
    """Return the state_record as text."""
    return json.dumps(state_record(*arguments), indent=2, allow_nan=False) + '\n'


def file_name(robot: Robot, suffix: str) -> str:
    """Return a name for a download: letters, digits, '-' and '_' of the robot's name."""
    stem = re.sub(r'[^A-Za-z0-9_-]+', '_', robot.name).strip('_')[:60] or 'robot'
    return f'{stem}{suffix}'
