"""Bring the arm of torque_wire.py into a state of the gate; walk the lifecycle of its node."""

import numpy as np
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState

from dynamics_node.safety.settings import EXIT_TIME
from support.torque_wire import REST

GATE_STATES = ('ramping in', 'enabled', 'ramping out', 'fault')
SLOW_IN, SLOW_OUT = {'safety__ramp_in_time': 30.0}, {'safety__ramp_out_time': EXIT_TIME}
RESTART = (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP,
           Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)


def bring(arm, state, **settings):
    """Begin a case with the gate in a state; the ramps in and out take longer than usual."""
    arm.prepared(**{**(SLOW_IN if state == 'ramping in' else SLOW_OUT), **settings})
    if state == 'ramping in':
        arm.arrive()
        arm.run_until(lambda: arm.enable().success, 'enable')
        arm.run_until(lambda: len(arm.heard) > 5, 'torques')
        return
    arm.enabled()
    if state == 'ramping out':
        assert arm.disable().message == 'ramping out'
    elif state == 'fault':
        arm.v[0] = -5.0   # too fast; the state is valid, so that the ramp ends in gravity
        arm.run_until(lambda: arm.said('fault: '), 'a fault')


def change(arm, *transitions):
    """Ask for lifecycle transitions; return whether all succeeded."""
    return all(arm.ask(ChangeState, 'change_state', ChangeState.Request(
        transition=Transition(id=each))).success for each in transitions)


def moved(joint, by):
    """Return the pose at rest with one joint moved."""
    return REST + by * (np.arange(1, 8) == joint)
