"""Test that kernels are loaded whatever the free memory of the process looks like."""

import subprocess
import sys

# Holes of 16 pages between others, then nothing free within 5 GB: sections of one object that are
# placed one by one would be further apart than 32-bit offsets reach.
SCRIPT = """
import ctypes
from dynamics_node import Robot
from dynamics_node.compiler import target
from dynamics_node.example_robots import ARM7

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PAGE, ANONYMOUS, NO_RESERVE, READ_WRITE = 4096, 0x22, 0x4000, 3
load = target.Loaded.__init__

def load_in_holes(self, code):
    sizes = [PAGE * (1 if k % 2 else 16) for k in range(400)]
    parts = [libc.mmap(None, size, READ_WRITE, ANONYMOUS, -1, 0) for size in sizes]
    libc.mmap(None, 5 << 30, 0, ANONYMOUS | NO_RESERVE, -1, 0)
    for part, size in list(zip(parts, sizes))[::2]:
        libc.munmap(part, size)
    load(self, code)
    codes.append(code)

codes = []
target.Loaded.__init__ = load_in_holes
robot = Robot.from_urdf(ARM7)
robot.compile(wait=True, derivatives=True)
again = [target.Loaded(code) for code in 5 * codes]   # addresses differ from one to the next
print('loaded')
"""


def test_kernels_are_loaded_where_free_memory_is_in_pieces(compiler_on):
    """Loading includes a test: numbers are right, also where constants are far from the code."""
    done = subprocess.run([sys.executable, '-c', SCRIPT], capture_output=True, text=True,
                          timeout=300)
    assert done.stdout == 'loaded\n', done.stderr[-1000:]
