"""Test which parameters do not fit a robot, and that a set is refused only for its own."""

import pytest
from support.tiny_robots import TWO_JOINTS, chain

from dynamics_node import DynamicsError, Robot
from dynamics_node.ros.parameters.declared import DECLARED, checked
from dynamics_node.ros.parameters.fit import PER_JOINT, check_fit, misfits

ROBOT = Robot.from_urdf(TWO_JOINTS, compile=False)
FLOATING = Robot.from_urdf(TWO_JOINTS, base='floating', compile=False)


def parameters(**values):
    """Return NodeParameters; __ stands for the dot in a name."""
    given = {name.replace('__', '.'): value for name, value in values.items()}
    return checked({**{name: f.default for name, f in DECLARED.items()}, **given})


def test_the_defaults_fit():
    assert misfits(ROBOT, parameters()) == []
    assert misfits(FLOATING, parameters()) == []


@pytest.mark.parametrize('mode', ['gravity', 'computed_torque'])
@pytest.mark.parametrize('name', [*(f'torque.{name}' for name in PER_JOINT),
                                  'observer.bandwidth', 'observer.thresholds'])
def test_a_wrong_number_of_values_is_found_in_any_mode(name, mode):
    """In words, with the full name; one value, and one per joint, fit."""
    def of(count):
        return parameters(**{name: (1.0,) * count}, torque__mode=mode)
    found, = misfits(ROBOT, of(3))
    assert found.names == (name,)
    assert found.reason == (f'{name} has 3 values; expected 1, or 2, one per degree of freedom of '
                            'the robot: shoulder, elbow')
    assert misfits(ROBOT, of(1)) == misfits(ROBOT, of(2)) == []


@pytest.mark.parametrize(('values', 'expected'), [
    ({'torque__mode': 'impedance'}, 'set torque.gains to kp_kd'),
    ({'torque__mode': 'task_space'}, 'torque.task_frame is empty'),
    ({'torque__task_frame': 'hand'}, "torque.task_frame: .*'hand'"),
    ({'torque__task_stiffness': (1.0, 2.0, 3.0)}, 'torque.task_stiffness has 3 values.*1, 2 .*6'),
    ({'torque__task_posture': 'wrist=1'}, "torque.task_posture: .*'wrist'"),
    ({'torque__joints': 'elbow wrist'}, "torque.joints: .*'wrist'.*shoulder, elbow"),
    ({'torque__joints': 'elbow elbow'}, "torque.joints has 'elbow' twice"),
    ({'torque__effort_limits': 'wrist=3'}, "torque.effort_limits: .*'wrist'"),
    ({'torque__effort_limits': 'elbow=-3'}, "effort limit of joint 'elbow' is -3"),
    ({'torque__slew_limits': 'elbow=1'}, "slew limit of joint 'elbow' is 1 per second"),
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
    values = {'torque.kp': (1.0, 2.0), 'torque.kd': (1.0, 2.0), 'torque.joints': 'shoulder'}
    fitting = {'torque.kp': (1.0, 2.0, 3.0), 'torque.kd': (1.0,), 'torque.joints': 'b'}
    assert len(misfits(robot, parameters(**values))) == 3
    for left, name in zip((2, 1, 0), ('torque.joints', 'torque.kp', 'torque.kd')):
        values[name] = fitting[name]
        check_fit(robot, parameters(**values), [name])
        assert len(misfits(robot, parameters(**values))) == left
