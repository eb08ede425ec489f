"""Robot, the one object a user holds; its argument checks; dispatch to kernel or NumPy."""

from dynamics_node.robot.robot import Robot

__all__ = ['Robot']
