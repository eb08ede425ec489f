"""Wanted torque -> permitted torque. Pure: NumPy only, the time comes in with every call.

limits_of: what the robot can bear, joint by joint, as the URDF or the user says.
Settings: how strict the gate is: ages, ramps, margins, what "safe" means.
rules_of: both together, as numbers ready to be enforced.
Gate: the only producer of a torque that may be published: enable, step, tick, disable, last.
"""

from dynamics_node.safety.faults import Refused
from dynamics_node.safety.gate import Gate
from dynamics_node.safety.limits import Limits, limits_of
from dynamics_node.safety.records import Measured, Proposal, Release, State, Status
from dynamics_node.safety.rules import Rules, rules_of
from dynamics_node.safety.settings import Settings

__all__ = ['Gate', 'Limits', 'Measured', 'Proposal', 'Refused', 'Release', 'Rules', 'Settings',
           'State', 'Status', 'limits_of', 'rules_of']
