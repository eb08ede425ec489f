"""Damage texts and bytes at random: XML, YAML, CSV, messages."""

import re

NUMBERS = ('0', '-1', '1e308', '-1e308', 'nan', 'inf', '1e-320', '0x10', '', ' ', '1,5', '1e999',
           '9' * 400)
TOKENS = ('<', '>', '</', '/>', '<!--', '-->', '<![CDATA[', ']]>', '&amp;', '&lt;', '&#0;', '"',
          "'", '\0', '\ufeff', '{', '}', '[', ']', ': ', '- ', '\n', '#', '|', '>', '*a', '&a ',
          '!!float ', '<<: ', '%', '\t', '\U0001f916', ',', ';', '"\n"')
NUMBER = re.compile(r'-?\d+\.?\d*(?:e-?\d+)?')
TAG = re.compile(r'<[^<>]*>')
NAME = re.compile(r'[A-Za-z_]\w*')


def damaged(rng, text, most=6):
    """Return a text with some random changes."""
    for _ in range(rng.randint(1, most)):
        text = rng.choice(CHANGES)(rng, text)[:MOST]
    return text


def damaged_bytes(rng, data, most=8):
    """Return bytes with some random changes."""
    data = bytearray(data)
    for _ in range(rng.randint(1, most)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            data[at:at + rng.choice([1, 4, 8, 100])] = b''
        elif kind == 1:
            data[at:at] = rng.randbytes(rng.choice([1, 4, 8, 100]))
        elif kind == 2 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 3:
            data[at:at + 4] = rng.choice([b'\xff' * 4, b'\0' * 4, b'\xff\xff\xff\x7f',
                                          b'\0\0\0\x01'])
        else:
            del data[at:]
    return bytes(data)


MOST = 200_000   # characters


def _cut(rng, text):
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[at + rng.choice([1, 3, 30, 300, len(text)]):]


def _insert(rng, text):
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(TOKENS) * rng.choice([1, 1, 1, 2, 100]) + text[at:]


def _repeat(rng, text):
    at = rng.randrange(len(text) + 1)
    end = at + rng.choice([1, 10, 100, 1000])
    return text[:end] + text[at:end] * rng.choice([1, 2, 20]) + text[end:]


def _one_of(pattern, replacements):
    def change(rng, text):
        found = list(pattern.finditer(text))
        if not found:
            return text
        where, other = rng.choice(found), rng.choice(found)
        new = rng.choice([other.group(), *replacements])
        return text[:where.start()] + new + text[where.end():]
    return change


CHANGES = (_cut, _insert, _repeat, _one_of(NUMBER, NUMBERS), _one_of(NUMBER, NUMBERS),
           _one_of(TAG, ['']), _one_of(NAME, ['', 'x', 'x' * 1000]), _one_of(NAME, []))
