"""Locate the robots that come with the package, for demos and tests."""

from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent

ARM7 = HERE / 'arm7.urdf'  # a light 7-axis arm


class Mechanism(NamedTuple):
    """A robot with closed loops: a tree and its loop constraints; see docs/mechanisms.md."""

    urdf: Path   # the tree; at q = 0 its loops are closed
    loops: Path  # YAML with `constraints:`, the loops, and `passive:`, the unactuated joints


# Name -> Mechanism.
MECHANISMS = {name: Mechanism(HERE / 'mechanisms' / f'{name}.urdf',
                              HERE / 'mechanisms' / f'{name}.yaml')
              for name in ('four_bar', 'slider_crank', 'five_bar', 'stewart', 'delta', 'gripper')}
