"""Differentiate symbols with respect to symbols: the derivatives are symbols of the same graph.

Forward mode propagates tangents from variables to results, one direction at a time; symbols that do
not depend on the direction cost nothing. Reverse mode propagates the sensitivities of one result
back to all variables. A variable may be any symbol; it counts as independent of its operands.
"""

from collections.abc import Collection, Mapping, Sequence

from dynamics_node.compiler.graph import Number, Op, Symbol, is_const


def _square_or_product(symbol: Symbol) -> tuple[Symbol, Number]:
    x, y = symbol.args
    return (2.0 * x, 0.0) if x is y else (y, x)


# d symbol / d argument, for each argument.
PARTIALS = {
    Op.ADD: lambda s: (1.0, 1.0),
    Op.SUB: lambda s: (1.0, -1.0),
    Op.MUL: _square_or_product,
    Op.NEG: lambda s: (-1.0,),
    Op.RECIP: lambda s: (-(s * s),),
    Op.SQRT: lambda s: (0.5 / s,),
    Op.SIN: lambda s: (s.args[0].cos(),),
    Op.COS: lambda s: (-s.args[0].sin(),),
    Op.STEP: lambda s: (0.0,),
}


def tangents(results: Sequence[Number], directions: Sequence[Mapping[Symbol, Number]]
             ) -> list[list[Number]]:
    """Return the derivatives of results along some directions: forward mode.

    :param results: list of symbols or numbers.
    :param directions: list of {variable: its tangent}; other inputs have the tangent zero. A
        variable with the tangent 0.0 is constant, even if its operands are not.
    :return: a list per direction, of as many symbols or numbers as there are results.
    """
    operations = operations_of(results)
    return [_tangents_along(operations, results, direction) for direction in directions]


def _tangents_along(operations: Sequence[Symbol], results: Sequence[Number],
                    direction: Mapping[Symbol, Number]) -> list[Number]:
    known = {variable.number: None if _is_zero(tangent) else tangent  # None: constant
             for variable, tangent in direction.items()}
    moving = {number for number, tangent in known.items() if tangent is not None}
    for symbol in operations:
        args = symbol.args   # one or two
        if args[0].number not in moving and args[-1].number not in moving or symbol.number in known:
            continue
        tangent = 0.0
        for arg, partial in zip(args, PARTIALS[symbol.op](symbol)):
            if arg.number in moving:
                tangent = partial * known[arg.number] + tangent
        if _is_zero(tangent):
            known[symbol.number] = None
        else:
            known[symbol.number] = tangent
            moving.add(symbol.number)
    found = [known.get(result.number) if isinstance(result, Symbol) else None
             for result in results]
    return [0.0 if tangent is None else tangent for tangent in found]


def gradient(result: Symbol, variables: Sequence[Symbol]) -> list[Number]:
    """Return the derivatives of one symbol with respect to each variable: reverse mode."""
    ends = {variable.number for variable in variables}
    found: dict[int, Number] = {result.number: 1.0}
    for symbol in reversed(operations_of([result], ends)):
        sensitivity = found.get(symbol.number)
        if sensitivity is None or symbol.number in ends:
            continue
        for arg, partial in zip(symbol.args, PARTIALS[symbol.op](symbol)):
            part = partial * sensitivity
            found[arg.number] = part + found[arg.number] if arg.number in found else part
    return [found.get(variable.number, 0.0) for variable in variables]


def operations_of(results: Sequence[Number], ends: Collection[int] = ()) -> list[Symbol]:
    """Return the operations that the results depend on, in order; stop at the numbers in `ends`."""
    stack = [result for result in results if isinstance(result, Symbol)]
    needed: dict[int, Symbol] = {}
    while stack:
        symbol = stack.pop()
        if symbol.number not in needed and symbol.op not in (Op.CONST, Op.INPUT):
            needed[symbol.number] = symbol
            if symbol.number not in ends:
                stack.extend(symbol.args)
    return [needed[number] for number in sorted(needed)]


def _is_zero(tangent: Number) -> bool:
    return is_const(tangent, 0.0) if isinstance(tangent, Symbol) else tangent == 0.0
