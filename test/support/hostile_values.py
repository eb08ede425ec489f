"""Pass invalid values to every public callable."""

import enum
import inspect

import numpy as np

from dynamics_node import DynamicsError


class Broken:
    """An object whose conversions to numbers all fail, each with another error."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError('no array')

    def __len__(self):
        raise OverflowError('no length')

    def __iter__(self):
        raise KeyError('no entries')

    def __float__(self):
        raise ZeroDivisionError('no number')


class Endless:
    """An object whose length is larger than any memory."""

    def __len__(self):
        return 2 ** 62

    def __getitem__(self, k):
        return 1.0


class Liar:
    """An object whose array has another shape each time, and text in the end."""

    def __init__(self):
        self.times = 0

    def __array__(self, dtype=None, copy=None):
        self.times += 1
        return np.full(self.times, 'text')


class Nameless(str):
    """A text that cannot be hashed."""

    __hash__ = None


def _circle():
    circle = []
    circle.append(circle)
    return circle


# Made anew for each call: generators are used up, lists could be written.
HOSTILE = {
    'None': lambda: None, 'True': lambda: True, 'False': lambda: False,
    'zero': lambda: 0, 'minus one': lambda: -1, 'number': lambda: 0.5, 'negative': lambda: -0.5,
    'nan': lambda: np.nan, 'inf': lambda: np.inf, '-inf': lambda: -np.inf,
    'tiny': lambda: 5e-324, 'largest': lambda: 1.7e308, 'huge integer': lambda: 10 ** 30,
    'beyond floats': lambda: 10 ** 400, 'beyond texts': lambda: 10 ** 5000,
    'complex': lambda: 1 + 2j, 'numpy nan': lambda: np.float64('nan'),
    'numpy integer': lambda: np.int8(-3), 'datetime': lambda: np.datetime64('2020-01-01'),
    'text': lambda: 'text', 'empty text': lambda: '', 'number as text': lambda: '1.5',
    'surrogate': lambda: 'a\udc80b', 'null': lambda: 'a\0b', 'braces': lambda: '{0} %s {x}',
    'long text': lambda: 'x' * 100_000, 'bytes': lambda: b'\xff\x00', 'bytearray':
    lambda: bytearray(7), 'memoryview': lambda: memoryview(b'1234567'),
    'not hashable text': lambda: Nameless('text'),
    'empty list': lambda: [], 'list': lambda: [1.0, 2.0], 'seven': lambda: [0.1] * 7,
    'list of text': lambda: ['a', 'b'], 'seven texts': lambda: ['1'] * 7,
    'list of lists': lambda: [[1.0, 2.0], [3.0, 4.0]], 'ragged': lambda: [[1.0], [1.0, 2.0]],
    'list of None': lambda: [None] * 7, 'list of nan': lambda: [np.nan] * 7,
    'list of objects': lambda: [object()] * 7, 'list of huge': lambda: [10 ** 400] * 7,
    'circle': _circle, 'tuple': lambda: (), 'pair': lambda: (None, None),
    'empty dict': dict, 'dict': lambda: {'a': 1}, 'dict of texts': lambda: {'joint_1': 'x'},
    'dict of None': lambda: {'joint_1': None, 'tool0': None},
    'dict of dicts': lambda: {'joint_1': {}, 'tool0': {}}, 'numbered': lambda: {1: 2.0, (): 3.0},
    'dict of lists': lambda: {'joint_1': [1.0, 2.0], 'tool0': [1.0, 2.0]},
    'dict of surrogates': lambda: {'\udc80': 1.0},
    'set': lambda: {1.0, 2.0}, 'frozenset': lambda: frozenset(), 'range': lambda: range(7),
    'generator': lambda: (x for x in (1.0, 2.0)), 'iterator': lambda: iter([1.0] * 7),
    'object': object, 'broken': Broken, 'endless': Endless, 'liar': Liar,
    'enumeration': lambda: enum.Enum('E', 'a').a, 'slice': lambda: slice(None),
    'ellipsis': lambda: ..., 'not implemented': lambda: NotImplemented,
    'scalar array': lambda: np.array(1.0), 'scalar of text': lambda: np.array('text'),
    'empty array': lambda: np.zeros(0), 'wrong size': lambda: np.zeros(5),
    'no rows': lambda: np.zeros((0, 7)), 'three axes': lambda: np.zeros((2, 3, 7)),
    'integers': lambda: np.arange(7), 'booleans': lambda: np.zeros(7, dtype=bool),
    'nan array': lambda: np.full(7, np.nan), 'large array': lambda: np.full(7, 1.7e308),
    'complex array': lambda: np.ones(7) * 1j, 'text array': lambda: np.full(7, 'x'),
    'object array': lambda: np.array([object()] * 7), 'None array': lambda: np.array([None] * 7),
    'dates': lambda: np.zeros(7, dtype='M8[s]'),
    'records': lambda: np.zeros(7, dtype=[('a', float), ('b', int)]),
    'masked': lambda: np.ma.array([1.0] * 7, mask=[True] + [False] * 6),
    'matrix': lambda: np.full((7, 7), np.nan),
}


def parameters_of(function):
    """Return the inspect.Parameters of a callable that take an argument by name."""
    named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    return [parameter for parameter in inspect.signature(function).parameters.values()
            if parameter.kind in named]


def escapes(function, samples, skipped=()):
    """Yield what else than a DynamicsError a callable raises, for one hostile argument at a time.

    :param samples: {parameter: a function that makes a valid value} of those that must be given.
    :param skipped: pairs (parameter, name of the value) that are left out.
    """
    for parameter in parameters_of(function):
        for name, hostile in HOSTILE.items():
            if (parameter.name, name) in skipped:
                continue
            arguments = {key: make() for key, make in samples.items()}
            arguments[parameter.name] = hostile()
            try:
                function(**arguments)
            except DynamicsError as error:
                assert str(error)
            except Exception as error:
                yield f'{parameter.name} = {name}: {type(error).__name__}: {str(error)[:120]}'
