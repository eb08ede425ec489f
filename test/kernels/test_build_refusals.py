"""Test that compiled and NumPy paths refuse with the same messages."""

import numpy as np
import pytest
from support import small_robots
from support.agreement_of_paths import outcome, ready, without_numpy
from support.differences import relative
from support.kernel_calls import kernel_calls, listed
from support.massless_links import MASSLESS_TIP

from dynamics_node import Robot
from dynamics_node.kernels.build import AGREEMENT
from dynamics_node.model.configuration import UNIT_QUATERNION

LINKS = ('upper', 'lower')
NEARLY = 0.9 * UNIT_QUATERNION


@pytest.fixture
def arm():
    """A small arm with every kernel compiled: (robot, the same in NumPy, calls)."""
    robot = small_robots.arm(base='floating')
    state = small_robots.specimen(robot, np.random.default_rng(0), LINKS, n=5)
    calls = kernel_calls(robot, state, 'lower')
    return ready(robot, calls), Robot(robot.model, compile=False), calls


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_named(arm, value):
    """In any argument, in any place, of one state or many: also where the result ignores it."""
    robot, in_numpy, calls = arm
    tried = 0
    for call in calls:
        method, reference = (getattr(r, call.key.kernel) for r in (robot, in_numpy))
        method(**call.arguments)  # the fast path is there from now on
        arguments = {name: part for name, part in call.arguments.items()
                     if isinstance(part, np.ndarray) and part.dtype == float}
        for name, part in arguments.items():
            for place in range(part.shape[1]):
                spoilt = part.copy()
                spoilt[3, place] = value
                for chosen in (spoilt, spoilt[3]):
                    given = {**call.arguments, name: chosen}
                    got = outcome(method, **given)
                    assert got[0] == 'DynamicsError', (call, name, place)
                    assert f'is {value}' in got[1]
                    tried += 1
        assert got == outcome(reference, **given)
    assert tried > 300


def test_a_wrench_that_is_not_finite_is_named(arm):
    """By its frame."""
    robot, _, calls = arm
    call = next(call for call in calls if call.key.with_wrenches)
    wrenches = {**call.arguments['wrenches'], 'lower': [0, 0, 0, 0, np.nan, 0]}
    kind, text = outcome(getattr(robot, call.key.kernel),
                         **{**call.arguments, 'wrenches': wrenches})
    assert (kind, "wrenches['lower'][4] is nan" in text) == ('DynamicsError', True)


def test_shapes_names_and_types_are_refused_with_the_same_message(arm):
    """Before and after the kernels are ready, by the same argument checks."""
    robot, in_numpy, _ = arm
    q, v = robot.neutral(), np.zeros(8)
    robot.bias_torque(q, v), robot.jacobian(q, 'lower'), robot.inverse_dynamics(q, v, v)
    for call in (lambda r: r.bias_torque(q[:-1], v), lambda r: r.bias_torque(q, 'fast'),
                 lambda r: r.bias_torque(q, None), lambda r: r.bias_torque(q[None, None], v),
                 lambda r: r.bias_torque(np.tile(q, (2, 1)), np.tile(v, (3, 1))),
                 lambda r: r.bias_torque(q, v + 1j), lambda r: r.bias_torque([q, q[:-1]], v),
                 lambda r: r.jacobian(q, 'elbow'), lambda r: r.jacobian(q, 3),
                 lambda r: r.jacobian(q[:-1], 'lower'), lambda r: r.inverse_dynamics(q, v, v, 1.0),
                 lambda r: r.inverse_dynamics(q, v, v, {'elbow': np.zeros(6)}),
                 lambda r: r.inverse_dynamics(q, v, v, {'lower': np.zeros(5)}),
                 lambda r: r.hybrid_dynamics(q, v, v, v, np.zeros(8))):
        got = outcome(call, robot)
        assert got[0] in ('DynamicsError', 'UnknownName')
        assert got == outcome(call, in_numpy)
    with pytest.raises(TypeError):
        robot.bias_torque(q)


