"""The only room that knows ROS: messages in, messages out, nothing computed here."""
