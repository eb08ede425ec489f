"""Write LLVM IR text: types, constants, and instructions with fresh result names."""

from __future__ import annotations

import itertools
import struct


class Dialect:
    """Types, constants and intrinsics of a target.

    :param fma: whether the target has fused multiply-add. Where it has not, llvm.fma would be a
        library call, so a product and a sum are emitted instead.
    """

    def __init__(self, fma: bool = True):
        self.fma = fma

    @staticmethod
    def type(lanes: int) -> str:
        return 'double' if lanes == 1 else f'<{lanes} x double>'

    @staticmethod
    def integer(lanes: int) -> str:
        return 'i64' if lanes == 1 else f'<{lanes} x i64>'

    @staticmethod
    def boolean(lanes: int) -> str:
        return 'i1' if lanes == 1 else f'<{lanes} x i1>'

    @staticmethod
    def const(value: float, lanes: int) -> str:
        """Return a constant as the bits of the double, in each lane."""
        bits = f'0x{struct.pack(">d", value).hex()}'
        return bits if lanes == 1 else f'splat (double {bits})'

    @staticmethod
    def int_const(value: int, lanes: int) -> str:
        return str(value) if lanes == 1 else '<' + ', '.join([f'i64 {value}'] * lanes) + '>'

    @staticmethod
    def suffix(lanes: int) -> str:
        return 'f64' if lanes == 1 else f'v{lanes}f64'

    def emitter(self, lanes: int, prefix: str) -> Emitter:
        return Emitter(self, lanes, prefix)

    def declarations(self, lanes: int) -> str:
        """Return the declarations of the intrinsics of that width."""
        T, suffix = self.type(lanes), self.suffix(lanes)
        return '\n'.join([f'declare {T} @llvm.fma.{suffix}({T}, {T}, {T})',
                          f'declare {T} @llvm.fabs.{suffix}({T})',
                          f'declare {T} @llvm.sqrt.{suffix}({T})'])


class Emitter:
    """Collects the lines of a function; each result gets a fresh name."""

    def __init__(self, dialect: Dialect, lanes: int, prefix: str):
        self.dialect, self.lanes = dialect, lanes
        self.type = dialect.type(lanes)
        self.lines: list[str] = []
        self.tables: list[str] = []   # definitions that the lines need
        self._fma = f'call {self.type} @llvm.fma.{dialect.suffix(lanes)}({self.type} '
        self._names = (f'%{prefix}{k}' for k in itertools.count(1))

    def of_width(self, lanes: int) -> Emitter:
        """Return an emitter of another width that adds to the same lines."""
        other = Emitter(self.dialect, lanes, '')
        other.lines, other.tables, other._names = self.lines, self.tables, self._names
        return other

    def name(self) -> str:
        return next(self._names)

    def line(self, text: str) -> str:
        """Emit an instruction; return the name of its result."""
        name = next(self._names)
        self.lines.append(f'  {name} = {text}')
        return name

    def binary(self, instruction: str, x: str, y: str) -> str:
        return self.line(f'{instruction} {self.type} {x}, {y}')

    def call(self, intrinsic: str, *args: str) -> str:
        listed = ', '.join(f'{self.type} {arg}' for arg in args)
        return self.line(f'call {self.type} @llvm.{intrinsic}.{self.dialect.suffix(self.lanes)}'
                         f'({listed})')

    def fma(self, x: str, y: str, z: str) -> str:
        """Emit x y + z, fused where the target has fused multiply-add."""
        if self.dialect.fma:
            return self.line(f'{self._fma}{x}, {self.type} {y}, {self.type} {z})')
        return self.binary('fadd', self.binary('fmul', x, y), z)
