"""Test `dynamics_node excitation` and `identify`: files in the given folder, one-line refusals."""

import gzip
import json

import numpy as np
import pytest
import yaml
from support.heavier_arm import other_values
from support.simple_recordings import recorded
from support.tiny_robots import TWO_JOINTS, chain  # noqa: E402

from dynamics_node import Robot
from dynamics_node.commands.main import main
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.csv_files import read_csv, write_csv
from dynamics_node.identification.parameters import parameter_layout, robot_with_parameters
from dynamics_node.identification.trajectory_files import read_trajectory

BETTER = 5.0   # times smaller must the torque error be: masses were off by up to 30 %


def run(capsys, *words):
    """Return (exit code, standard output, standard error) of a command line."""
    try:
        code = main(tuple(map(str, words)))
    except SystemExit as leaving:  # so argparse does it
        code = leaving.code
    return code, *capsys.readouterr()


@pytest.fixture
def recording(tmp_path, fast_arm):
    """A recording of an arm that is not the one of its URDF."""
    layout = parameter_layout(fast_arm)
    truth = robot_with_parameters(fast_arm, layout, other_values(fast_arm, layout, seed=3))
    path = tmp_path / 'motion.csv'
    write_csv(path, recorded(truth, duration=40.0, torque_noise=0.05))
    return path


def test_identify_writes_files_that_the_node_loads(tmp_path, capsys, recording):
    """The URDF is read again, the YAML names every joint, the report holds the numbers."""
    out = tmp_path / 'new' / 'folder'
    code, said, err = run(capsys, 'identify', ARM7, recording, '--out', out)
    assert code == 0, err
    assert set(said.splitlines()[-5:]) == {str(path) for path in out.iterdir()}
    results = json.loads((out / 'report.json').read_text())
    assert results['gain'] > BETTER
    assert results['success'] and results['error_share'] < 0.05
    assert f'torque error on held-out samples: {results["error"]:.3g} N m' in said
    robot = Robot.from_urdf(out / 'robot.urdf')
    masses = [results['parameters']['values'][k] for k, name in
              enumerate(results['parameters']['names']) if name.endswith('.m')]
    np.testing.assert_allclose([body.inertia.mass for body in robot.model.bodies], masses,
                               rtol=1e-12)
    said = yaml.safe_load((out / 'friction.yaml').read_text())['/**/dynamics_node']
    assert tuple(said['ros__parameters']['armature']) == robot.joint_names
    assert np.array_equal(read_csv(out / 'recording.csv').q, read_csv(recording).q)


def test_identify_reads_a_truncated_compressed_table(tmp_path, capsys):
    """Up to its last whole line; the rest is named in a warning, and the motion is identified."""
    (tmp_path / 'two.urdf').write_text(TWO_JOINTS)
    robot = Robot.from_urdf(TWO_JOINTS, compile=False)
    layout = parameter_layout(robot)
    truth = robot_with_parameters(robot, layout, other_values(robot, layout, seed=3))
    write_csv(tmp_path / 'motion.csv', recorded(truth, duration=40.0, torque_noise=0.05))
    packed = gzip.compress((tmp_path / 'motion.csv').read_bytes())
    (tmp_path / 'motion.csv.gz').write_bytes(packed[:int(0.8 * len(packed))])
    code, said, err = run(capsys, 'identify', tmp_path / 'two.urdf', tmp_path / 'motion.csv.gz',
                          '--out', tmp_path / 'out')
    assert code == 0, err
    assert 'warning: the compressed file ends early' in said
    results = json.loads((tmp_path / 'out' / 'report.json').read_text())
    assert 20.0 < results['duration'] < 35.0 and results['gain'] > BETTER


def test_identify_validates_by_another_recording(tmp_path, capsys, recording, fast_arm):
    """The headline has its error; of another robot it is large, and the exit code 1."""
    other = tmp_path / 'other.csv'
    write_csv(other, recorded(fast_arm, duration=10.0, seed=5, torque_noise=0.05))
    code, said, err = run(capsys, 'identify', ARM7, recording, recording, '--out',
                          tmp_path / 'out', '--validate', other)
    assert code == 1, err
    assert 'do not use: on held-out samples the torque error is' in said
    results = json.loads((tmp_path / 'out' / 'report.json').read_text())
    assert not results['success']
    assert results['duration'] > 80.0   # of two recordings
    assert f'{results["error"]:.3g} N m or N, {results["error_share"]:.1%} of the torque' in said


