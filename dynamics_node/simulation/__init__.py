"""Integrate the motion of a robot over time.

equations_of_motion (t, state -> rates) -> runge_kutta or adaptive (from one time to the next) ->
output_times (all of them). torque_source reads the torques of the caller.
"""
