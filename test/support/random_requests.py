"""Make random requests of any message type: valid values, nearly valid ones, absurd ones."""

import math
import re

from dynamics_node.ros.message_fields import message_fields

FLOATS = (0.0, -0.0, 1.0, -1.0, 0.1, 1e-300, 5e-324, 1e300, -1e300, math.inf, -math.inf, math.nan)
WORDS = ('', ' ', 'x', 'world', 'x' * 300, '\u00fc\u4e2d\U0001f916', '\n', "'", '${x}', '../..',
         '- {name: a, kind: weld, frame: b}', '{', '- - - -', '&a [*a]', '<<: 1', '!!python/none x')
COUNTS = (0, 0, 1, 1, 2, 3, 7, 50, 1000)
LARGE = (10_001, 200_000)   # rarely
RARELY = 0.02
INTEGER = re.compile(r'(u?)int(\d+)')


class RandomRequests:
    """Draws requests.

    :ivar words: texts that are valid somewhere, such as names of joints.
    """

    def __init__(self, rng, words):
        self._rng, self._words = rng, list(words)

    def draw(self, message_type, sizes=()):
        """Return a random message of a type.

        :param sizes: lengths of lists that are valid somewhere, such as the number of joints.
        """
        message = message_type()
        for field, declared in message_type.get_fields_and_field_types().items():
            if self._rng.random() < 0.4:
                setattr(message, field, self._value(
                    message_fields(message_type)[field], declared, getattr(message, field), sizes))
        return message

    def _value(self, kind, declared, default, sizes):
        if kind.many:
            count = self._count(sizes)
            if kind.message is not None:   # few objects, many references
                some = [self.draw(kind.message, sizes) for _ in range(min(count, 5))]
                return [some[k % 5] for k in range(count)]
            some = [self._single(declared, 0.0) for _ in range(min(count, 50))]
            return [some[k % 50] for k in range(count)]
        if kind.message is not None:
            return self.draw(kind.message, sizes)
        if declared.endswith(']'):
            return [self._single(declared, 0.0) for _ in range(len(default))]
        return self._single(declared, default)

    def _count(self, sizes):
        if self._rng.random() < RARELY:
            return self._rng.choice(LARGE)
        return self._rng.choice([*sizes, *sizes, *sizes, *COUNTS])

    def _single(self, declared, default):
        name = re.findall(r'(?:sequence<)?(\w+)', declared)[0]
        if name in ('string', 'wstring'):
            return self._text()
        if name in ('double', 'float'):
            return self._rng.choice(FLOATS) if self._rng.random() < 0.1 else (
                self._rng.uniform(-1.0, 1.0))
        if name in ('boolean', 'bool'):
            return self._rng.random() < 0.5
        if name in ('octet', 'byte'):
            return bytes([self._rng.randrange(256)])
        sign, bits = INTEGER.match(name).groups()
        least, most = (0, 2 ** int(bits) - 1) if sign else (
            -2 ** (int(bits) - 1), 2 ** (int(bits) - 1) - 1)
        return self._rng.choice([0, 1, 2, 10, max(least, -1), least, most])

    def _text(self):
        return self._rng.choice(self._words if self._rng.random() < 0.8 else WORDS)
