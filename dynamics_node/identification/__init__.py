"""Motions and torques of a robot in, its inertial, friction and payload parameters out."""
