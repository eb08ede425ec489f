"""Test `dynamics_node follow`: the points of a file arrive at the node; refusals in one line."""

import numpy as np
import pytest
from support.folding_chain import chain, folding
from support.remote_node import PATIENCE, wait_until

from dynamics_node.commands import executable
from dynamics_node.identification.csv_files import write_table
from dynamics_node.identification.trajectory_files import TimedPoints

JOINTS = ('joint_1', 'joint_2')
TIMES = np.array([0.0, 0.5, 2.000000001])
Q = np.array([[0.1, 0.2], [0.2, 0.3], [0.4, 0.5]])
TABLE = 'time,position_joint_1,position_joint_2\n' + ''.join(
    f'{t!r},{q[0]!r},{q[1]!r}\n' for t, q in zip(TIMES.tolist(), Q.tolist()))


def follow(*words):
    return executable.main(('follow', *map(str, words), '--timeout', str(PATIENCE)))


@pytest.mark.parametrize('rates', [0, 1, 2])
def test_a_message_has_all_that_the_file_has(rates):
    """Velocities and accelerations only where it has them."""
    from dynamics_node.ros import convert
    from dynamics_node.ros.send_reference import trajectory_of
    given = [Q + k for k in range(rates)] + [None] * (2 - rates)
    message = trajectory_of(TimedPoints(JOINTS, TIMES, Q, *given))
    assert tuple(message.joint_names) == JOINTS
    assert [convert.nanoseconds(point.time_from_start) for point in message.points] == [
        0, 500_000_000, 2_000_000_001]
    for name, values in zip(('positions', 'velocities', 'accelerations'), (Q, *given)):
        assert [list(getattr(point, name)) for point in message.points] == (
            [[]] * 3 if values is None else values.tolist())


def test_the_node_receives_the_trajectory(arm, tmp_path, capsys):
    """Its mode follows no reference, which its log says."""
    (tmp_path / 'motion.csv').write_text(TABLE)
    assert follow(tmp_path / 'motion.csv', '--node', arm.node.name) == 0
    assert capsys.readouterr().out == f'3 points were sent to {arm.node.name}/reference\n'
    wait_until(lambda: "the reference was refused: torque.mode is 'gravity'" in
               arm.node.process.log(), 'the refusal')


def test_a_trajectory_along_which_links_touch_is_sent_only_by_force(
        ros_environment, tmp_path, capsys):
    """With --force the node is looked for; a motion without a contact needs none."""
    (tmp_path / 'robot.urdf').write_text(chain())
    times, q = folding(30)
    words = ('--urdf', tmp_path / 'robot.urdf', '--node', '/absent')

    def said(share, *more):
        write_table(tmp_path / 'fold.csv', ['time', *(f'position_joint_{k}' for k in (1, 2, 3))],
                    np.column_stack([times, share * q]))
        assert executable.main(('follow', *map(str, (tmp_path / 'fold.csv', *words, *more)),
                                '--timeout', '0.2')) == 2
        return capsys.readouterr()

    touching = said(1.0)
    assert 'warning: self-collision: link_1 touches link_3 at ' in touching.out
    assert 'link_3 at' in touching.err and '--force sends it' in touching.err
    assert 'no node subscribes to /absent/reference' in said(1.0, '--force').err
    free = said(0.5)
    assert free.out == '' and 'no node subscribes to /absent/reference' in free.err


@pytest.mark.parametrize('shape', ['mesh filename="package://none/link.stl"', 'nothing'])
def test_a_trajectory_that_cannot_be_checked_is_sent_only_by_force(
        ros_environment, tmp_path, capsys, shape):
    """Its meshes are not found, or there are no shapes."""
    (tmp_path / 'robot.urdf').write_text(chain(shape))
    (tmp_path / 'motion.csv').write_text(TABLE)
    words = ('follow', str(tmp_path / 'motion.csv'), '--urdf', str(tmp_path / 'robot.urdf'),
             '--node', '/absent', '--timeout', '0.2')
    for more, reason in (((), '--force sends it'), (('--force',), 'no node subscribes')):
        assert executable.main((*words, *more)) == 2
        said = capsys.readouterr()
        assert said.out.startswith('warning: self-collisions') and reason in said.err
        assert said.err.count('\n') == 1


def test_links_that_touch_in_the_neutral_configuration_need_no_force(
        ros_environment, tmp_path, capsys):
    """They are named; most robots have some."""
    (tmp_path / 'robot.urdf').write_text(chain('capsule radius="0.7" length="0.8"'))
    (tmp_path / 'motion.csv').write_text(TABLE)
    assert executable.main(('follow', str(tmp_path / 'motion.csv'), '--urdf', str(
        tmp_path / 'robot.urdf'), '--node', '/absent', '--timeout', '0.2')) == 2
    said = capsys.readouterr()
    assert 'link_1 and link_3' in said.out and 'no node subscribes' in said.err


def test_force_without_a_urdf_is_refused(tmp_path, capsys):
    """It would look as if something had been checked."""
    (tmp_path / 'motion.csv').write_text(TABLE)
    assert follow(tmp_path / 'motion.csv', '--force') == 2
    assert '--force is given without --urdf' in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_refused_before_the_node_is_looked_for(tmp_path, capsys):
    assert follow(tmp_path / 'nowhere.yaml') == 2
    assert 'nowhere.yaml' in capsys.readouterr().err


def test_a_missing_node_is_reported(ros_environment, tmp_path, capsys):
    """The message says what to check."""
    (tmp_path / 'motion.csv').write_text(TABLE)
    words = ('follow', str(tmp_path / 'motion.csv'), '--node', '/absent', '--timeout', '0.2')
    assert executable.main(words) == 2
    assert 'no node subscribes to /absent/reference after 0.2 s' in capsys.readouterr().err
