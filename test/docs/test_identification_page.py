"""Test docs/identification.md: its code runs, its commands and fields exist."""

import re

from support.heavier_arm import other_values
from support.moving_mechanisms import mechanism, moved, other_mechanism, raw, torques
from support.paths import ROOT
from support.simple_recordings import recorded
from support.tiny_robots import chain  # noqa: E402

from dynamics_node import Robot
from dynamics_node.commands.main import COMMANDS, parser_of
from dynamics_node.identification.csv_files import write_csv
from dynamics_node.identification.parameters import parameter_layout, robot_with_parameters

PAGE = (ROOT / 'docs' / 'identification.md').read_text()
URDF = chain(('shoulder', 'revolute'), ('elbow', 'revolute'), ('wrist', 'revolute'))


def test_the_examples_run_one_after_the_other(tmp_path, monkeypatch, capsys, kernel_cache):
    """Each uses the results of those before it; the payload found is the true one."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(kernel_cache))
    (tmp_path / 'robot.urdf').write_text(URDF)
    robot = Robot.from_urdf(URDF)
    layout = parameter_layout(robot)
    truth = robot_with_parameters(robot, layout, other_values(robot, layout, seed=3))
    write_csv(tmp_path / 'motion.csv', recorded(truth, 30.0, torque_noise=0.05))
    write_csv(tmp_path / 'loaded.csv', recorded(
        truth.with_payload('load', 'wrist_link', 2.0, (0.0, 0.0, 0.1)), 30.0, seed=4,
        torque_noise=0.05))
    write_csv(tmp_path / 'five_bar.csv', five_bar_recording())
    names = {'URDF': str(tmp_path / 'robot.urdf'), 'RECORDING': str(tmp_path / 'motion.csv'),
             'LOADED': str(tmp_path / 'loaded.csv'), 'FOLDER': str(tmp_path / 'out'),
             'FIVE_BAR': str(tmp_path / 'five_bar.csv')}
    blocks = re.findall(r'```python\n(.*?)```', PAGE, flags=re.S)
    for block in blocks:
        exec(block, names)  # noqa: S102
    assert len(blocks) == 5
    assert names['determined']['wrist.viscous']
    load = names['load']
    assert abs(load.mass - 2.0) < 3.0 * load.sigma['mass'] + 0.02   # 1 %
    assert '% of the torque; shoulder' in capsys.readouterr().out
    assert len(list((tmp_path / 'out').iterdir())) == 5


def five_bar_recording():
    """Return the RawRecording of the motors of a five-bar unlike its URDF."""
    robot = mechanism('five_bar')
    layout, truth = other_mechanism(robot)
    motion = moved('five_bar', robot, 1200, 3)
    return raw(robot, motion, torques(robot, layout, truth, motion), motion.names, (0.0, 0.02))


def test_its_commands_exist():
    """With the options that it uses."""
    parser = parser_of(COMMANDS, 'dynamics_node')
    for line in re.findall(r'^dynamics_node ((?:excitation|identify) .*)$', PAGE, flags=re.M):
        assert parser.parse_args(line.split()).run


def test_its_fields_exist():
    """Of the action, the service and the parameters."""
    action = (ROOT / 'action' / 'Identify.action').read_text()
    service = (ROOT / 'srv' / 'IdentifyPayload.srv').read_text()
    shipped = (ROOT / 'config' / 'dynamics_node.yaml').read_text()
    for field in ('duration', 'output', 'apply', 'message', 'gain', 'determined'):
        assert re.search(rf'^\S+ {field}\b', action, flags=re.M), field
    for question in ('motion', 'unloaded', 'pose', 'poses'):
        assert f'* `{question}`' in PAGE or f'`{question}` fits' in PAGE
        assert f'QUESTION_{question.upper()}="{question}"' in service
    for name in ('armature', 'damping', 'dry_friction'):
        assert f'`{name}`' in PAGE
        assert f'    # {name}: ' in shipped
