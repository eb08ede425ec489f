"""Compile LLVM IR to object code of this machine; load object code."""

import ctypes
import threading
from collections.abc import Mapping
from functools import cache

import llvmlite
import llvmlite.binding as llvm

if tuple(map(int, llvmlite.__version__.split('.')[:2])) < (0, 45):  # opaque pointers
    raise ImportError(f'llvmlite {llvmlite.__version__} is too old')

# Passes of LLVM that large programs do without: options that switch them on, and off.
ENABLED_IN_SMALL = 'enable-misched', 'post-RA-scheduler', 'combiner-store-merging'
DISABLED_IN_LARGE = 'machine-cse', 'machine-sink', 'machine-licm', 'copyprop', 'peephole'

_lock = threading.Lock()  # llvmlite locks single calls; this lock is for a whole compilation


@cache
def host() -> tuple[llvm.TargetMachine, int, bool]:
    """Return (target machine, lanes, has fma) of this machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features.flatten(), opt=2, reloc='pic',
        codemodel='small', jit=True)  # loads constants relative to the PC, no 10-byte moves
    return machine, _lanes(features), _has_fma(features)


def _lanes(features: Mapping[str, bool]) -> int:
    if features.get('avx512f') and features.get('avx512dq'):
        return 8
    return 4 if features.get('avx') else 2  # two doubles: SSE2 and NEON


def _has_fma(features: Mapping[str, bool]) -> bool:
    return bool(features.get('fma') or features.get('neon') or features.get('fp-armv8'))


@cache
def fingerprint() -> tuple:
    """Return what object code depends on besides the program: CPU, its features, LLVM."""
    machine, lanes, fma = host()
    return (machine.triple, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(),
            lanes, fma, llvmlite.__version__, llvm.llvm_version_info)


def compile_ir(text: str, large: bool = False) -> bytes:
    """Return the object code of an IR text; the GIL is released while LLVM works.

    No optimisation passes: the program has no common subexpressions and no dead code. CodeGen
    Prepare would join the basic blocks of lower.py to one; the time of the next passes grows faster
    than the length of a block.

    :param large: switch LLVM's machine schedulers and store merging off. The first scheduler
        shortens the critical path of small programs; in large ones (1500 instructions) it only adds
        spills: without it the kernels of TALOS take 5 to 18 % less time, and compile faster
        (measured). The second, after register allocation, takes a time that grows with the square
        of the number of stores. Store merging takes a sixth of the compilation, and merges few.
        The passes that look for repeated, invariant or unneeded instructions find next to nothing
        in such a program: without them long kernels compile in a tenth less time, and are as fast.
    """
    machine, _, _ = host()
    with _lock:   # options are global
        try:
            _set_options(large, cgp=False)
            module = llvm.parse_assembly(text)
            module.verify()
            return machine.emit_object(module)
        finally:
            _set_options(large=False, cgp=True)   # for other users of LLVM in this process


def _set_options(large: bool, cgp: bool) -> None:
    for option in ENABLED_IN_SMALL:
        llvm.set_option('', f'-{option}={0 if large else 1}')
    for option in DISABLED_IN_LARGE:
        llvm.set_option('', f'-disable-{option}={1 if large else 0}')
    llvm.set_option('', f'-disable-cgp={0 if cgp else 1}')


class Loaded:
    """Object code in memory, as long as this object lives.

    :ivar single, block: addresses of the two functions, see lower.py.
    """

    _count = 0

    def __init__(self, code: bytes):
        machine, _, _ = host()
        with _lock:
            Loaded._count += 1
            # JITLink places all sections of an object in one piece of memory. RuntimeDyld places
            # them one by one: code and constants can be further apart than 32-bit offsets reach,
            # and LLVM ends the process.
            self._jit = llvm.create_lljit_compiler(machine, use_jit_link=True)
            builder = llvm.JITLibraryBuilder().add_object_img(code)
            for name in ('single', 'block'):
                builder.export_symbol(name)
            for name in ('sin', 'cos'):
                builder.import_symbol(name, _libm(name))
            self._library = builder.link(self._jit, f'kernel{Loaded._count}')
            self.single, self.block = self._library['single'], self._library['block']


def _libm(name: str) -> int:
    address = ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value
    assert address is not None
    return address
