"""Offer Robot, the main class of the library: argument checks, dispatch to a kernel or NumPy."""

from dynamics_node.robot.robot import Robot

__all__ = ['Robot']
