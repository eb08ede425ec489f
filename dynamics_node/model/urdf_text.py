"""Is this a URDF text that is safe and sensible to parse?"""

import os
import re
from pathlib import Path

from dynamics_node.errors import ModelError

MAX_BYTES = 20_000_000  # the largest published robots are below 2 MB


def urdf_text(source, max_bytes=MAX_BYTES):
    """Return the URDF text of `source`: the text itself, or the path of a file that holds it.

    :param source: str, bytes or path-like. What begins with '<' is text, all else is a path.
    :param max_bytes: a longer text is refused.
    :raise ModelError: unreadable, too long, empty, or with a DOCTYPE or entity.
    """
    text = _decode(_read(source, max_bytes))
    if len(text) > max_bytes:
        raise ModelError(f'the URDF text has {len(text)} characters, more than the limit of '
                         f'{max_bytes}; pass a larger max_bytes if this is meant')
    if not text.strip():
        raise ModelError('the URDF text is empty; expected <robot name="...">...</robot>')
    if re.search(r'<!(DOCTYPE|ENTITY)', text, re.IGNORECASE):
        raise ModelError('the URDF text has a DOCTYPE or ENTITY declaration; entities are never '
                         'expanded here: remove the declaration')
    return text


def _read(source, max_bytes):
    if isinstance(source, (bytes, bytearray)):
        return bytes(source)
    if isinstance(source, str) and source.lstrip('\ufeff \t\r\n').startswith('<'):
        return source
    if isinstance(source, str) and not source.strip():
        return source
    if not isinstance(source, (str, os.PathLike)):
        raise ModelError(f'a URDF is a text or a path, not a {type(source).__name__}')
    shown = repr(str(source)[:80])
    try:
        path = Path(source)
        if not path.is_file():
            raise ModelError(f'no file {shown}, and it is no URDF text either: '
                             'a text begins with <?xml or <robot')
        if path.stat().st_size > max_bytes:
            raise ModelError(f'{shown} has {path.stat().st_size} bytes, more than the limit of '
                             f'{max_bytes}; pass a larger max_bytes if this is meant')
        return path.read_bytes()
    except (OSError, ValueError) as error:  # no permission, name too long, NUL in the name
        if isinstance(error, ModelError):
            raise
        raise ModelError(f'cannot read {shown}: {error}') from error


def _decode(text):
    if isinstance(text, bytes):
        try:
            text = text.decode('utf-8-sig')
        except UnicodeDecodeError as error:
            raise ModelError(f'the URDF is not UTF-8 text: {error}') from error
    return text.lstrip('\ufeff')
