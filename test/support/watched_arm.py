"""The rules with which the watchdog ends the torques of the bundled arm."""

from dynamics_node import Robot
from dynamics_node.control.controller import Controller
from dynamics_node.example_robots import ARM7
from dynamics_node.ros.torque.last_torque import ExitRules
from dynamics_node.ros.torque.predicted_state import without_kernels
from dynamics_node.safety import SafetySettings, gate_limits_of, limits_of

ARM = Robot.from_urdf(ARM7, friction=False, compile=False)
ORDER = [3, 0, 6, 1, 5, 2, 4]   # of publication


def rules(**settings):
    """Return the ExitRules with some settings."""
    limits = gate_limits_of(limits_of(ARM), SafetySettings(**settings))
    return ExitRules([ARM.joint_names[k] for k in ORDER], ORDER, limits,
                     without_kernels(Controller(ARM)))


RULES = rules(watchdog_time=0.25)
