"""Test which parameters do not fit a robot, and that a set is refused only for its own."""

import pytest
from support.tiny_robots import TWO_JOINTS, chain

from dynamics_node import DynamicsError, Robot
from dynamics_node.ros.parameters.declared import DEFAULTS, MAPS, checked
from dynamics_node.ros.parameters.robot_mismatch import check_fit, misfits

ROBOT = Robot.from_urdf(TWO_JOINTS, compile=False)
FLOATING = Robot.from_urdf(TWO_JOINTS, base='floating', compile=False)


def parameters(**values):
    """Return NodeParameters; __ stands for the dot in a name."""
    given = {name.replace('__', '.'): value for name, value in values.items()}
    return checked({**DEFAULTS, **given})


def test_the_defaults_fit():
    assert misfits(ROBOT, parameters()) == []
    assert misfits(FLOATING, parameters()) == []


@pytest.mark.parametrize('mode', ['gravity', 'computed_torque'])
@pytest.mark.parametrize('name', [name for name in MAPS if '.' in name])
def test_the_number_of_an_unknown_joint_is_found_in_any_mode(name, mode):
    """With the full name and the joints of the robot; two such are found one by one."""
    def of(*joints):
        return parameters(**{f'{name}.{joint}': 1.0 for joint in joints}, torque__mode=mode)
    first, second = misfits(ROBOT, of('knee', 'wrist'))
    assert (first.names, second.names) == ((f'{name}.knee',), (f'{name}.wrist',))
    assert first.reason == (f"{name}.knee: no joint 'knee'; the robot has: shoulder, elbow. "
                            'ros2 param delete removes a parameter')


def test_numbers_of_known_joints_fit():
    assert misfits(ROBOT, parameters(**{
        f'{name}.elbow': 1.0 for name in MAPS if name != 'torque.slew_limits'})) == []


@pytest.mark.parametrize(('values', 'expected'), [
    ({'torque__mode': 'impedance'}, 'set torque.gains to kp_kd'),
    ({'torque__mode': 'task_space'}, 'torque.task_frame is empty'),
    ({'torque__task_frame': 'hand'}, "torque.task_frame: .*'hand'"),
    ({'torque__task_stiffness': (1.0, 2.0, 3.0)}, 'torque.task_stiffness has 3 values.*1, 2 .*6'),
    ({'torque__task_posture__wrist': 1.0}, "torque.task_posture.wrist: .*'wrist'"),
    ({'torque__task_posture__elbow': 9.0}, 'torque.task_posture.elbow is 9; expected -'),
    ({'torque__joints': ['elbow', 'wrist']}, "torque.joints: .*'wrist'.*shoulder, elbow"),
    ({'torque__joints': ['elbow', 'elbow']}, "torque.joints has 'elbow' twice"),
    ({'torque__effort_limits__wrist': 3.0}, "torque.effort_limits.wrist: .*'wrist'"),
    ({'torque__slew_limits__elbow': 1.0}, "slew limit of joint 'elbow' is 1 per second"),
    ({'observer__frame': 'hand'}, "observer.frame: .*'hand'"),
    ({'observer__effort_meaning': 'current'}, 'observer.effort_meaning: .*torque_constants')])
def test_a_set_is_refused_for_a_parameter_of_its_own_that_does_not_fit(values, expected):
    """It is accepted if it contains none of these."""
    names = [name.replace('__', '.') for name in values]
    with pytest.raises(DynamicsError, match=expected):
        check_fit(ROBOT, parameters(**values), names)
    check_fit(ROBOT, parameters(**values), ['service.max_states', 'torque.blend_time', 'locked'])


def test_a_robot_that_a_mode_cannot_drive_is_found():
    found, = misfits(FLOATING, parameters(torque__mode='computed_torque'))
    assert 'torque.mode' in found.names and 'floating' in found.reason


def test_each_parameter_can_be_set_alone_until_all_fit():
    """Whatever the order: a robot of other joints came after the gains of the one before."""
    robot = Robot.from_urdf(chain(*((name, 'revolute') for name in 'abc')), compile=False)
    values = {'torque.kp.shoulder': 1.0, 'torque.kp.elbow': 2.0, 'torque.kd.elbow': 1.0,
              'torque.slew_limits.a': 1.0, 'torque.slew_limits.b': 1.0,
              'torque.joints': ['shoulder']}
    fitting = {'torque.joints': ['b', 'a'], 'torque.kp.elbow': None, 'torque.kd.elbow': None,
               'torque.kp.shoulder': None, 'torque.slew_limits.b': 1e4,
               'torque.slew_limits.a': None}
    for name, value in fitting.items():
        assert misfits(robot, parameters(**values))
        values[name] = value
        check_fit(robot, parameters(**values), [name])
    assert misfits(robot, parameters(**values)) == []
