"""Compare our calls from Python with Pinocchio's C++ functions, compiled for this machine.

python benchmark/native_peer.py [ROBOT ...]

native_peer.cpp is compiled once against the headers of the `pin` wheel, with -O3 -march=native:
three to five minutes. It needs a C++ compiler, and the headers of Eigen: `pip install cmeel-eigen`,
the Debian package libeigen3-dev, or the folder in the environment variable EIGEN3_INCLUDE_DIR.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pinocchio as pin
from engines import ARGUMENTS, DERIVATIVES, compile_kernels
from peer_process import Absent, PeerProcess
from race import AGREEMENT, SINGLES, Race, ratios_of, states_of
from timing import over_states, take_turns

PEER = 'pinocchio C++'
SOURCE = Path(__file__).with_suffix('.cpp')
FOLDER = Path(__file__).resolve().parent.parent / 'build' / 'benchmark' / 'native'
PREFIX = Path(pin.__file__).resolve().parents[4]  # of the wheel: include, lib
# The limits are those with which the wheel was built. The parser library is not linked: its Eigen
# aligns to 16 bytes, that of a native build to 32 or 64.
OPTIONS = ('-std=c++17', '-O3', '-march=native', '-DNDEBUG', '-DBOOST_MPL_LIMIT_LIST_SIZE=30',
           '-DBOOST_MPL_LIMIT_VECTOR_SIZE=30', '-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS',
           '-DBOOST_FUSION_INVOKE_MAX_ARITY=12')
LIBRARIES = (f'-L{PREFIX / "lib"}', '-lboost_serialization', f'-Wl,-rpath,{PREFIX / "lib"}')
# Least time(C++) / time(ours): a call from Python in less time than theirs in C++.
BAR = 1.0


def program():
    """Return the path of the compiled program, compiled now if it is not yet there."""
    compiler = os.environ.get('CXX') or shutil.which('c++') or shutil.which('g++')
    if not compiler:
        raise Absent('no C++ compiler here')
    if not (PREFIX / 'include' / 'pinocchio').is_dir():
        raise Absent(f'no headers of Pinocchio in {PREFIX / "include"}')
    words = [compiler, *OPTIONS, '-isystem', str(PREFIX / 'include'), '-isystem', str(_eigen())]
    version = subprocess.run([compiler, '--version'], capture_output=True, text=True).stdout
    told = '\n'.join([*words, version, pin.__version__, _cpu(), SOURCE.read_text()])
    built = FOLDER / f'native_peer_{hashlib.sha256(told.encode()).hexdigest()[:16]}'
    if not built.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        part = built.with_suffix('.part')
        done = subprocess.run([*words, str(SOURCE), *LIBRARIES, '-o', str(part)],
                              capture_output=True, text=True)
        if done.returncode:
            raise Absent(f'{compiler} failed:\n{done.stderr[-2000:]}')
        part.rename(built)
    return built


def _eigen():
    """Return the folder of Eigen's headers."""
    given = os.environ.get('EIGEN3_INCLUDE_DIR')
    folders = [Path(given)] if given else [
        folder / 'include' / 'eigen3' for folder in (PREFIX, Path('/usr'), Path('/usr/local'))]
    for folder in folders:
        if (folder / 'Eigen' / 'Core').is_file():
            return folder
    raise Absent('no headers of Eigen in ' + ', '.join(map(str, folders)))


def _cpu():
    """Return what -march=native depends on."""
    try:
        lines = Path('/proc/cpuinfo').read_text().splitlines()
    except OSError:
        return ''
    return next((line for line in lines if line.startswith('flags')), '')


def _process(model, states, folder):
    """Return the PeerProcess of a model and its states: q, v, x of each."""
    saved, numbers = Path(folder) / 'model.txt', Path(folder) / 'states.bin'
    model.saveToText(str(saved))
    np.concatenate([[len(states[0])], np.hstack(states).ravel()]).tofile(numbers)
    return PeerProcess([program(), saved, numbers])


def measure(race, turns, tick):
    """Return the Ratios of single states, ours called from Python; verify that results agree.

    :param race: a Race.
    """
    ours, peer = race.ours, race.peers['pinocchio']
    compile_kernels(ours.robot, {**ARGUMENTS, **DERIVATIVES})
    states = [np.ascontiguousarray(array[:SINGLES]) for array in race.batches['pinocchio']]
    found, quantities = [], {**ARGUMENTS, **DERIVATIVES}
    with (tempfile.TemporaryDirectory() as folder,
          _process(peer.model, states, folder) as native):
        for k, (quantity, arguments) in enumerate(quantities.items()):
            _check(race, native, quantity, arguments)
            runs = {'ours': over_states(ours.call(quantity), arguments,
                                        states_of(arguments, race.batch)),
                    PEER: native.loop(quantity)}
            found += ratios_of(race.name, quantity, 1, take_turns(runs, turns, lambda _: None),
                               dict.fromkeys(runs, SINGLES), {PEER: BAR})
            tick((k + 1) / len(quantities))
    return found


def _check(race, native, quantity, arguments):
    """Raise if the results at the last state disagree; of derivatives the first two matrices."""
    last = [array[SINGLES - 1] for array in race.batch[:len(arguments.split(', '))]]
    result, order = getattr(race.ours.robot, quantity)(*last), race.peers['pinocchio'].order
    parts = result[:2] if quantity in DERIVATIVES else [result]
    theirs = native.result(quantity).reshape(len(parts), *parts[0].shape)
    for ours, there in zip(parts, theirs):
        there = there[np.ix_(*[order] * ours.ndim)]
        error = np.abs(ours - there).max() / np.abs(there).max()
        if not error <= AGREEMENT:
            raise AssertionError(f'{race.name}, {quantity}: we and {PEER} differ by {error:.1e}')


if __name__ == '__main__':
    import table
    try:
        program()
    except Absent as reason:
        sys.exit(f'native_peer: skipped: {reason}')
    print(table.native([row for name in sys.argv[1:] or ('panda', 'ur5', 'talos')
                        for row in measure(Race(name), 100, lambda _: None)]))
