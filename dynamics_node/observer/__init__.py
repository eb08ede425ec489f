"""Who pushes the robot? Torques from outside, found without a force sensor. Pure: time is given."""
