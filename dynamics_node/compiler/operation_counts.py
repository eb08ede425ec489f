"""Count the operations of a program, and select those that are fused."""

from collections import Counter
from collections.abc import Set

from dynamics_node.compiler.graph import Op
from dynamics_node.compiler.trace import Program


def instructions(program: Program) -> int:
    """Return the number of floating-point instructions of a program, fused ones counted once."""
    return straight_line(program) + (0 if program.rows is None else program.rows.instructions)


def straight_line(program: Program, fused: Set[int] | None = None) -> int:
    """Return the number of instructions that are not in loops, each part of the code.

    :param fused: fused_products(program), where they are known.
    """
    arithmetic = [s for s in program.symbols if s.op in (Op.ADD, Op.SUB, Op.MUL, Op.RECIP, Op.SQRT)]
    return len(arithmetic) - len(fused_products(program) if fused is None else fused)


def count(program: Program) -> Counter[str]:
    """Return {'mul': ..., 'add': ..., ...}: the number of each operation."""
    names = {Op.MUL: 'mul', Op.ADD: 'add', Op.SUB: 'add', Op.RECIP: 'div', Op.SQRT: 'sqrt',
             Op.SIN: 'sin', Op.COS: 'cos', Op.STEP: 'step'}
    return Counter(names[symbol.op] for symbol in program.symbols if symbol.op in names)


def fused_products(program: Program) -> set[int]:
    """Return the numbers of the products that are part of a fused multiply-add."""
    uses: dict[int, int] = {}
    for symbol in program.symbols:
        if symbol.op not in (Op.INPUT, Op.CONST):
            for arg in symbol.args:
                uses[arg.number] = uses.get(arg.number, 0) + 1
    for symbol in program.outputs:
        uses[symbol.number] = uses.get(symbol.number, 0) + 1
    fused = set()
    for symbol in program.symbols:
        if symbol.op in (Op.ADD, Op.SUB):
            for arg in reversed(symbol.args):
                if arg.op is Op.MUL and uses[arg.number] == 1:
                    fused.add(arg.number)
                    break
    return fused