def test_identify_takes_the_options_of_the_library(tmp_path, capsys, recording):
    """The report shows them."""
    code, _, err = run(capsys, 'identify', ARM7, recording, '--out', tmp_path / 'out', '--method',
                       'ordinary', '--prior-weight', '4', '--validation-share', '0.4', '--cutoff',
                       '8', '--stribeck-speed', '0.1')
    assert code == 0, err
    options = json.loads((tmp_path / 'out' / 'report.json').read_text())['options']
    assert 'ordinary' in str(options)
    assert '0.4' in str(options)


def test_identify_converts_a_recording_of_drives(tmp_path, capsys, recording):
    """Numbered columns, currents and motor positions of one joint; the result is the same."""
    raw = read_csv(recording)
    ratio, constant = np.array([-50.0, *6 * [1.0]]), np.array([0.1, *6 * [1.0]])
    drive = raw._replace(joint_names=tuple('1234567'), q=raw.q * ratio, v=None,
                         tau=raw.tau / ratio / constant)
    write_csv(tmp_path / 'drive.csv', drive)
    code, _, err = run(capsys, 'identify', ARM7, tmp_path / 'drive.csv', '--out', tmp_path / 'out',
                       '--effort-scale', 'joint_1=0.1', '--gear-ratio', 'joint_1=-50')
    assert code == 0, err
    back = read_csv(tmp_path / 'out' / 'recording.csv')
    assert back.joint_names == raw.joint_names
    np.testing.assert_allclose(back.q, raw.q, rtol=1e-12)
    np.testing.assert_allclose(back.tau, raw.tau, rtol=1e-12)


@pytest.mark.parametrize(('words', 'said'), [
    (['identify', ARM7, 'nowhere.csv', '--out', 'out'], 'nowhere.csv'),
    (['identify', ARM7, 'nowhere', '--out', 'out'], 'there is no bag nowhere'),
    (['identify', 'no.urdf', 'nowhere.csv', '--out', 'out'], 'no.urdf'),
    (['identify', ARM7, 'nowhere.csv'], '--out'),
    (['identify', ARM7, 'nowhere.csv', '--out', '/proc/here'], '/proc/here'),
    (['excitation', ARM7, '--out', 'x.csv'], 'expected a .yaml'),
    (['excitation', ARM7, '--out', 'no/folder/x.yaml'], 'no/folder'),
    (['excitation', ARM7, '--out', 'x.yaml', '--range', 'joint_1'], 'joint=-1.5,1.5'),
    (['excitation', ARM7, '--out', 'x.yaml', '--range', 'elbow=0,1'], "'elbow'"),
    (['excitation', ARM7, '--out', 'x.yaml', '--box', 'tool0=1,2'], 'link=-0.5'),
    (['excitation', ARM7, '--out', 'x.yaml', '--periods', '0'], 'periods is 0'),
])
def test_a_refusal_is_one_line(tmp_path, monkeypatch, capsys, words, said):
    """No file is left, only a folder that was requested."""
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, '')
    assert said in err.splitlines()[-1]
    assert [path for path in tmp_path.rglob('*') if path.is_file()] == []


def test_excitation_writes_a_table_and_a_trajectory(tmp_path, capsys, fast_arm):
    """Within the given limits, at rest at both ends, repeated."""
    (tmp_path / 'two.urdf').write_text(TWO_JOINTS)
    code, said, err = run(capsys, 'excitation', tmp_path / 'two.urdf', '--out',
                          tmp_path / 'x.yaml', '--periods', 2,
                          '--range', 'shoulder=-0.3,0.4', '--iterations', 0)
    assert code == 0, err
    assert said.splitlines()[-2:] == [str(tmp_path / 'x.yaml'), str(tmp_path / 'x.csv')]
    assert 'condition number' in said
    motions = [read_trajectory(tmp_path / name) for name in ('x.yaml', 'x.csv')]
    for names, time, q, v, *_ in motions:
        assert tuple(names) == ('shoulder', 'elbow')
        assert time[-1] == pytest.approx(20.0)
        assert -0.3 <= q[:, 0].min() < q[:, 0].max() <= 0.4
        np.testing.assert_allclose([v[0], v[-1]], 0.0, atol=1e-8)   # nine digits are written
    np.testing.assert_allclose(motions[0][2], motions[1][2], atol=1e-9)


