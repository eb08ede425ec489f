"""Compose config/dynamics_node.yaml.

`PYTHONPATH=.:test python -m support.shipped_config` writes it.
"""

import json
import textwrap
from dataclasses import fields

from dynamics_node.parameter import PerJoint
from dynamics_node.ros.parameters.declared import SECTIONS
from support.paths import ROOT

FILE = ROOT / 'config' / 'dynamics_node.yaml'
HEAD = """\
# Parameters of dynamics_node: every one that the node declares, with its default.
# Copy what you change; `ros2 param describe` shows the same texts.
# A map has one number per joint; `default` is that of all joints without one of their own:
# `kp: {default: 50.0, joint_4: 80.0}`. Maps without a default are comments here, since ROS cannot
# read an empty map.
/**/dynamics_node:  # in any namespace
  ros__parameters:
"""
COLUMNS = 100


def text():
    """Return the file: each parameter below its meaning, choices or range."""
    parts = [HEAD]
    for section, kind in SECTIONS.items():
        indent = ' ' * 4
        if section:
            meaning = kind.__doc__.split('.')[0]
            parts.append(f'\n{indent}{section.rstrip(".")}:  # {meaning}\n')
            indent += '  '
        parts += [_lines(field, indent) for field in fields(kind)]
    return ''.join(parts)


def _lines(field, indent):
    said = ' '.join([field.metadata['text'], *_valid(field.metadata)])
    comment = textwrap.fill(said, COLUMNS, initial_indent=f'{indent}# ',
                            subsequent_indent=f'{indent}# ', break_on_hyphens=False)
    return f'{comment}\n{indent}{_yaml(field.name, field.default)}\n'


def _yaml(name, value):
    if not isinstance(value, PerJoint):
        return f'{name}: {json.dumps(value)}'
    if value.default is None:
        return f'# {name}: {{joint_1: ...}}'
    return f'{name}: {{default: {value.default}}}'


def _valid(meta):
    if meta['one_of']:
        yield f'One of {", ".join(meta["one_of"])}.'
    if meta['bounds']:
        least, greatest = meta['bounds']
        yield f'From {least:g} to {greatest:g}.'
    if meta.get('read_only'):
        yield 'Only at start.'


if __name__ == '__main__':
    FILE.write_text(text())
