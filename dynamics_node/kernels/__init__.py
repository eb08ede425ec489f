"""Declare, trace, build and keep the kernels of a robot; table.py lists them all."""
