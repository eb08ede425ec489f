"""Describe the benchmark: machine, versions, build of Pinocchio."""

import os
import platform
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import eigenpy
import pinocchio as pin

BUSY = 0.5  # load average
NOTE = """\
Pinocchio is the one from PyPI: a generic build for every x86-64, SSE2 without FMA, as apt's is.
It is what its users get, and so what we are compared with; built for this machine from source it
would be faster. We compile for the machine we are on."""


def machine():
    """Return {what: which} of the machine, how busy others keep it, and the versions."""
    return {'cpu': _cpu(), 'cores': len(_affinity()), 'load': round(os.getloadavg()[0], 2),
            'python': platform.python_version(),
            **{name: metadata.version(name) for name in ('numpy', 'llvmlite', 'pin', 'mujoco')}}


def busy(machine):
    """Return a warning where others keep the machine busy, or nothing."""
    return '' if machine['load'] < BUSY else (
        f"The machine was busy before this began (load {machine['load']:g}): what runs on two "
        'threads looks\nslower than it is.')


def pinocchio_build():
    """Return the build of Pinocchio's wheel, and its instructions if objdump is installed."""
    options = {name: bool(getattr(pin, name)) for name in sorted(dir(pin))
               if re.fullmatch('WITH_(OPENMP|CPPAD|COLLISION|URDFDOM|SDFORMAT)', name)}
    return {'version': pin.__version__, 'options': options,
            'simd': eigenpy.SimdInstructionSetsInUse(), 'library': str(_library() or ''),
            'instructions': _instructions(_library())}


def describe(build):
    """Return the build in a line or two."""
    options = ', '.join(name for name, on in build['options'].items() if on)
    counts = build['instructions']
    if isinstance(counts, str):
        mix = f'instructions not counted: {counts}'
    else:
        mix = (f"instructions: {counts['xmm']:,} on xmm, {counts['ymm']:,} on ymm, "
               f"{counts['zmm']:,} on zmm, {counts['fma']:,} fused multiply-adds")
    return (f"Its build: {build['version']}, {options}; Eigen uses {build['simd']};\n"
            f"{Path(build['library']).name}: {mix}.")


def _library():
    """Return the path of the loaded library with the algorithms."""
    try:
        lines = Path('/proc/self/maps').read_text().splitlines()
    except OSError:
        return None
    return next((Path(line.split()[-1]) for line in lines if 'libpinocchio_default' in line), None)


def _instructions(library):
    """Return how many instructions use which registers, or why that is not known."""
    if library is None or shutil.which('objdump') is None:
        return 'no objdump here' if library else 'the library was not found'
    kinds = {'xmm': '%xmm', 'ymm': '%ymm', 'zmm': '%zmm', 'fma': 'vfn?m(add|sub)'}
    counts = dict.fromkeys(kinds, 0)
    patterns = {kind: re.compile(pattern) for kind, pattern in kinds.items()}
    with subprocess.Popen(['objdump', '-d', '--no-show-raw-insn', library], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for line in process.stdout:
            for kind, pattern in patterns.items():
                counts[kind] += bool(pattern.search(line))
    return counts if counts['xmm'] else 'objdump could not read the library'


def _cpu():
    try:
        found = re.search(r'model name\s*: (.*)', Path('/proc/cpuinfo').read_text())
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def _affinity():
    return os.sched_getaffinity(0) if hasattr(os, 'sched_getaffinity') else range(os.cpu_count())
