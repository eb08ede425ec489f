"""State and reference -> torque: pure functions."""
