"""Test which files peers may name: those below the shared folders, and those named at launch."""

import os
import pickle

import pytest

from dynamics_node.errors import DynamicsError
from dynamics_node.example_robots import ARM7, MECHANISMS
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.parameters.declared import ModelParameters
from dynamics_node.ros.shared_folders import LONGEST, ParameterFiles, SharedFolders, default_folder

SECRET = 'root_hash'


@pytest.fixture
def inside(tmp_path):
    """A shared folder, beside files that are not shared."""
    (tmp_path / 'shared').mkdir()
    (tmp_path / 'shared_too').mkdir()
    (tmp_path / 'outside.txt').write_text(SECRET)
    return tmp_path / 'shared'


@pytest.fixture
def folders(inside):
    return SharedFolders.of([str(inside)])


def refusal(folders, path):
    with pytest.raises(DynamicsError) as error:
        folders.below('recording', path)
    return str(error.value)


def test_paths_below_the_folder_are_taken(folders, inside):
    """Relative ones begin there, not in the current directory."""
    for path in ('a.csv', 'a/b/c', './a', 'a/../b', str(inside / 'a.csv'), str(inside), '.'):
        assert folders.below('output', path) == os.path.normpath(inside / path)


@pytest.mark.parametrize('path', [
    '..', '../outside.txt', '../shared_too/x', '/etc/shadow', '/', 'a/../../outside.txt',
    '//etc/shadow', '/proc/self/environ', '\0', 'a\0b', '\ud800', 'x' * (LONGEST + 1),
    'a/' * 5_000_000, '/' + 'x' * 100_000])
def test_paths_elsewhere_are_refused(folders, inside, path):
    """The message names the parameter and the folder; whether there is a file, it does not tell."""
    said = refusal(folders, path)
    assert said.startswith('recording is ') and 'shared_folders' in said and str(inside) in said
    assert len(said) < 700


def test_existing_and_missing_files_elsewhere_are_refused_alike(folders):
    there, absent = (refusal(folders, f'../{name}') for name in ('outside.txt', 'missing.txt'))
    assert there.replace('outside.txt', '') == absent.replace('missing.txt', '')


@pytest.mark.parametrize('target', ['/etc', '..', '../outside.txt', '../shared_too', '/dev/zero',
                                    '../missing'])
def test_links_out_of_the_folder_are_refused(folders, inside, target):
    """A link in the path, or at its end."""
    (inside / 'link').symlink_to(target)
    assert 'shared_folders' in refusal(folders, 'link')
    assert 'shared_folders' in refusal(folders, 'link/passwd')


def test_links_within_the_folder_are_followed(folders, inside):
    (inside / 'motion.csv').write_text('')
    (inside / 'newest.csv').symlink_to('motion.csv')
    assert folders.below('recording', 'newest.csv') == str(inside / 'motion.csv')


def test_a_shared_folder_may_be_a_link_itself(inside, tmp_path):
    """The operator names it."""
    (tmp_path / 'link').symlink_to(inside)
    assert SharedFolders.of([str(tmp_path / 'link')]).below('output', 'a') == str(inside / 'a')


def test_links_in_a_bag_are_refused_where_they_lead_out(folders, inside):
    bag = inside / 'bag'
    bag.mkdir()
    (inside / 'x.mcap').write_text('')
    (bag / 'within.mcap').symlink_to('../x.mcap')
    folders.check_links('recording', str(bag))
    folders.check_links('recording', str(inside / 'x.mcap'))
    (bag / 'metadata.yaml').symlink_to('../../outside.txt')
    with pytest.raises(DynamicsError, match='recording, by a link in it, is '):
        folders.check_links('recording', str(bag))


def test_several_folders_may_be_named(inside, tmp_path):
    """As PATH does."""
    folders = SharedFolders.of([str(inside), str(tmp_path / 'shared_too')])
    assert folders.below('recording', str(tmp_path / 'shared_too' / 'x')).endswith('too/x')
    assert folders.below('recording', 'x') == str(inside / 'x')
    assert 'shared_too' in refusal(folders, str(tmp_path / 'outside.txt'))
    assert pickle.loads(pickle.dumps(folders)) == folders


def test_the_default_is_a_folder_of_the_user_made_on_demand(monkeypatch, tmp_path):
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.delenv('ROS_HOME', raising=False)
    folders = SharedFolders.of([''])
    assert folders.paths == (str(tmp_path / '.ros' / 'dynamics_node'),) == (default_folder(),)
    assert not (tmp_path / '.ros').exists()
    folders.make()
    assert (tmp_path / '.ros' / 'dynamics_node').stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv('ROS_HOME', str(tmp_path / 'file'))
    (tmp_path / 'file').write_text('')
    with pytest.raises(DynamicsError, match='shared_folders'):
        SharedFolders.of(['']).make()


