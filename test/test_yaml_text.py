"""Test YAML of unknown origin: plain data or a refusal, in bounded time."""

import time

import pytest
import yaml

from dynamics_node.errors import DynamicsError
from dynamics_node.yaml_text import MAX_DEPTH, MAX_KEYS, MAX_NUMBER, _loader, load_yaml

MANY = 50_000
SOON = 3.0   # [s] of this thread; they take a tenth, in pure Python one second
# Nine lists of ten aliases each: a billion values. Lists of one alias each: a deep tower.
BILLION = 'a0: &a0 [x]\n' + ''.join(
    f'a{k}: &a{k} [{", ".join([f"*a{k - 1}"] * 10)}]\n' for k in range(1, 10))
TOWER = 'a0: &a0 [x]\n' + ''.join(f'a{k}: &a{k} [*a{k - 1}]\n' for k in range(1, 200))


@pytest.fixture(params=['C', 'Python'], autouse=True)
def parser(request, monkeypatch):
    """Both parsers that PyYAML may have."""
    if request.param == 'Python':
        monkeypatch.delattr(yaml, 'CSafeLoader', raising=False)
    _loader.cache_clear()
    yield
    _loader.cache_clear()


@pytest.mark.parametrize(('text', 'value'), [
    ('a: [1, 2.5, x, null, true]', {'a': [1, 2.5, 'x', None, True]}), ('', None),
    ('- a\n- a', ['a', 'a']), ('a: &x {b: 1}\nc: *x', {'a': {'b': 1}, 'c': {'b': 1}}),
    ('ü: "\\u00fc\\ud7ff"', {'ü': 'ü\ud7ff'}),
    ('"' + 'x ' * MAX_NUMBER + '"', 'x ' * MAX_NUMBER)])
def test_plain_data_are_read(text, value):
    assert load_yaml(text, MANY) == value


def test_the_first_of_several_documents_is_read_on_request():
    assert load_yaml('a: 1\n---\nb: 2\n---\n', MANY, first=True) == {'a': 1}
    with pytest.raises(DynamicsError, match='single document'):
        load_yaml('a: 1\n---\nb: 2\n', MANY)


@pytest.mark.parametrize(('text', 'words'), [
    ('[1, 2', ''), ('a: b: c', ''), ('a\0b', ''), ('!!python/object/apply:os.getcwd []', 'python'),
    ('{a: 1, a: 2}', "'a' is given twice"), ('a: &x {b: 1}\nc: {<<: *x}', 'merge keys'),
    ('2001-99-99', 'month'), ('!!int ""', 'IndexError'), ('!!float ""', ''),
    ('!!bool x', 'KeyError'), ('!!timestamp x', 'AttributeError'), ('{[a]: b}', ''),
    (r'"\ud800"', ''), (r'"\ud83d\ude00"', ''), ('"\ud800"', ''),
])
def test_invalid_yaml_is_refused_with_a_reason(text, words):
    """For every error of PyYAML."""
    with pytest.raises(DynamicsError) as refusal:
        load_yaml(text, MANY)
    assert words in str(refusal.value) != ''
    str(refusal.value).encode()


@pytest.mark.parametrize(('text', 'words'), [
    ('[' * 200_000, 'nested'), ('- ' * 200_000, 'nested'), ('{a: ' * 50_000, 'nested'),
    ('? ' * 100_000, 'nested'), ('[' + '1,' * 99_000 + ']', 'more than 50000 values'),
    ('{' + ', '.join(f'k{k}: 1' for k in range(19_000)) + '}', f'more than {MAX_KEYS} keys'),
    ('{' + ', '.join(f'{k * (2 ** 61 - 1)}: 1' for k in range(7000)) + '}', 'keys'),
    ('1' + ':59' * 60_000, 'characters'), ('1' + ':59' * 60_000 + '.5', 'characters'),
    ('!!int "1' + ':59' * 60_000 + '"', 'characters'), ('0x' + 'f' * 190_000, 'characters'),
    (BILLION, 'more than 50000 values'), (BILLION.replace('[x]', '{x: x}'), 'values'),
    ('a: &a [*a]', 'alias'), ('a: *a', 'alias'), (TOWER, 'nested'),
], ids=lambda value: value[:12])
def test_texts_that_would_take_long_are_refused_quickly(text, words):
    begun = time.thread_time()
    with pytest.raises(DynamicsError, match=words) as refusal:
        load_yaml(text, MANY)
    assert time.thread_time() - begun < SOON
    assert len(str(refusal.value)) < 500


def test_depth_and_size_up_to_the_limits_are_read():
    assert load_yaml('[' * MAX_DEPTH + ']' * MAX_DEPTH, MANY)
    assert len(load_yaml('{' + ', '.join(f'k{k}: 1' for k in range(MAX_KEYS)) + '}', MANY)
               ) == MAX_KEYS


def test_aliases_count_as_what_they_stand_for():
    """Up to the limits."""
    text = '[&a [1, 2], *a, &b x, *b]'   # the list, 3 values twice, and 2 texts
    assert load_yaml(text, 9) == [[1, 2], [1, 2], 'x', 'x']
    with pytest.raises(DynamicsError, match='more than 8 values'):
        load_yaml(text, 8)
    tower = ''.join(f'- &a{k} [*a{k - 1}]\n' for k in range(1, MAX_DEPTH - 1))
    assert load_yaml('- &a0 [x]\n' + tower, MANY)
    with pytest.raises(DynamicsError, match='nested'):
        load_yaml(f'- &a0 [x]\n{tower}- [*a{MAX_DEPTH - 2}]\n', MANY)
