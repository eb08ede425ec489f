"""From an algorithm to machine code for one robot.

graph (symbols that NumPy arrays carry) -> trace (a program) -> lower (LLVM IR) -> build (object
code, cached) -> kernel (a callable). Tracing is done *to* an algorithm; it does not know.
"""
