"""Attack the cache: no code is read that another user, or another program, may have written."""

import hashlib
import json
import os
import shutil
import socket
import stat
import threading

import pytest

from dynamics_node.compiler import cache

NAME, OTHER_USER = 'a.kernel', 65_534
ABOUT, CODE = {'lanes': 4}, b'code\nof this user'
AT_ONCE = 5.0   # [s] a deadline for a loaded machine

as_root = pytest.mark.skipif(os.geteuid() != 0, reason='only root can give files away')


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """A cache with one kernel."""
    path = tmp_path / 'cache'
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(path))
    cache.write(NAME, ABOUT, CODE)
    assert cache.read(NAME) == (ABOUT, CODE)
    return path


def read_at_once():
    """Return what is read; a read that waits fails the test."""
    found = []
    thread = threading.Thread(target=lambda: found.append(cache.read(NAME)), daemon=True)
    thread.start()
    thread.join(AT_ONCE)
    assert found, 'still waiting'
    return found[0]


def refused(caplog, reason):
    """Check that the kernel is not read, and that one warning tells why."""
    caplog.clear()
    assert read_at_once() is None
    assert read_at_once() is None
    assert [record.levelname for record in caplog.records] == ['WARNING']
    assert reason in caplog.text
    return True


def recompiled_over(folder):
    """Check that the next write replaces the file by one that is read; what it names stays."""
    cache.write(NAME, ABOUT, CODE)
    found = (folder / NAME).lstat()
    return (cache.read(NAME) == (ABOUT, CODE) and stat.S_ISREG(found.st_mode)
            and found.st_uid == os.geteuid())


def test_a_forged_file_is_refused(folder, caplog):
    """The attacker knows the format, and code that this user has cached, but not the secret."""
    line = json.dumps(ABOUT).encode()
    for key in (b'', b'guess'):
        content = b'\n'.join([NAME.encode(), line, b'evil'])
        digest = hashlib.sha256(key + content).hexdigest().encode()
        (folder / NAME).write_bytes(b'\n'.join([digest, line, b'evil']))
        assert read_at_once() is None
    assert 'not written by this user' in caplog.text
    assert recompiled_over(folder)


def test_files_of_another_cache_are_refused(folder, caplog, monkeypatch, tmp_path):
    """Copied by hand, or from an archive: they have another secret."""
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path / 'other'))
    cache.write(NAME, ABOUT, b'evil')
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(folder))
    shutil.copy(tmp_path / 'other' / NAME, folder / NAME)
    assert refused(caplog, 'not written by this user')
    assert recompiled_over(folder)


def test_a_link_is_not_followed(folder, caplog, tmp_path):
    """Neither to a valid file, nor to one that is written over."""
    valid = tmp_path / 'valid'
    shutil.move(folder / NAME, valid)
    (folder / NAME).symlink_to(valid)
    before = valid.read_bytes()
    assert refused(caplog, 'is a link')
    assert recompiled_over(folder)
    assert valid.read_bytes() == before


@pytest.mark.parametrize('kind', ['fifo', 'socket', 'folder', 'endless'])
def test_what_is_no_file_is_refused_at_once(folder, kind):
    """The fifo has no writer."""
    (folder / NAME).unlink()
    if kind == 'fifo':
        os.mkfifo(folder / NAME)
    elif kind == 'socket':
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(folder / NAME))
    elif kind == 'folder':
        (folder / NAME).mkdir()
    else:
        (folder / NAME).symlink_to('/dev/zero')
    assert read_at_once() is None
    assert recompiled_over(folder) is (kind != 'folder')


