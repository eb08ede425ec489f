"""Count the operations of a program, and select those that are fused."""

from collections import Counter
from collections.abc import Set

from dynamics_node.compiler.graph import Op
from dynamics_node.compiler.trace import Program


def instructions(program: Program, fused: Set[int] | None = None) -> int:
    """Return the number of floating-point instructions of a program, fused ones counted once.

    :param fused: fused_products(program), where they are known.
    """
    looped = 0 if program.rows is None else program.rows.instructions
    return straight_line(program, fused) + looped


def straight_line(program: Program, fused: Set[int] | None = None) -> int:
    """Return the number of instructions that are not in loops, each part of the code.

    :param fused: fused_products(program), where they are known.
    """
    operations = [symbol.op for symbol in program.symbols]
    arithmetic = sum(map(operations.count, (Op.ADD, Op.SUB, Op.MUL, Op.RECIP, Op.SQRT)))
    return arithmetic - len(fused_products(program) if fused is None else fused)


def count(program: Program) -> Counter[str]:
    """Return {'mul': ..., 'add': ..., ...}: the number of each operation."""
    names = {Op.MUL: 'mul', Op.ADD: 'add', Op.SUB: 'add', Op.RECIP: 'div', Op.SQRT: 'sqrt',
             Op.SIN: 'sin', Op.COS: 'cos', Op.STEP: 'step'}
    return Counter(names[symbol.op] for symbol in program.symbols if symbol.op in names)


def fused_products(program: Program) -> set[int]:
    """Return the numbers of the products that are part of a fused multiply-add."""
    last = max((symbol.number for symbol in program.symbols), default=0)
    uses = [0] * (last + 1)
    sums = []
    add, sub, mul, const, given = Op.ADD, Op.SUB, Op.MUL, Op.CONST, Op.INPUT
    for symbol in program.symbols:
        op = symbol.op
        if op is not const and op is not given:
            for arg in symbol.args:
                uses[arg.number] += 1
            if op is add or op is sub:
                sums.append(symbol.args)
    for symbol in program.outputs:
        uses[symbol.number] += 1
    fused = set()
    for x, y in sums:
        if y.op is mul and uses[y.number] == 1:
            fused.add(y.number)
        elif x.op is mul and uses[x.number] == 1:
            fused.add(x.number)
    return fused
