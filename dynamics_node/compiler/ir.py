"""The little LLVM IR we speak: types, constants, and lines that name their result."""

import struct


class Dialect:
    """How numbers are written for a target.

    :param fma: the target multiplies and adds in one instruction. Where it cannot, llvm.fma would
        be a library call, so a product and a sum are written instead.
    """

    def __init__(self, fma=True):
        self.fma = fma

    @staticmethod
    def type(lanes):
        return 'double' if lanes == 1 else f'<{lanes} x double>'

    @staticmethod
    def integer(lanes):
        return 'i64' if lanes == 1 else f'<{lanes} x i64>'

    @staticmethod
    def boolean(lanes):
        return 'i1' if lanes == 1 else f'<{lanes} x i1>'

    @staticmethod
    def const(value, lanes):
        """Return a constant, exact: the bits of the double."""
        bits = f'0x{struct.unpack("<Q", struct.pack("<d", value))[0]:016X}'
        if lanes == 1:
            return bits
        return '<' + ', '.join([f'double {bits}'] * lanes) + '>'

    @staticmethod
    def int_const(value, lanes):
        return str(value) if lanes == 1 else '<' + ', '.join([f'i64 {value}'] * lanes) + '>'

    @staticmethod
    def suffix(lanes):
        return 'f64' if lanes == 1 else f'v{lanes}f64'

    def emitter(self, lanes, prefix):
        return Emitter(self, lanes, prefix)

    def declarations(self, lanes):
        """Return the intrinsics that lines of this width use."""
        T, suffix = self.type(lanes), self.suffix(lanes)
        return '\n'.join([f'declare {T} @llvm.fma.{suffix}({T}, {T}, {T})',
                          f'declare {T} @llvm.fabs.{suffix}({T})',
                          f'declare {T} @llvm.sqrt.{suffix}({T})'])


class Emitter:
    """Collects lines; each one gets a fresh name."""

    def __init__(self, dialect, lanes, prefix):
        self.dialect, self.lanes, self.prefix = dialect, lanes, prefix
        self.type = dialect.type(lanes)
        self.lines = []
        self._count = 0

    def name(self):
        self._count += 1
        return f'%{self.prefix}{self._count}'

    def line(self, text):
        name = self.name()
        self.lines.append(f'  {name} = {text}')
        return name

    def binary(self, instruction, x, y):
        return self.line(f'{instruction} {self.type} {x}, {y}')

    def call(self, intrinsic, *args):
        listed = ', '.join(f'{self.type} {arg}' for arg in args)
        return self.line(f'call {self.type} @llvm.{intrinsic}.{self.dialect.suffix(self.lanes)}'
                         f'({listed})')

    def fma(self, x, y, z):
        if self.dialect.fma:
            return self.call('fma', x, y, z)
        return self.binary('fadd', self.binary('fmul', x, y), z)