def test_a_quaternion_that_is_nearly_unit_is_normalised_and_any_other_refused(arm):
    """As measured quaternions are; the refusal names the joint and the norm."""
    robot, in_numpy, calls = arm
    for call in (call for call in calls if 'q' in call.arguments):
        method, reference = (getattr(r, call.key.kernel) for r in (robot, in_numpy))
        for scale, good in ((1.0 + NEARLY, True), (1.0 - NEARLY, True), (-1.0, True), (0.0, False),
                            (1.0 + 2 * NEARLY, False), (1.0 - 2 * NEARLY, False), (1e200, False)):
            q = call.arguments['q'].copy()
            q[2, 3:7] *= scale
            given = {**call.arguments, 'q': q}
            if good:
                with without_numpy(robot):
                    got = outcome(method, **given)
                for part, whole in zip(listed(got[1]), listed(reference(**given)), strict=True):
                    assert relative(part, whole) < AGREEMENT
            else:
                got = outcome(method, **given)
                assert 'a quaternion of norm' in got[1]
                assert got == outcome(reference, **given)


def test_a_motion_without_inertia_is_named():
    """By forward dynamics, hybrid dynamics and the inverse of M; the others have results."""
    robot = Robot.from_urdf(MASSLESS_TIP.format(mimic='')).compile(wait=True)
    in_numpy = Robot(robot.model, compile=False)
    q, v, a = [0.1, 0.2], [0.3, 0.4], [1.0, 0.0]
    for given in ([True, False], [False, False]):
        for call in (lambda r: r.forward_dynamics(q, v, a), lambda r: r.mass_matrix_inverse(q),
                     lambda r: r.mass_matrix_inverse([q] * 9),
                     lambda r, given=given: r.hybrid_dynamics(q, v, a, a, given)):
            got = outcome(call, robot)
            assert got == outcome(call, in_numpy)
            assert got[0] == 'SingularModel'
            assert "joint 'jt' moves links that have no inertia" in got[1]
    with without_numpy(robot):
        assert np.isfinite(robot.inverse_dynamics(q, v, a)).all()
        assert np.isfinite(robot.hybrid_dynamics(q, v, a, a, [False, True])).all()
    with_rotor = Robot.from_urdf(MASSLESS_TIP.format(mimic=''), armature={'jt': 0.01})
    with_rotor.compile(wait=True)
    with without_numpy(with_rotor):
        assert np.isfinite(with_rotor.forward_dynamics(q, v, a)).all()


def test_a_result_that_overflows_is_refused(arm):
    """With the message of the NumPy path, alone or in a batch."""
    robot, in_numpy, _ = arm
    q, v = np.tile(robot.neutral(), (9, 1)), np.zeros((9, 8))
    v[4, 6:] = 1e200
    for rows in (slice(None), 4):
        def call(r, rows=rows):
            return r.inverse_dynamics(q[rows], v[rows], v[rows])
        got = outcome(call, robot)
        assert got == outcome(call, in_numpy)
        assert 'the result is not finite' in got[1]
    assert robot.inverse_dynamics(q[:4], v[:4], v[:4]).shape == (4, 8)


def test_a_robot_without_mass_compiles():
    """Its centre of mass is refused; its kinematics are compiled."""
    robot = Robot.from_urdf('<robot name="r"><link name="a"/><link name="b"/><joint name="j" '
                            'type="continuous"><parent link="a"/><child link="b"/></joint></robot>')
    robot.compile(wait=True, frames=['b'])
    assert robot.compiled
    with without_numpy(robot):
        assert robot.frame_pose([0.0], 'b').tolist() == np.eye(4).tolist()
        assert robot.gravity_torque([0.0]).tolist() == [0.0]
    for method in (robot.center_of_mass, lambda q: robot.momentum(q, q)):
        assert outcome(method, [0.0]) == (
            'DynamicsError', 'the robot has no mass, hence no centre of mass')
