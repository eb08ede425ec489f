"""Compile an algorithm written in NumPy to machine code: scalar for one state, SIMD for batches.

graph (symbols in NumPy arrays) -> trace (a program) -> slp_packing, lower (LLVM IR) -> target
(object code), cache (on disk) -> kernel (loaded and tested) -> call.c (called from Python).
This package does not depend on robots. An algorithm needs no change to be traced.
"""
