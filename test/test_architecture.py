"""Check the design: folders and their order, public names, lengths, one test per source."""

import ast
import importlib
import inspect
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import dynamics_node
from dynamics_node.commands import call
from dynamics_node.kernels.table import ALL_KERNELS

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / 'dynamics_node'
# In the order data passes through them; a room imports only from itself and rooms above it.
ROOMS = ('errors', 'checks', 'parameter', 'files', 'yaml_text', 'yaml_records', 'lazy_names',
         'linalg', 'spatial', 'model', 'example_robots', 'algorithms',
         'constrained', 'task_space', 'compiler', 'kernels', 'simulation', 'robot',
         'identification', 'observer', 'data',
         'control', 'safety', 'reports', 'inspector', 'commands', '__main__', 'ros')
ROS_ROOMS = {'parameters', 'state', 'services', 'torque', 'identification',
             'long_requests'}  # by what flows
# compiler/ turns any traced function into machine code; it knows no robot.
COMPILER_IMPORTS = {'compiler', 'errors', 'files'}
# Folders of tests that are about several sources: laws of physics, other engines, pages, programs,
# random input.
CROSS_CUTTING = {'laws', 'oracles', 'docs', 'examples', 'support', 'fuzz'}
# Class names that may exist more than once, with a reason each.
SHARED_CLASS_NAMES: set[str] = set()
ROS_MODULES = re.compile(r'^(rclpy|ament_index_python|launch|launch_ros|.*_msgs|.*_srvs)(\.|$)')
GENERATED = ('srv', 'msg', 'action')
LONGEST, MEDIAN = 400, 150


@cache
def sources():
    return [path for path in sorted(PACKAGE.rglob('*.py'))
            if path.relative_to(PACKAGE).parts[0] not in GENERATED]


@cache
def text_of(path):
    return path.read_text()


@cache
def tree_of(path):
    """Return the syntax tree of a source, which several tests look at."""
    return ast.parse(text_of(path))


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix('.py')


def imports_of(path, top_level_only=False):
    tree = tree_of(path)
    for node in tree.body if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}: import by full name'
            yield from (f'{node.module}.{alias.name}' for alias in node.names)


