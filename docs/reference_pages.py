"""Write the reference pages: the Python API, services and messages, parameters. All Markdown.

Each function is called by conf.py where a page of docs/reference/ has a comment of its name.
"""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import dynamics_node
from dynamics_node.parameter import PerJoint
from dynamics_node.ros.parameters.declared import DECLARED

ROOT = Path(__file__).resolve().parent.parent
ROOT_NAMES = ['Robot', 'Constraint', 'Target', 'Task', 'Bound', 'FrameMotion', 'Tracking']
RESULT_ROOMS = ('algorithms', 'constrained', 'kernels', 'model', 'simulation', 'task_space')


def python_api():
    """Return directives for the names of the package: Robot first, then in their order."""
    names = sorted(dynamics_node.__all__, key=lambda name: (
        ROOT_NAMES.index(name) if name in ROOT_NAMES else len(ROOT_NAMES)))
    return '\n'.join(directive('dynamics_node', name) for name in names)


def results():
    """Return directives for the result types that the annotations of Robot's methods name."""
    shown = {getattr(dynamics_node, name) for name in dynamics_node.__all__}
    classes = {}
    for info in pkgutil.walk_packages(dynamics_node.__path__, 'dynamics_node.'):
        if info.name.split('.')[1] in RESULT_ROOMS:
            found = vars(importlib.import_module(info.name)).values()
            classes |= {each.__name__: each for each in found
                        if isinstance(each, type) and each.__module__ == info.name}
    annotations = [str(getattr(method, '__annotations__', {}).get('return'))
                   for _, method in inspect.getmembers(dynamics_node.Robot, callable)]
    named = set(re.findall(r'\w+', ' '.join(annotations)))
    return '\n'.join(directive(classes[name].__module__, name) for name in sorted(named)
                     if name in classes and classes[name] not in shown)


def identification():
    return module('dynamics_node.identification')


def data():
    return module('dynamics_node.data')


def observer():
    return module('dynamics_node.observer')


def reports():
    return module('dynamics_node.reports')


def module(name):
    """Return directives for the names in a package's __all__; without one, for its modules."""
    package = importlib.import_module(name)
    names = getattr(package, '__all__', None)
    if names:
        return '\n'.join(directive(name, each) for each in names)
    files = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    return '\n'.join(f'## {each}\n\n```{{eval-rst}}\n.. automodule:: {name}.{each}\n```\n'
                     for each in files)


def directive(module_name, name):
    """Return the autodoc directive of one class, exception or function."""
    obj = getattr(importlib.import_module(module_name), name)
    kind = 'autofunction'
    if isinstance(obj, type):
        kind = 'autoexception' if issubclass(obj, BaseException) else 'autoclass'
    elif not callable(obj):
        kind = 'autodata'
    return f'```{{eval-rst}}\n.. {kind}:: {module_name}.{name}\n```\n'


# Pages of the repository -------------------------------------------------------------------------

def overview():
    return included('README.md')


def contributing():
    return included('CONTRIBUTING.md')


def included(name):
    """Return a page of the repository; links to docs/ are kept, links elsewhere become text."""
    text = (ROOT / name).read_text().replace('](docs/', '](../')
    return re.sub(r'\[([^]]*)\]\((?!\.\./)[^)]*\)', r'\1', text)


# Interfaces --------------------------------------------------------------------------------------

def services():
    return interfaces('srv', ('Request', 'Reply'))


def messages():
    return interfaces('msg', ('Fields',))


def actions():
    return interfaces('action', ('Goal', 'Result', 'Feedback'))


def interfaces(folder, parts):
    """Return one section per file of srv/, msg/ or action/: its fields and their comments."""
    sections = []
    for path in sorted((ROOT / folder).glob(f'*.{folder}')):
        sections.append(f'### {path.stem}\n')
        for part, text in zip(parts, re.split(r'^---$', path.read_text(), flags=re.M)):
            sections += [f'**{part}**\n', f'```text\n{text.strip()}\n```\n']
    return '\n'.join(sections)


# Parameters --------------------------------------------------------------------------------------

def parameters():
    """Return one table per section: name, default, valid values, meaning."""
    sections = {}
    for name, field in DECLARED.items():
        section, _, _ = name.rpartition('.')
        sections.setdefault(section, []).append(parameter_row(name, field))
    head = '| parameter | default | valid | meaning |\n|---|---|---|---|\n'
    return '\n'.join(f'## {f"`{name}.*`" if name else "The robot and its state"}\n\n'
                     + head + '\n'.join(rows) + '\n' for name, rows in sections.items())


def parameter_row(name, field):
    """Return the row of one parameter."""
    meta = field.metadata
    default = list(field.default) if isinstance(field.default, tuple) else field.default
    if isinstance(default, PerJoint):
        name, default = f'{name}.<joint>', '' if default.default is None else default.default
    shown = {'': 'empty', True: '`true`', False: '`false`'}.get(default) if not isinstance(
        default, (list, float)) else None
    valid = ''
    if meta.get('one_of'):
        valid = ', '.join(f'`{choice}`' for choice in meta['one_of'])
    elif meta.get('bounds'):
        valid = '{:g} to {:g}'.format(*meta['bounds'])
    text = meta['text'] + (' Read-only.' if meta.get('read_only') else '')
    return f'| `{name}` | {shown or f"`{default}`"} | {valid} | {escaped(text)} |'


def escaped(text):
    """Return plain text as Markdown."""
    return re.sub(r'([|*_<\[\]\\])', r'\\\1', text)
