"""What is to be said of an identification in which loops were used?"""

from typing import NamedTuple

from dynamics_node.identification.identifiability import ALONE, NEVER, base_parameters


class LoopSummary(NamedTuple):
    """Which equations there were, and what they cannot tell."""

    constraints: tuple   # names of the loop constraints
    rows: tuple          # independent joints, one equation each per sample
    motors: tuple        # joints whose measured efforts are in these equations
    passive: tuple       # joints without a motor: no effort is needed
    hidden: tuple        # parameters that efforts of all joints of the open tree would tell, alone
    #                      or in combination, and these equations do not tell at all
    merged: tuple        # parameters that efforts of the tree tell alone, these in combination only

    @property
    def spare(self):
        """How many motors there are beyond the driven freedoms."""
        return len(self.motors) - sum(name in self.motors for name in self.rows)

    def __str__(self):
        lines = [f'closed loops ({", ".join(self.constraints) or "none"}) were used: '
                 f'{len(self.rows)} equation{"s" if len(self.rows) > 1 else ""} per sample, of '
                 f'{", ".join(self.rows)}; forces in the loops are not in them']
        if self.spare:
            lines.append(f'{self.spare} more motors than freedoms: the efforts of '
                         f'{", ".join(self.motors)} count only in the sums that move the '
                         'mechanism, not how the motors work against each other')
        if self.hidden:
            lines.append('because of the loops nothing tells: ' + ', '.join(self.hidden))
        if self.merged:
            lines.append('because of the loops only combinations tell: ' + ', '.join(self.merged))
        return '\n'.join(lines)


def loop_summary(robot, base):
    """Return the LoopSummary of a robot with loops and its BaseParameters."""
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
