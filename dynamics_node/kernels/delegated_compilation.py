"""Delegate compilation to another process: it compiles the kernels that are not in the cache.

The torque process of the node must not compile: tracing holds the interpreter lock.
"""

from collections.abc import Callable

from dynamics_node.kernels.keys import KernelKey

_compile: Callable[[KernelKey], None] | None = None


def use(compile_key: Callable[[KernelKey], None]) -> None:
    """Delegate the compilations of this process.

    :param compile_key: requests a kernel from the other process, and returns when that has ended.
        If the kernel is not in the cache then, this process compiles it.
    """
    global _compile
    _compile = compile_key


def compile_key(key: KernelKey) -> bool:
    """Let the other process compile a key, if there is one; return whether there is."""
    if _compile is None:
        return False
    _compile(key)
    return True
