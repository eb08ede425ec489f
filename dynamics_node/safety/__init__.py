"""Wanted torque -> permitted torque. Pure: NumPy only, the time comes in with every call.

limits_of: what the robot can bear, joint by joint, as the URDF or the user says.
Settings: how strict the gate is: ages, ramps, margins, what "safe" means.
gate_limits_of: both together, as numbers ready to be enforced.
Gate: the only producer of a torque that may be published: enable, step, tick, disable, last.
"""

from dynamics_node.safety.faults import Refused
from dynamics_node.safety.gate import Gate
from dynamics_node.safety.gate_limits import GateLimits, gate_limits_of
from dynamics_node.safety.limits import JointLimits, limits_of
from dynamics_node.safety.records import Measured, Proposal, Release, State, Status
from dynamics_node.safety.settings import SafetySettings

__all__ = ['Gate', 'JointLimits', 'Measured', 'Proposal', 'Refused', 'Release', 'GateLimits',
           'SafetySettings',
           'State', 'Status', 'limits_of', 'gate_limits_of']
