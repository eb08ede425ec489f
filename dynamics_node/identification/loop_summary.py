"""Summarise the equations of an identification with closed loops."""

from typing import NamedTuple

from dynamics_node.identification.identifiable_parameters import (
    ALONE,
    NEVER,
    BaseParameters,
    base_parameters,
)
from dynamics_node.robot.robot import Robot


class LoopSummary(NamedTuple):
    """The equations that were used, and the parameters that they do not determine."""

    constraints: tuple[str, ...]   # names of the loop constraints
    rows: tuple[str, ...]          # independent joints, one equation each per sample
    motors: tuple[str, ...]        # joints whose measured efforts are in these equations
    passive: tuple[str, ...]       # joints without a motor: no effort is needed
    hidden: tuple[str, ...]        # parameters that efforts of the open tree would determine, alone
    #                                or in combination, and these equations do not
    merged: tuple[str, ...]        # parameters that the open tree determines alone, these equations
    #                                in combination only

    @property
    def spare(self) -> int:
        """Number of motors beyond the driven degrees of freedom."""
        return len(self.motors) - sum(name in self.motors for name in self.rows)

    def __str__(self) -> str:
        lines = [f'closed loops ({", ".join(self.constraints) or "none"}) were used: '
                 f'{len(self.rows)} equation{"s" if len(self.rows) > 1 else ""} per sample, of '
                 f'{", ".join(self.rows)}; forces in the loops are not in them']
        if self.spare:
            lines.append(f'{self.spare} more motors than degrees of freedom: of the efforts of '
                         f'{", ".join(self.motors)} only the sums that move the mechanism are '
                         'used, not the internal forces')
        if self.hidden:
            lines.append('not determined because of the loops: ' + ', '.join(self.hidden))
        if self.merged:
            lines.append('only in combination because of the loops: ' + ', '.join(self.merged))
        return '\n'.join(lines)


def loop_summary(robot: Robot, base: BaseParameters) -> LoopSummary:
    """Return the LoopSummary of a robot with loops and its BaseParameters."""
    assert base.loops is not None
    loops, layout = base.loops, base.layout
    tree = robot.with_loops(None)
    open_kinds = base_parameters(tree, layout).kinds
    kinds = [(name, before, now) for name, before, now, known in zip(
        layout.names, open_kinds, base.kinds, layout.known) if not known]
    motors = [joint.name for joint in robot.model.joints if loops.active[joint.v].all()]
    return LoopSummary(
        tuple(constraint.name for constraint in loops.constraints), loops.names, tuple(motors),
        tuple(name for name in robot.joint_names if name not in motors),
        tuple(name for name, before, now in kinds if now == NEVER and before != NEVER),
        tuple(name for name, before, now in kinds if before == ALONE and now not in (ALONE, NEVER)))