@pytest.mark.parametrize('path', sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_from_rooms_above_it(path):
    """And only ros/ knows ROS; a command that needs ROS imports it when it runs."""
    room = room_of(path)
    if room == '__init__':
        return  # the table of contents may name every room
    for name in imports_of(path, top_level_only=room == 'commands'):
        if room != 'ros':
            assert not ROS_MODULES.match(name), f'{path} imports {name}'
            assert not re.match(rf'dynamics_node\.({"|".join(GENERATED)})\b', name)
        if name.startswith('dynamics_node.') and name.split('.')[1] not in GENERATED:
            other = name.split('.')[1]
            assert ROOMS.index(other) <= ROOMS.index(room), f'{path} imports {name}'


def test_the_list_of_rooms_is_complete():
    """A new folder gets its place in ROOMS."""
    assert {room_of(path) for path in sources()} - {'__init__'} == set(ROOMS)
    assert {path.parent.name for path in (PACKAGE / 'ros').glob('*/*.py')} == ROS_ROOMS


def test_the_compiler_knows_no_robot():
    """It imports nothing of spatial, model, algorithms, constrained, task_space."""
    for path in (PACKAGE / 'compiler').glob('*.py'):
        rooms = {name.split('.')[1] for name in imports_of(path)
                 if name.startswith('dynamics_node.')}
        assert rooms <= COMPILER_IMPORTS, f'{path} imports {rooms - COMPILER_IMPORTS}'


def test_class_names_are_unique():
    """A name means one thing in the whole package; private names too."""
    trees = (tree_of(path) for path in sources())
    counts = Counter(node.name for tree in trees for node in ast.walk(tree)
                     if isinstance(node, ast.ClassDef))
    assert {name for name, count in counts.items() if count > 1} <= SHARED_CLASS_NAMES


def mirrored(path):
    """Return whether test_<stem>.py or test_<stem>_<topic>.py has a source <stem>.py there."""
    room = PACKAGE / path.relative_to(ROOT / 'test').parent
    stems = {source.stem for source in room.glob('*.py')}
    words = path.stem.removeprefix('test_').split('_')
    if path.stem == 'test_public_names':
        words = ['__init__']
    return any('_'.join(words[:n]) in stems for n in range(1, len(words) + 1))


def test_tests_mirror_the_sources():
    """test/<room>/test_<file>.py or test_<file>_<topic>.py, but in the folders of CROSS_CUTTING.

    test_public_names.py is about the names in the room's __init__.py.
    """
    tests = [path for path in sorted((ROOT / 'test').rglob('test_*.py'))
             if path.parent != ROOT / 'test'
             and path.relative_to(ROOT / 'test').parts[0] not in CROSS_CUTTING]
    assert len(tests) > 100
    assert [str(path.relative_to(ROOT)) for path in tests if not mirrored(path)] == []


def test_helpers_of_tests_are_in_support():
    """Every other file is a test or a conftest.py."""
    others = [str(path.relative_to(ROOT)) for path in (ROOT / 'test').rglob('*.py')
              if not path.name.startswith('test_') and path.name != 'conftest.py'
              and path.parent != ROOT / 'test' / 'support']
    assert others == []


def test_every_public_name_exists_and_has_a_docstring():
    """__all__ is true."""
    for name in dynamics_node.__all__:
        assert getattr(dynamics_node, name).__doc__, name


def test_type_hints_are_shipped():
    """py.typed is in the installed package, and pip installs it too."""
    assert (Path(dynamics_node.__file__).parent / 'py.typed').exists()
    assert "NAME: ['py.typed']" in (ROOT / 'setup.py').read_text()


def test_no_statement_stands_twice_in_a_file():
    """Such as a block of imports that two merges have added."""
    for path in [*sources(), *(ROOT / 'test').rglob('*.py'), *(ROOT / 'examples').rglob('*.py')]:
        body = (tree_of(path) if path in sources() else ast.parse(path.read_text())).body
        named = Counter(getattr(node, 'name', None) for node in body)   # None: it has no name
        counts = Counter(ast.dump(node) for node in body
                         if named[getattr(node, 'name', None)] > 1)
        assert max(counts.values(), default=0) <= 1, path


def test_files_are_short():
    """At most 400 lines, and half of them below 150."""
    files = [*sources(), *(ROOT / 'test').rglob('*.py'), *(ROOT / 'examples').rglob('*.py')]
    lengths = {path: len(path.read_text().splitlines()) for path in files}
    assert {str(path): n for path, n in lengths.items() if n > LONGEST} == {}
    assert sorted(lengths.values())[len(lengths) // 2] <= MEDIAN


def test_the_version_is_one():
    """package.xml is where it is; the module, the changelog and the citation agree."""
    version = re.search('<version>(.*)</version>', (ROOT / 'package.xml').read_text()).group(1)
    assert dynamics_node.__version__ == version
    assert re.search(rf'^{re.escape(version)} ', (ROOT / 'CHANGELOG.rst').read_text(), re.M)
    assert f'version: {version}\n' in (ROOT / 'CITATION.cff').read_text()


def test_the_indexes_name_every_page_and_every_program():
    """docs/README.md links to each page, examples/README.md names each file to run; links exist."""
    index = (ROOT / 'docs' / 'README.md').read_text()
    links = set(re.findall(r'\]\(([^)#]+)\)', index))
    pages = {path.name for path in (ROOT / 'docs').glob('*.md')} - {'README.md'}
    assert pages <= links
    assert [link for link in links if not (ROOT / 'docs' / link).exists()] == []
    named = (ROOT / 'examples' / 'README.md').read_text()
    programs = [path.name for path in (ROOT / 'examples').glob('*.py')
                if "__name__ == '__main__'" in path.read_text()]
    assert len(programs) >= 8
    assert [name for name in programs if f'`{name}`' not in named] == []


def test_pages_and_programs_import_public_names_from_where_they_are_offered():
    """The top level, or the room that has the name in its __all__; not the module inside."""
    pages = [*ROOT.glob('*.md'), *(ROOT / 'docs').glob('*.md'), *(ROOT / 'examples').rglob('*.py')]
    deep = []
    for page in pages:
        for module, names in re.findall(r'^from (dynamics_node\.[\w.]+) import \(?([\w, \n]+)',
                                        page.read_text(), re.M):
            room = '.'.join(module.split('.')[:2])
            offered = {*dynamics_node.__all__,
                       *(getattr(importlib.import_module(room), '__all__', ()) if module != room
                         else ())}
            deep += [f'{page.name}: {module}.{name}' for name in re.findall(r'\w+', names)
                     if name in offered]
    assert deep == []


def test_library_code_neither_prints_nor_sleeps():
    """Pure rooms return or raise."""
    for path in sources():
        if room_of(path) != 'ros':
            assert not re.search(r'\b(print|sleep)\(', path.read_text()), path


OPENS = re.compile(r'\.read_(text|bytes)\(|(?<!\w)open\(|np\.(load|loadtxt|genfromtxt)\(path'
                   r'|\byaml\.(load|parse|safe_load)')
MAY_OPEN = {  # file of the package -> lines that may
    'files.py': r'os\.open\(', 'compiler/private_folder.py': r'os\.open\(',
    'data/atomic_files.py': r'os\.open\(path, os\.O_RDONLY\)',                   # to sync it
    'yaml_text.py': r'yaml\.parse\(', 'commands/main.py': r'os\.devnull',
    'ros/identification/memory_limit.py': '/proc/self/statm',
    'ros/torque/huge_pages.py': '/proc/self/maps',
    'ros/child_process.py': r"os\.open\('/proc/self/fd/2'|os\.devnull",         # our own log
    'ros/prepared_process.py': r'os\.devnull',
    'ros/rclpy_internals.py': r"os\.open\('/proc/self/mem'",                    # our own memory
    'kernels/cache_name.py': r'path\.name\.encode\(\) \+ path\.read_bytes\(\)',   # our own sources
    'identification/csv_files.py': r"open\(path, 'w'"}                          # writes


def test_files_are_opened_in_one_place():
    """files.py refuses what would block; yaml_text.py what would crash the parser."""
    for path in sources():
        name = str(path.relative_to(PACKAGE))
        for number, line in enumerate(path.read_text().splitlines(), 1):
            assert not OPENS.search(line) or re.search(MAY_OPEN.get(name, '(?!)'), line), (
                f'{name}:{number} opens a file by itself: {line}')


def test_the_command_line_and_the_client_take_the_inputs_of_the_kernels():
    """`call` has an option for each input; so has a client's method named as a kernel."""
    from dynamics_node.ros.client import DynamicsClient
    for name, question in call.QUESTIONS.items():
        options = set(call.options_of(name))
        if question.kernel:
            spec, method = ALL_KERNELS[question.kernel], getattr(DynamicsClient, question.method)
            assert {*spec.inputs, *spec.wrenches} <= options, name
            assert options <= set(inspect.signature(method).parameters), name
    named = set(ALL_KERNELS) & set(vars(DynamicsClient))
    assert {'inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics'} <= named
    for name in named:
        arguments = inspect.signature(getattr(DynamicsClient, name)).parameters
        assert {*ALL_KERNELS[name].inputs, *ALL_KERNELS[name].wrenches} <= set(arguments), name


def test_a_field_named_as_a_kernel_has_the_shape_of_its_result():
    """In the client's replies: fields that are not in SHAPES have one axis."""
    from dynamics_node.kernels.spec import VECTOR
    from dynamics_node.ros.client_replies import SHAPES
    fields = {name for path in (ROOT / 'srv').glob('*.srv') for name in re.findall(
        r'^float64\[\] (\w+)', path.read_text().split('---')[1], re.M)}
    assert set(SHAPES) <= fields
    for name in {'mass_matrix'} | (fields & set(ALL_KERNELS)) - {'jacobian'}:  # stacked
        assert SHAPES.get(name, VECTOR) == ALL_KERNELS[name].shapes[0], name


def test_every_service_is_documented_field_by_field():
    """Each field of a .srv has a comment, on its line or above it, but success and message."""
    for path in (ROOT / 'srv').glob('*.srv'):
        lines = path.read_text().splitlines()
        for above, line in zip(['', *lines], lines):
            if re.match(r'^\w', line) and not re.match(r'^bool success$', line):
                assert '#' in line or above.startswith('#'), f'{path.name}: {line}'


PUBLIC_MODULES = ('dynamics_node', 'dynamics_node.data', 'dynamics_node.identification',
                  'dynamics_node.observer', 'dynamics_node.reports')


def functions_of(obj):
    """Return the functions behind a public name: itself, or its methods and properties."""
    if not isinstance(obj, type):
        return [obj]
    members = [inspect.getattr_static(obj, name) for name in dir(obj) if not name.startswith('_')]
    found = [getattr(member, 'fget', None) or getattr(member, '__func__', member)
             for member in members]
    return [each for each in found if inspect.isfunction(each)
            and each.__module__.startswith('dynamics_node')]


@pytest.mark.parametrize('module', PUBLIC_MODULES)
def test_everything_public_has_types(module):
    """Each argument and result of each function that a user imports; editors show them."""
    loaded = importlib.import_module(module)
    names = loaded.__all__
    untyped = {function.__qualname__ for name in names for function in functions_of(
        getattr(loaded, name)) if 'return' not in function.__annotations__ or any(
        argument not in function.__annotations__
        for argument in inspect.signature(function).parameters if argument not in ('self', 'cls'))}
    assert sorted(untyped) == []


# Words of the history of this repository, and of persons where a caller or subscriber is meant.
FORBIDDEN = re.compile(r"""\b(?:nobody|somebody|anybody|whoever)\b
                       |\bissues?\s*\#?\d+|\b(?:this|that|an|the)\s+issue\b
                       |\bthe\s+seeds?\b|\bseeds'|\bseed\s+0\d\d\b""",
                       re.IGNORECASE | re.VERBOSE)


def product_texts():
    """Return every text file that a user reads: sources, interfaces, settings, pages, programs."""
    folders = {'srv': '*.srv', 'msg': '*.msg', 'action': '*.action', 'config': '*.yaml',
               'launch': '*.py', 'docs': '*.*', 'examples': '*.*'}
    found = [path for folder, pattern in folders.items() for path in (ROOT / folder).rglob(pattern)]
    return [path for path in [*sources(), *found, *ROOT.glob('*.md'), ROOT / 'CHANGELOG.rst']
            if path.suffix not in ('.png', '.pyc') and path.is_file()]


def test_the_product_speaks_of_papers_and_callers():
    """Papers are cited by name, code is not a person: see Words in CONTRIBUTING.md."""
    found = [f'{path.relative_to(ROOT)}:{number}: {line.strip()}' for path in product_texts()
             for number, line in enumerate(path.read_text().splitlines(), 1)
             if FORBIDDEN.search(line)]
    assert not found, '\n' + '\n'.join(found)


def test_docstrings_name_modules_that_exist():
    """`tree_recursions.forward_recursion`: a renamed file is renamed in what is said about it."""
    texts = {path: path.read_text() for path in sources()}
    known = {path.stem for path in texts} | {path.parent.name for path in texts}
    defined = {name for text in texts.values()
               for name in re.findall(r'^(?:def|class) (\w+)', text, re.MULTILINE)}
    stale = [f'{path.relative_to(ROOT)}: `{module}.{name}`' for path, text in texts.items()
             for module, name in re.findall(r'`([a-z_]+)\.(\w+)', text)
             if name in defined and module not in known]
    assert not stale, '\n' + '\n'.join(stale)
