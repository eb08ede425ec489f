"""Read YAML of unknown origin: plain data, bounded in size and depth, each key once.

PyYAML raises a dozen kinds of errors, takes a minute for texts made to be slow, and its C parser
crashes the process on lists nested 100,000 deep.
"""

from functools import cache
from typing import Any

from dynamics_node.errors import DynamicsError, shortened

MAX_DEPTH = 50             # of nested lists and mappings
MAX_KEYS = 1000            # of one mapping
MAX_NUMBER = 10_000        # characters of a value without quotes, which may be a number
LONGEST_MESSAGE = 300      # characters


def load_yaml(text: str, max_values: int, first: bool = False) -> object:
    """Return the content of a text: dicts, lists, text, numbers, None.

    :param max_values: greatest number of values in all, aliases expanded.
    :param first: read the first of several documents; else there must be one.
    :raise DynamicsError: the reason in one sentence.
    """
    from yaml import YAMLError  # comes with rclpy; imported only when a text is read
    try:
        _check(text, max_values)
        loader = _loader()(text)
        try:
            if not first:
                return loader.get_single_data()
            return loader.get_data() if loader.check_data() else None
        finally:
            loader.dispose()
    except (DynamicsError, YAMLError) as error:
        reason = ' '.join(str(error).split())
        raise DynamicsError(shortened(reason, LONGEST_MESSAGE)) from error
    except Exception as error:  # !!int '' is an IndexError, !!bool x a KeyError, and so on
        reason = shortened(f'{type(error).__name__} {error}', LONGEST_MESSAGE)
        raise DynamicsError(f'a value does not fit its YAML tag: {reason}') from error


def _check(text: str, max_values: int) -> None:
    """Refuse texts that would take too much time or memory; the event parser is iterative.

    An alias counts as what it stands for: nine lines of ten aliases each are a billion values.
    """
    import yaml
    count = 0
    opened = [_Opened(None, 0)]   # the document, then the open collections
    known = {}                    # anchor: (number of values, depth)
    for event in yaml.parse(text, _loader()):
        depth = 0
        if isinstance(event, yaml.CollectionEndEvent):
            ended = opened.pop()
            opened[-1].depth = max(opened[-1].depth, ended.depth + 1)
            known[ended.anchor] = count - ended.before, ended.depth + 1
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in known:
                raise DynamicsError('an alias stands for nothing that ends before it')
            size, depth = known[event.anchor]
            opened[-1].depth = max(opened[-1].depth, depth)
        else:
            size = 1
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append(_Opened(event.anchor, count))
        elif isinstance(event, yaml.ScalarEvent):
            known[event.anchor] = 1, 0
            _check_scalar(event)
        count += size
        if len(opened) - 1 + depth > MAX_DEPTH:
            raise DynamicsError(f'it is nested more than {MAX_DEPTH} deep')
        if count > max_values:
            raise DynamicsError(f'it has more than {max_values} values')


class _Opened:
    """A list or mapping whose end has not been read."""

    def __init__(self, anchor: str | None, before: int) -> None:
        self.anchor, self.before = anchor, before   # `before`: values before it
        self.depth = 0                              # of the collections in it


def _check_scalar(event: Any) -> None:
    if len(event.value) > MAX_NUMBER and (event.tag is not None or event.implicit[0]):
        raise DynamicsError(f'it has a value of {len(event.value)} characters without quotes; '
                            f'expected at most {MAX_NUMBER}')
    try:
        event.value.encode()
    except UnicodeEncodeError:
        raise DynamicsError('it has half a character, such as the escape \\ud800') from None


@cache
def _loader() -> Any:
    import yaml
    parent: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)

    class Loader(parent):
        """Load plain data; refuse duplicate keys and merge keys."""

        def flatten_mapping(self, node: Any) -> None:
            if any(key.tag == 'tag:yaml.org,2002:merge' for key, _ in node.value):
                raise yaml.constructor.ConstructorError(
                    None, None, 'merge keys (<<) are not supported', node.start_mark)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict:
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f'{key.value!r} is given twice', node.start_mark)
                seen.add(key.value if isinstance(key, yaml.ScalarNode) else None)
            if len(node.value) > MAX_KEYS:  # chosen keys can make a dict slow (hash collisions)
                raise yaml.constructor.ConstructorError(
                    None, None, f'a mapping has more than {MAX_KEYS} keys', node.start_mark)
            return super().construct_mapping(node, deep)

    return Loader
