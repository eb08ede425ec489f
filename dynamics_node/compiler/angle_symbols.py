"""Find the angles of sines and cosines that can be computed before all else."""

from dynamics_node.compiler.graph import Op, Symbol
from dynamics_node.compiler.trace import Program

POLYNOMIAL = (Op.ADD, Op.SUB, Op.MUL, Op.NEG, Op.INPUT, Op.CONST)


def angle_symbols(program: Program) -> set[int]:
    """Return the numbers of the angles that are polynomials of inputs, and of their operands."""
    wanted: set[int] = set()
    sine, cosine = Op.SIN, Op.COS   # reading an attribute of an Enum is slow
    for symbol in program.symbols:
        if symbol.op is sine or symbol.op is cosine:
            wanted |= _polynomial(symbol.args[0])
    return wanted


def _polynomial(angle: Symbol) -> set[int]:
    """Return the numbers of a symbol and its operands; none if it is not a polynomial of inputs."""
    found: set[int] = set()
    stack = [angle]
    while stack:
        symbol = stack.pop()
        if symbol.op not in POLYNOMIAL:
            return set()
        if symbol.number not in found:
            found.add(symbol.number)
            if symbol.op not in (Op.INPUT, Op.CONST):
                stack.extend(symbol.args)
    return found
