"""Read a URDF from a text or file, and refuse what is not safe to parse."""

import os
import re
import sys

from dynamics_node.checks import whole
from dynamics_node.errors import FileError, FileTooLong, ModelError, shortened
from dynamics_node.files import read_file

MAX_BYTES = 20_000_000  # the largest published robots are below 2 MB


def urdf_text(source: str | bytes | os.PathLike, max_bytes: int = MAX_BYTES) -> str:
    """Return the URDF text of `source`: the text itself, or the path of a file that holds it.

    :param source: str, bytes or path-like. Bytes, and what begins with '<', are text; all else is
        a path.
    :param max_bytes: a longer text is refused.
    :raise ModelError: unreadable, too long, empty, or with a DOCTYPE or entity.
    """
    max_bytes = whole('max_bytes', max_bytes, 0, sys.maxsize - 1)
    raw = _read(source, max_bytes)
    if len(raw) > max_bytes:
        raise ModelError(f'the URDF text is longer than the limit of {max_bytes} bytes; '
                         'pass a larger max_bytes if this is meant')
    text = _decode(raw).lstrip('\ufeff').strip()
    if not text:
        raise ModelError('the URDF text is empty; expected <robot name="...">...</robot>')
    if re.search(r'<!(DOCTYPE|ENTITY)', text, re.IGNORECASE):
        raise ModelError('the URDF text has a DOCTYPE or ENTITY declaration; entities are never '
                         'expanded here: remove the declaration')
    return text


def is_path(source: str | os.PathLike) -> bool:
    """Return whether a source is the path of a file; a text is empty or begins with '<'."""
    return not isinstance(source, str) or source.lstrip('\ufeff \t\r\n')[:1] not in ('<', '')


def _read(source: str | bytes | os.PathLike, max_bytes: int) -> str | bytes:
    """Return the source as str or bytes, read from a file if it is a path."""
    if isinstance(source, (bytes, bytearray)):
        return source
    if not isinstance(source, (str, os.PathLike)):
        raise ModelError(f'a URDF is a text or a path, not a {type(source).__name__}')
    if isinstance(source, str) and not is_path(source):
        return source
    return _read_file(os.fsdecode(source), max_bytes)


def _read_file(name: str, max_bytes: int) -> bytes:
    try:
        return read_file(name, max_bytes)
    except FileError as error:
        if error.missing:
            raise ModelError(f'no file {shortened(name, 80)!r}, and it is no URDF text either: '
                             'a text begins with <?xml or <robot') from error
        hint = '; pass a larger max_bytes if this is meant' * isinstance(error, FileTooLong)
        raise ModelError(f'{error}{hint}') from error


def _decode(raw: str | bytes) -> str:
    if isinstance(raw, str):
        return raw
    try:
        return raw.decode('utf-8')
    except UnicodeDecodeError as error:
        raise ModelError(f'the URDF is not UTF-8 text (byte {error.start}); '
                         'save it as UTF-8') from error
