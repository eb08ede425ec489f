"""Compute the torque of a measured state and a reference: pure functions."""
