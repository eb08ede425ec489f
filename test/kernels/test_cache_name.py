"""Test kernels on disk: compiled once, and compiled again where a file is damaged."""

import hashlib
import os
import pickle
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from support import small_robots
from support.agreement_of_paths import installed
from support.compiled_programs import caller_of

from dynamics_node import Robot
from dynamics_node.compiler import cache, private_folder, target
from dynamics_node.kernels import build, cache_name, robot_kernels
from dynamics_node.kernels.cache_name import name_of
from dynamics_node.kernels.keys import KernelKey, key_of

KEY = KernelKey('gravity_torque')


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """An empty cache for each test; kernels of earlier tests are compiled into another before."""
    done = threading.Event()
    if robot_kernels._worker.submit(lambda cancelled=False: done.set()):
        assert done.wait(300.0)
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path / 'cache'))
    return tmp_path / 'cache'


@pytest.fixture
def compiled(monkeypatch):
    """The IR texts compiled so far."""
    texts, compile_ir = [], target.compile_ir

    def counting(text, *args, **named):
        texts.append(text)
        return compile_ir(text, *args, **named)
    monkeypatch.setattr(target, 'compile_ir', counting)
    return texts


@pytest.fixture
def arm():
    return small_robots.arm(compile=False)


def check_result(robot, key=KEY):
    """Build the kernel as a robot would, and compare its result with NumPy."""
    call = caller_of(build.build_kernel(robot.model, key), robot.model, key)
    q = np.array([0.3, 0.4])
    np.testing.assert_allclose(call(q), robot.gravity_torque(q), rtol=1e-12)


def kernels_in(folder):
    """Return the files of kernels in the cache."""
    return sorted(folder.glob('*.kernel'))


def test_a_name_does_not_depend_on_what_was_computed_before(arm):
    """Joints keep constants of their axes once they were used; they are no part of the name."""
    before = name_of(arm.model, KEY)
    arm.inverse_dynamics([0.3, 0.4], [0.1, 0.2], [0.0, 0.0])
    assert '_terms' in vars(arm.model.bodies[0].joint)
    assert name_of(arm.model, KEY) == before


def test_a_kernel_is_compiled_once(arm, compiled, folder):
    """The second time it comes from a file that only the user can read."""
    for _ in range(3):
        check_result(arm)
    assert len(compiled) == 1
    assert [path.name for path in kernels_in(folder)] == [name_of(arm.model, KEY)]
    assert [path for path in (folder, *folder.iterdir()) if path.stat().st_mode & 0o077] == []


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    """$DYNAMICS_NODE_CACHE, $XDG_CACHE_HOME/dynamics_node, ~/.cache/dynamics_node."""
    monkeypatch.setenv('XDG_CACHE_HOME', '/xdg')
    monkeypatch.setattr(cache.Path, 'home', lambda: cache.Path('/home/me'))
    assert cache.folder() == tmp_path / 'cache'
    monkeypatch.delenv('DYNAMICS_NODE_CACHE')
    assert str(cache.folder()) == '/xdg/dynamics_node'
    monkeypatch.setenv('XDG_CACHE_HOME', '')
    assert str(cache.folder()) == '/home/me/.cache/dynamics_node'


def test_another_process_finds_the_kernel(arm, folder):
    """Names do not depend on the process: no hash seed, no address."""
    code = ('from support import small_robots; '
            'from dynamics_node.kernels.cache_name import name_of; '
            'from dynamics_node.kernels.keys import KernelKey; '
            'arm = small_robots.arm(compile=False); '
            'print(name_of(arm.model, KernelKey("gravity_torque")))')
    path = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, '-c', code], env={**os.environ, 'PYTHONPATH': path},
                          capture_output=True, text=True, check=True)
    assert done.stdout.strip() == name_of(arm.model, KEY)


def test_a_kernel_compiles_to_the_same_bytes_every_time(arm):
    """So that a cache can be compared, and shipped."""
    assert build.compile_kernel(arm.model, KEY) == build.compile_kernel(arm.model, KEY)


