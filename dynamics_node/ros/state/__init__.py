"""Joint states and the state of a floating base, from messages to the measured state."""
