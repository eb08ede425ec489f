"""Robots that come with the package, for demos and tests."""

from pathlib import Path

ARM7 = Path(__file__).parent / 'arm7.urdf'  # a light 7-axis arm
