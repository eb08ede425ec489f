"""From the measured state to a torque on a topic; external torques."""