def test_excitation_names_links_that_would_touch(tmp_path, capsys, fast_arm):
    """A ball on an arm of the last link goes round the elbow, and meets one on the base."""
    ball = '<collision><origin xyz="{}"/><geometry><sphere radius="0.1"/></geometry></collision>'
    robot = Robot.from_urdf(TWO_JOINTS, compile=False)
    at, before = (robot.frame_pose([0.0, angle], 'elbow_link') @ [0.6, 0.0, 0.0, 1.0]
                  for angle in (0.6, 0.0))
    assert np.linalg.norm(at - before) > 0.25   # apart in the neutral configuration
    root = robot.model.root
    urdf = TWO_JOINTS
    for link, place in ((root, at[:3]), ('elbow_link', (0.6, 0.0, 0.0))):
        text = ball.format(' '.join(map(str, place)))
        urdf = (urdf.replace(f'<link name="{link}"/>', f'<link name="{link}">{text}</link>')
                .replace(f'<link name="{link}"><', f'<link name="{link}">{text}<'))
    (tmp_path / 'two.urdf').write_text(urdf)
    code, said, err = run(capsys, 'excitation', tmp_path / 'two.urdf', '--out',
                          tmp_path / 'x.yaml', '--iterations', 0)
    assert code == 0, err
    assert 'warning: self-collision: the fixed base touches elbow_link at ' in said


def test_identify_with_gains_from_a_known_payload(tmp_path, capsys):
    """Efforts are 1.1 times too small; the elbow's effort is not usable."""
    urdf = tmp_path / 'robot.urdf'
    urdf.write_text(chain(('shoulder', 'revolute'), ('elbow', 'revolute')))
    robot = Robot.from_urdf(urdf, compile=False)
    for name, each, seed in (('plain', robot, 1), ('loaded', robot.with_payload(
            'load', 'elbow_link', 2.0, (0.1, 0.0, 0.2)), 2)):
        raw = recorded(each, duration=10.0, torque_noise=0.02, seed=seed)
        write_csv(tmp_path / f'{name}.csv', raw._replace(tau=raw.tau / 1.1))
    words = ('identify', urdf, tmp_path / 'plain.csv', '--out', tmp_path / 'out',
             '--loaded', tmp_path / 'loaded.csv')
    code, said, err = run(capsys, *words, '--known-payload', 'elbow_link=2,0.1,0,0.2',
                          '--no-effort', 'elbow')
    assert code == 0, err + said
    assert 'gains of the drives: shoulder 1.1' in said
    assert 'warning: no sample has the effort of elbow' in said
    assert 'warning: loaded: no sample has the effort of elbow' in said
    assert 'gains of the drives' in (tmp_path / 'out' / 'report.html').read_text()
    code, _, err = run(capsys, *words)
    assert code == 2 and 'only one of --loaded and --known-payload is given' in err


def test_gains_are_not_estimated_of_coupled_motors(tmp_path, capsys):
    """A motor's gain is not a joint's."""
    urdf, coupled = tmp_path / 'robot.urdf', tmp_path / 'coupled.yaml'
    urdf.write_text(chain(('shoulder', 'revolute'), ('elbow', 'revolute')))
    coupled.write_text('motors: {m1: {shoulder: 1.0}, m2: {shoulder: 1.0, elbow: 1.0}}')
    raw = recorded(Robot.from_urdf(urdf, compile=False), duration=5.0, torque_noise=0.02, seed=1)
    write_csv(tmp_path / 'motion.csv', raw._replace(joint_names=('m1', 'm2')))
    code, _, err = run(
        capsys, 'identify', urdf, tmp_path / 'motion.csv', '--out', tmp_path / 'out', '--loaded',
        tmp_path / 'motion.csv', '--known-payload', 'elbow_link=2', '--transmission', coupled)
    assert code == 2 and '--loaded and --transmission are both given' in err
