"""Test derivatives by origins and axes of joints against Pinocchio with an edited URDF."""

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from support.differences import STEP, relative
from support.oracle_agreement import Case
from support.pinocchio_oracle import PinocchioOracle
from support.real_robots import ROBOTS
from support.tolerances import RATE_BY_DIFFERENCES

PANDA = next(example for example in ROBOTS if str(example) == 'panda')
JOINTS = ('panda_joint1', 'panda_joint3', 'panda_joint6', 'panda_finger_joint1')


class Edited:
    """An example robot with another URDF text."""

    def __init__(self, example, root):
        self.base, self.mimics = example.base, example.mimics
        self.text = lambda: ElementTree.tostring(root, encoding='unicode')


def moved(root, joint, step, rate, what):
    """Move the <origin> or the <axis> of a joint of an XML tree by step * rate."""
    element = next(each for each in root.findall('joint') if each.get('name') == joint)
    turn = pin.exp3(step * rate[3:])
    if what == 'daxes':
        axis = element.find('axis')
        axis.set('xyz', _text(turn @ _numbers(axis, 'xyz')))
        return root
    origin = element.find('origin')
    origin.set('xyz', _text(_numbers(origin, 'xyz') + step * rate[:3]))
    R = turn @ pin.rpy.rpyToMatrix(_numbers(origin, 'rpy'))
    origin.set('rpy', _text(pin.rpy.matrixToRpy(R)))
    return root


def _numbers(element, name):
    return np.array([float(word) for word in element.get(name, '0 0 0').split()])


def _text(numbers):
    return ' '.join(f'{number:.17g}' for number in numbers)


def by_differences(case, question, state, joint, rate, what):
    """Return the change of Pinocchio's result per unit of the rate."""
    def result(step):
        edited = Edited(case.example, moved(case.example.xml(), joint, step, rate, what))
        oracle = PinocchioOracle(edited, case.robot.joint_names)
        return getattr(oracle, question)(*([part] for part in state))[0]
    return (result(STEP) - result(-STEP)) / (2.0 * STEP)


@pytest.fixture(scope='module')
def case():
    return Case(PANDA, PinocchioOracle, seed=6)


@pytest.mark.parametrize('joint', JOINTS)
@pytest.mark.parametrize('what', ['dorigins', 'daxes'])
def test_a_moved_joint_changes_torques_and_accelerations_as_in_pinocchio(case, joint, what):
    """Rates in the axes of the parent link (origin) and of the joint frame (axis)."""
    robot, states = case.robot, case.states
    rate = np.random.default_rng(1).normal(size=6)
    if what == 'daxes':
        rate[:3] = 0.0   # a URDF has no place for the translation of an axis
    q, v, a, tau = states.q[0], states.v[0], states.a[0], states.tau[0]
    dtau = robot.inverse_dynamics_directional_derivative(q, v, a, **{what: {joint: rate}})
    expected = by_differences(case, 'inverse_dynamics', (q, v, a), joint, rate, what)
    assert relative(dtau, expected) < RATE_BY_DIFFERENCES
    da = robot.forward_dynamics_directional_derivative(q, v, tau, **{what: {joint: rate}})
    expected = by_differences(case, 'forward_dynamics', (q, v, tau), joint, rate, what)
    assert relative(da, expected) < RATE_BY_DIFFERENCES
