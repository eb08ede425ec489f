"""Write loops and tables of integers as LLVM IR: code whose length does not grow with the data."""

from collections.abc import Callable, Iterable, Sequence

from dynamics_node.compiler.ir_text import Emitter


def table(name: str, numbers: Iterable[int]) -> str:
    """Return the definition of a table of the object code."""
    listed = [f'i32 {number}' for number in numbers]
    return f'@{name} = internal constant [{len(listed)} x i32] [{", ".join(listed)}]'


def entry(e: Emitter, name: str, k: str) -> str:
    """Emit the load of an entry of a table."""
    address = e.line(f'getelementptr i32, ptr @{name}, i64 {k}')
    return e.line(f'zext i32 {e.line(f"load i32, ptr {address}, align 4")} to i64')


def times(e: Emitter, k: str, factor: int) -> str:
    """Emit a product of integers."""
    return e.line(f'mul i64 {k}, {factor}')


def at(e: Emitter, pointer: str, offset: str | int) -> str:
    """Emit the address `offset` bytes after a pointer."""
    return e.line(f'getelementptr i8, ptr {pointer}, i64 {offset}')


def block_pointer(e: Emitter, array: str, k: int) -> str:
    """Emit the load of pointer k of an array of pointers."""
    address = e.line(f'getelementptr ptr, ptr {array}, i64 {k}')
    return e.line(f'load ptr, ptr {address}, align 8')


def loop(e: Emitter, end: str, body: Callable, begin: str = '0',
         sums: Sequence[tuple[str, str]] = ()) -> list[str]:
    """Emit  for k in range(begin, end): sums = body(k, sums);  return the names of the sums.

    :param sums: (type, value before the loop) of the numbers that the body updates.
    """
    label, k, following = e.name()[1:], e.name(), e.name()
    names = [e.name() for _ in sums]
    e.lines += [f'  br label %before.{label}', f'before.{label}:', f'  br label %head.{label}',
                f'head.{label}:']
    place = len(e.lines)
    more = e.name()
    e.lines += [f'  {more} = icmp slt i64 {k}, {end}',
                f'  br i1 {more}, label %body.{label}, label %after.{label}', f'body.{label}:']
    updated = body(k, names)
    e.lines += [f'  br label %next.{label}', f'next.{label}:', f'  {following} = add i64 {k}, 1',
                f'  br label %head.{label}', f'after.{label}:']
    phis = [('i64', k, begin, following), *((kind, name, value, last) for (kind, value), name, last
                                            in zip(sums, names, updated))]
    e.lines[place:place] = [f'  {name} = phi {kind} [ {value}, %before.{label} ], '
                            f'[ {last}, %next.{label} ]' for kind, name, value, last in phis]
    return names
