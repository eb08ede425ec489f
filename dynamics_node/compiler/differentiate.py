"""Derivatives of symbols with respect to symbols: more lines of the same graph.

Forward mode carries tangents from variables to results, one direction at a time; what a direction
does not touch costs nothing. Reverse mode carries one result's sensitivities back to all variables.
A variable may be any symbol: what it was made of is not looked at.
"""

from dynamics_node.compiler.graph import Op, Symbol, is_const


def _square_or_product(symbol):
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


def tangents(results, directions):
    """Return the derivatives of results along each of some directions: forward mode.

    :param results: list of symbols or numbers.
    :param directions: list of {variable: its tangent}; what is not named stands still. A variable
        with the tangent 0.0 is held, whatever it was made of.
    :return: a list per direction, of as many symbols or numbers as there are results.
    """
    lines = lines_of(results)
    return [_along(lines, results, direction) for direction in directions]


def _along(lines, results, direction):
    known = {variable.number: None if _is_zero(tangent) else tangent  # None: it stands still
             for variable, tangent in direction.items()}
    for symbol in lines:
        if symbol.number in known or not any(known.get(arg.number) is not None
                                             for arg in symbol.args):
            continue
        tangent = 0.0
        for arg, partial in zip(symbol.args, PARTIALS[symbol.op](symbol)):
            if known.get(arg.number) is not None:
                tangent = partial * known[arg.number] + tangent
        known[symbol.number] = None if _is_zero(tangent) else tangent
    found = [known.get(result.number) if isinstance(result, Symbol) else None
             for result in results]
    return [0.0 if tangent is None else tangent for tangent in found]


def gradient(result, variables):
    """Return the derivatives of one symbol with respect to each variable: reverse mode."""
    ends = {variable.number for variable in variables}
    found = {result.number: 1.0}
    for symbol in reversed(lines_of([result], ends)):
        sensitivity = found.get(symbol.number)
        if sensitivity is None or symbol.number in ends:
            continue
        for arg, partial in zip(symbol.args, PARTIALS[symbol.op](symbol)):
            part = partial * sensitivity
            found[arg.number] = part + found[arg.number] if arg.number in found else part
    return [found.get(variable.number, 0.0) for variable in variables]


def lines_of(results, ends=()):
    """Return the operations that lead to some symbols, in order; not beyond those numbered."""
    stack = [result for result in results if isinstance(result, Symbol)]
    needed = {}
    while stack:
        symbol = stack.pop()
        if symbol.number not in needed and symbol.op not in (Op.CONST, Op.INPUT):
            needed[symbol.number] = symbol
            if symbol.number not in ends:
                stack.extend(symbol.args)
    return [needed[number] for number in sorted(needed)]


def _is_zero(tangent):
    return is_const(tangent, 0.0) if isinstance(tangent, Symbol) else tangent == 0.0
