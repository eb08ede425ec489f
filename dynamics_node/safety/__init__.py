"""Turn a wanted torque into a permitted one. Pure: the time comes with every call.

limits_of: the limits of a robot, joint by joint, from the URDF or from the user.
SafetySettings: how strict the gate is: ages, ramps, margins, the safe torque.
gate_limits_of: both together, as the numbers that the gate enforces.
Gate: the only producer of a torque that may be published: enable, step, tick, disable,
    shutdown_sequence.
"""

from typing import TYPE_CHECKING

from dynamics_node.lazy_names import lazy_names

if TYPE_CHECKING:   # editors and type checkers; at run time see lazy_names
    from dynamics_node.safety.faults import Refused
    from dynamics_node.safety.gate import Gate
    from dynamics_node.safety.gate_limits import GateLimits, gate_limits_of
    from dynamics_node.safety.joint_limits import JointLimits, limits_of
    from dynamics_node.safety.records import Measured, Proposal, Release, State, Status
    from dynamics_node.safety.settings import SafetySettings

__all__ = ['Gate', 'GateLimits', 'JointLimits', 'Measured', 'Proposal', 'Refused', 'Release',
           'SafetySettings', 'State', 'Status', 'gate_limits_of', 'limits_of']

__getattr__, __dir__ = lazy_names(__name__, {
    'faults': ('Refused',),
    'gate': ('Gate',),
    'gate_limits': ('GateLimits', 'gate_limits_of'),
    'joint_limits': ('JointLimits', 'limits_of'),
    'records': ('Measured', 'Proposal', 'Release', 'State', 'Status'),
    'settings': ('SafetySettings',),
})