@as_root
@pytest.mark.parametrize('what', [NAME, cache.SECRET, '.'])
def test_what_belongs_to_another_user_is_refused(folder, caplog, what):
    """A file, the secret, the folder: the content is valid, the owner is not."""
    os.chown(folder / what, OTHER_USER, OTHER_USER)
    assert refused(caplog, f'belongs to user {OTHER_USER}')
    before = sorted(folder.iterdir())
    assert recompiled_over(folder) is (what == NAME)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize('mode', [0o770, 0o757, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_neither_read_nor_written(folder, caplog, mode):
    """A sticky one neither: others may add files to it."""
    folder.chmod(mode)
    assert refused(caplog, 'chmod go-w')
    cache.write('b.kernel', ABOUT, CODE)
    assert not (folder / 'b.kernel').exists()
    folder.chmod(0o755)
    assert read_at_once() == (ABOUT, CODE)


@pytest.mark.parametrize('mode', [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_to_is_refused(folder, caplog, mode):
    (folder / NAME).chmod(mode)
    assert refused(caplog, 'chmod go-w')
    assert recompiled_over(folder)


@pytest.mark.parametrize('mode', [0o640, 0o604, 0o622])
def test_a_secret_that_others_can_read_is_refused(folder, caplog, mode):
    (folder / cache.SECRET).chmod(mode)
    assert refused(caplog, 'chmod go-rwx')


@pytest.mark.parametrize('secret', [b'', b'short', bytes(cache.SECRET_BYTES)])
def test_another_secret_makes_all_files_invalid(folder, secret):
    """No secret is ever a valid key by its length alone."""
    (folder / cache.SECRET).write_bytes(secret)
    assert read_at_once() is None


def test_a_secret_that_is_a_link_is_refused(folder, caplog, tmp_path):
    shutil.move(folder / cache.SECRET, tmp_path / 'secret')
    (folder / cache.SECRET).symlink_to(tmp_path / 'secret')
    assert refused(caplog, 'is a link')


def test_a_folder_that_is_a_link_is_refused(folder, caplog, tmp_path):
    folder.rename(tmp_path / 'elsewhere')
    folder.symlink_to(tmp_path / 'elsewhere')
    assert refused(caplog, 'is a link')
    cache.write('b.kernel', ABOUT, CODE)
    assert not (tmp_path / 'elsewhere' / 'b.kernel').exists()


def test_the_secret_is_made_once_by_many_writers(folder):
    """All files stay valid."""
    for path in folder.iterdir():
        path.unlink()
    begin = threading.Barrier(8)

    def write(k):
        begin.wait()
        cache.write(f'{k}.kernel', ABOUT, CODE)
    threads = [threading.Thread(target=write, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [cache.read(f'{k}.kernel') for k in range(8)] == [(ABOUT, CODE)] * 8
    assert sorted(path.suffix for path in folder.iterdir()) == ['', *['.kernel'] * 8]


def test_a_new_secret_is_made_where_it_was_deleted(folder):
    """Another one than before: files written before stay invalid."""
    before = (folder / cache.SECRET).read_bytes()
    (folder / cache.SECRET).unlink()
    assert read_at_once() is None
    assert recompiled_over(folder)
    assert (folder / cache.SECRET).read_bytes() != before


@pytest.mark.parametrize('line', [b'[' * 100_000, b'{"a":' * 100_000, b'', b'\xff', b'9' * 10_000])
def test_a_description_that_is_a_bomb_is_refused(folder, line):
    """With a valid digest: nested JSON, and a number of too many digits."""
    secret = (folder / cache.SECRET).read_bytes()
    digest = cache._digest(secret, NAME, line, CODE)
    (folder / NAME).write_bytes(b'\n'.join([digest, line, CODE]))
    assert read_at_once() is None


def test_no_file_stays_open(folder):
    """After a read, a write and a refusal."""
    before = len(os.listdir('/proc/self/fd'))
    cache.read(NAME)
    cache.write(NAME, ABOUT, CODE)
    (folder / NAME).chmod(0o666)
    cache.read(NAME)
    folder.chmod(0o777)
    cache.read(NAME)
    assert len(os.listdir('/proc/self/fd')) == before