def test_named_folders_are_not_made(inside, tmp_path):
    SharedFolders.of([str(tmp_path / 'new')]).make()
    assert not (tmp_path / 'new').exists()


# Parameters ------------------------------------------------------------------------------------

@pytest.fixture
def files(inside):
    return ParameterFiles({'robot_description': str(ARM7), 'constraints': ''},
                          SharedFolders.of([str(inside)]))


def load(files, source, constraints=''):
    """Load a robot as the node does; return the refusal, '' if there is none."""
    current = CurrentRobot(lambda: 0.0, files=files)
    parameters = ModelParameters(constraints=str(constraints), compile=False)
    try:
        current.load(source if isinstance(source, bytes) else str(source), parameters)
    except DynamicsError as error:
        assert current.refusal.endswith(str(error))
    return current.refusal


def test_files_named_at_launch_texts_and_messages_are_always_read(files):
    """A message on the topic is text, whatever it looks like."""
    for source in (ARM7, ARM7.read_text(), ARM7.read_bytes()):
        assert load(files, source) == ''


def test_a_text_that_is_a_path_is_not_read_as_one(files, inside):
    """Neither a message on the topic, nor the content of a file."""
    (inside / 'file').write_text(str(ARM7))
    assert 'is not well-formed' in load(files, str(ARM7).encode())
    assert 'no robot can be built with file' in load(files, 'file')
    assert 'no robot can be built with file' in load(files, ARM7, 'file')


def test_files_named_later_are_read_below_the_folder_only(files, inside):
    four_bar = MECHANISMS['four_bar']
    for name, source, constraints in (('robot_description', four_bar.urdf, ''),
                                      ('constraints', ARM7, four_bar.loops)):
        said = load(files, source, constraints)
        assert f'parameter {name} is' in said and 'shared_folders' in said
    (inside / 'robot.urdf').write_text(four_bar.urdf.read_text())
    (inside / 'loops.yaml').write_text(four_bar.loops.read_text())
    assert load(files, 'robot.urdf', 'loops.yaml') == ''
    assert load(files, inside / 'robot.urdf', inside / 'loops.yaml') == ''


def test_a_file_named_at_launch_by_one_parameter_is_not_permitted_for_the_other(files):
    assert 'parameter constraints is' in load(files, ARM7, ARM7)


@pytest.mark.parametrize('content', [
    SECRET, f'{SECRET}:x:0:0\n', f'<{SECRET}/>', f'<robot name="{SECRET}"><x', f'{SECRET}: [1, 2]',
    f'constraints: [{{name: {SECRET}, kind: {SECRET}}}]', f'constraints: []\npassive: [{SECRET}]',
    f'!{SECRET} x', f'*{SECRET}', f'{{{SECRET}: 1, {SECRET}: 2}}', f'constraints: {SECRET}'])
def test_the_content_of_a_file_is_not_in_the_message(files, inside, content):
    """Neither as a robot nor as constraints."""
    (inside / 'file').write_text(content)
    for source, constraints in (('file', ''), (ARM7, 'file')):
        said = load(files, source, constraints)
        assert 'no robot can be built with file' in said and SECRET not in said
    assert load(ParameterFiles({'robot_description': 'file'}, SharedFolders.of([str(inside)])),
                'file') != said   # of the operator's own file the reason is given


@pytest.mark.parametrize('make', [os.mkfifo, os.mkdir, lambda path: None],
                         ids=['fifo', 'folder', 'missing'])
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(files, inside, make):
    make(inside / 'it')
    for source, constraints in (('it', ''), (ARM7, 'it')):
        said = load(files, source, constraints)
        # a long path is shortened
        assert f'{inside.name}/it' in said and 'dynamics_node inspect' not in said


LAUGHS = ''.join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))
BOMBS = {
    'entities': f'<!DOCTYPE robot [<!ENTITY l0 "ha">{LAUGHS}]><robot name="&l9;"/>',
    'a file as entity': '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot>&x;</robot>',
    'aliases': 'a0: &a0 [x]\n' + ''.join(
        f'a{k}: &a{k} [{", ".join([f"*a{k - 1}"] * 10)}]\n' for k in range(1, 10)),
    'nested lists': '[' * 500_000, 'nested JSON': '{"a":' * 200_000,
    'nested XML': '<robot>' + '<a>' * 300_000, 'attributes': '<robot ' + 'a="b" ' * 500_000,
}


@pytest.mark.parametrize('bomb', BOMBS)
def test_bombs_are_refused(files, inside, bomb):
    """As a file of a peer, as a text, as a file of the operator."""
    (inside / 'bomb').write_text(BOMBS[bomb])
    for source, constraints in (('bomb', ''), (ARM7, 'bomb'), (BOMBS[bomb].encode(), '')):
        said = load(files, source, constraints)
        assert said and len(said) < 1000 and 'root:' not in said