DAMAGES = {
    'empty': lambda data: b'', 'a line': lambda data: b'\n', 'two lines': lambda data: b'\n\n',
    'truncated': lambda data: data[:-1], 'half': lambda data: data[:len(data) // 2],
    'the digest only': lambda data: data[:64], 'longer': lambda data: data + b'\0',
    'a bit of the digest': lambda data: flipped(data, 5),
    'a bit of the description': lambda data: flipped(data, 80),
    'a bit of the code': lambda data: flipped(data, -100),
    'text': lambda data: 'nonsense \u00e9\n'.encode('latin-1') * 9,
    'the old digest': lambda data: hashlib.sha256(b''.join(data.split(b'\n', 2)[1:])
                                                  ).hexdigest().encode() + data[64:],
}


def flipped(data, place):
    data = bytearray(data)
    data[place] ^= 1
    return bytes(data)


@pytest.mark.parametrize('damage', DAMAGES)
def test_a_damaged_file_is_compiled_anew_and_replaced(arm, compiled, folder, damage):
    """Never loaded, never an error."""
    check_result(arm)
    path = folder / name_of(arm.model, KEY)
    good = path.read_bytes()
    path.write_bytes(DAMAGES[damage](good))
    check_result(arm)
    assert len(compiled) == 2
    assert path.read_bytes() == good
    check_result(arm)
    assert len(compiled) == 2


FOREIGN = {
    'no object code': lambda about, code: (about, b'no object code'),
    'no code at all': lambda about, code: (about, b''),
    'half an object': lambda about, code: (about, code[:len(code) // 2]),
    'another description': lambda about, code: ({'robot': 'mine'}, code),
    'a list': lambda about, code: ([], code),
    'an expectation missing': lambda about, code: (
        {key: value for key, value in about.items() if key != 'expected'}, code),
    'a sample of text': lambda about, code: ({**about, 'sample': ['x'] * 3}, code),
    'another expectation': lambda about, code: ({**about, 'expected': [[1.0, 2.0]]}, code),
    'an expectation that is not a number': lambda about, code: (
        {**about, 'expected': [[float('nan')] * 2]}, code),
}


@pytest.mark.parametrize('what', FOREIGN)
def test_a_wrong_file_with_a_valid_digest_is_compiled_anew(arm, compiled, what):
    """Loading or the self-test finds it."""
    about, code = build.compile_kernel(arm.model, KEY)
    cache.write(name_of(arm.model, KEY), *FOREIGN[what](about, code))
    check_result(arm)
    assert len(compiled) == 2
    check_result(arm)
    assert len(compiled) == 2


def test_the_code_of_another_robot_fails_the_self_test(arm, compiled):
    """The same kernel with other numbers."""
    about, _ = build.compile_kernel(arm.model, KEY)
    _, other = build.compile_kernel(small_robots.arm(mass=2.0, compile=False).model, KEY)
    cache.write(name_of(arm.model, KEY), about, other)
    check_result(arm)
    assert len(compiled) == 3


def test_a_file_under_another_name_is_refused(arm, compiled, folder):
    """Valid code, but of another kernel."""
    other = small_robots.arm(mass=2.0, compile=False)
    check_result(other)
    shutil.copy(folder / name_of(other.model, KEY), folder / name_of(arm.model, KEY))
    check_result(arm)
    assert len(compiled) == 2


def test_a_kernel_that_is_wrong_is_not_used(arm, monkeypatch, allow_no_packs):
    """The self-test finds it, and no file is written."""
    wrong = build.compile_kernel(small_robots.arm(mass=2.0, compile=False).model, KEY)[1]
    monkeypatch.setattr(target, 'compile_ir', lambda *args, **named: wrong)
    with pytest.raises(build.DynamicsError, match='gravity_torque gives other results'):
        build.build_kernel(arm.model, KEY)
    assert cache.read(name_of(arm.model, KEY)) is None


@pytest.mark.parametrize('place', ['a file', 'below a file', 'a folder of that name', 'no home'])
def test_kernels_work_without_a_writable_folder(arm, compiled, monkeypatch, tmp_path, place):
    """They are compiled each time."""
    (tmp_path / 'file').write_text('in the way')
    if place == 'a folder of that name':
        (tmp_path / 'cache' / name_of(arm.model, KEY)).mkdir(parents=True)
    elif place == 'no home':
        for name in ('DYNAMICS_NODE_CACHE', 'XDG_CACHE_HOME'):
            monkeypatch.delenv(name, raising=False)

        def homeless():
            raise RuntimeError('Could not determine home directory.')
        monkeypatch.setattr(cache.Path, 'home', homeless)
    else:
        monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(
            tmp_path / 'file' if place == 'a file' else tmp_path / 'file' / 'cache'))
    check_result(arm)
    check_result(arm)
    assert len(compiled) == 2
    assert not list(tmp_path.rglob('*.part'))


def test_a_file_is_written_whole_or_not_at_all(arm, folder, monkeypatch):
    """A disk that fails at the last moment leaves no file."""
    def full(*_, **__):
        raise OSError('No space left on device')
    with monkeypatch.context() as patch:
        patch.setattr(private_folder.os, 'replace', full)
        check_result(arm)
    assert [path.name for path in folder.iterdir()] == ['secret']
    check_result(arm)
    assert len(kernels_in(folder)) == 1
    assert not list(folder.glob('*.part'))


def test_the_least_recently_used_files_are_removed_first(folder, monkeypatch):
    """Until the rest fits; other files stay."""
    monkeypatch.setattr(cache, 'MAX_BYTES', 3500)
    for k in range(5):
        cache.write(f'{k}.kernel', {}, bytes(900))
        os.utime(folder / f'{k}.kernel', (1000.0 + k, 1000.0 + k))
    assert [path.name for path in kernels_in(folder)] == ['2.kernel', '3.kernel', '4.kernel']
    (folder / 'README').write_bytes(bytes(9000))
    (folder / 'lost.part').touch()
    os.utime(folder / 'lost.part', (1.0, 1.0))
    assert cache.read('2.kernel') is not None  # used just now: the last to go
    cache.write('5.kernel', {}, bytes(900))
    assert {path.name for path in folder.iterdir()} >= {'2.kernel', '5.kernel', 'README'}
    assert not (folder / '3.kernel').exists()
    assert sum(path.stat().st_size for path in folder.glob('*.kernel')) <= 3500


def test_the_name_depends_on_all_that_the_code_depends_on(arm, monkeypatch):
    """Numbers, frame, variant, CPU."""
    def name(robot=arm, **changes):
        return name_of(robot.model, KEY._replace(**changes))
    names = [name(), *(name(small_robots.arm(compile=False, **change)) for change in (
        {'mass': 2.0}, {'mass': 1.0 + 1e-15}, {'length': 0.4}, {'base': 'floating'},
        {'locked': {'lower_joint': 0.0}}, {'locked': {'lower_joint': 0.1}},
        {'friction_speed': 0.5}))]
    names += [name(kernel='mass_matrix'), name(with_payload=True), name(with_friction=True),
              name(with_friction=True, with_friction_terms=True),
              name(with_wrenches=True), name(kernel='jacobian', arguments=('lower', False)),
              name(kernel='jacobian', arguments=('upper', False)),
              name(kernel='jacobian', arguments=('upper', True))]
    monkeypatch.setattr(target, 'fingerprint', lambda: ('another CPU',))
    names.append(name())
    assert len(set(names)) == len(names)


def test_the_name_depends_on_the_sources_of_the_package(arm, monkeypatch, tmp_path):
    """After an edit of an algorithm new code is compiled."""
    shutil.copytree(cache_name.PACKAGE, tmp_path / 'package')
    monkeypatch.setattr(cache_name, 'PACKAGE', tmp_path / 'package')
    sources = cache_name.sources.__wrapped__
    assert sources() == cache_name.sources()
    seen = {sources()}
    for room in ('spatial', 'model', 'algorithms', 'compiler'):
        path = sorted((tmp_path / 'package' / room).glob('*.py'))[-1]
        path.write_bytes(path.read_bytes() + b'\n')
        seen.add(sources())
    assert len(seen) == 5


def test_the_name_does_not_depend_on_run_time_inputs(arm):
    """Gravity, armature, damping, friction, payloads, names: data."""
    for change in ({'gravity': (1, 2, 3)}, {'armature': {'upper_joint': 0.3}}, {'damping': 0.7}):
        other = small_robots.arm(compile=False, **change)
        assert name_of(other.model, KEY) == name_of(arm.model, KEY)
    with_payload = KEY._replace(with_payload=True)
    for mass in (1.0, 2.0):
        carrying = arm.with_payload('box', 'lower', mass)
        assert name_of(carrying.model, with_payload) == name_of(arm.model, with_payload)
    copy = pickle.loads(pickle.dumps(arm))
    assert name_of(copy.model, KEY) == name_of(arm.model, KEY)


def test_new_run_time_inputs_do_not_compile(compiled):
    """Another gravity, load, damping or rotor needs no compilation."""
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    first = small_robots.arm()
    key = [key_of(first.model, 'inverse_dynamics'), key_of(first.model, 'mass_matrix')]
    first._dispatcher.compile(key, wait=True)
    heavy = first.with_payload('box', 'lower', 1.0)
    key_loaded = [key_of(heavy.model, 'inverse_dynamics'), key_of(heavy.model, 'mass_matrix')]
    heavy._dispatcher.compile(key_loaded, wait=True)
    before = len(compiled)
    assert before == 4
    others = [first.with_gravity((3, 2, 1)), heavy.with_gravity((3, 2, 1)),
              heavy.without_payload('box'), heavy.with_payload('box', 'upper', 7.0),
              heavy.with_payload('cup', 'base', 0.5), small_robots.arm(damping=3.0),
              small_robots.arm(armature={'lower_joint': 2.0}, gravity=(0, 0, 0))]
    for robot in others:
        robot._dispatcher.compile(key_loaded if robot.payloads else key, wait=True)
        plain = robot.inverse_dynamics(q, v, a), robot.mass_matrix(q)
        assert {'inverse_dynamics', 'mass_matrix'} <= installed(robot)
        slow = Robot(robot.model, compile=False)
        np.testing.assert_allclose(plain[0], slow.inverse_dynamics(q, v, a), rtol=1e-12)
        np.testing.assert_allclose(plain[1], slow.mass_matrix(q), rtol=1e-12)
    assert len(compiled) == before
