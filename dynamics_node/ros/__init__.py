"""Connect the library to ROS 2: the only folder that imports rclpy or messages."""
