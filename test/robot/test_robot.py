"""Test the Robot object: batches, payloads, immutability, errors."""

import pickle

import numpy as np
import pytest
from support import random_trees
from support.differences import relative
from support.massless_links import MASSLESS_TIP
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot, SingularModel, UnknownName
from dynamics_node.example_robots import ARM7


def test_batches_give_the_results_of_single_states(arm, states):
    """Every method, shape (N, ...) in the order of the rows."""
    q, v, a, tau = states
    wrenches = {'tool0': np.random.default_rng(1).normal(size=(4, 6))}
    given = np.arange(arm.nv) % 2 == 0
    questions = {
        'inverse_dynamics': (q, v, a, wrenches), 'forward_dynamics': (q, v, tau, wrenches),
        'hybrid_dynamics': (q, v, a, tau, given, wrenches), 'mass_matrix': (q,),
        'mass_matrix_inverse': (q,), 'coriolis_matrix': (q, v), 'gravity_torque': (q,),
        'bias_torque': (q, v), 'friction_torque': (v,), 'denoc': (q, v),
        'denoc_matrices': (q, v),
        'kinetic_energy': (q, v), 'potential_energy': (q,), 'center_of_mass': (q,),
        'momentum': (q, v), 'frame_pose': (q, 'tool0'), 'frame_twist': (q, v, 'tool0'),
        'jacobian': (q, 'tool0'), 'jacobian_rate': (q, v, 'tool0'), 'integrate': (q, v),
        'difference': (q, q[::-1]),
    }
    for name, arguments in questions.items():
        method = getattr(arm, name)
        batch = method(*arguments)
        for row in range(4):
            one = method(*(_row(argument, row, given) for argument in arguments))
            if isinstance(batch, tuple):
                for part, single in zip(batch, one):
                    np.testing.assert_array_equal(part[row], single, err_msg=name)
            else:
                np.testing.assert_array_equal(batch[row], one, err_msg=name)


def _row(argument, row, given):
    if isinstance(argument, dict):
        return {key: value[row] for key, value in argument.items()}
    return argument if isinstance(argument, str) or argument is given else argument[row]


def test_single_states_mix_with_batches(arm, states):
    """A single q is used for every row of a batch."""
    q, v, a, _ = states
    mixed = arm.inverse_dynamics(q[0], v, a[0])
    assert mixed.shape == (4, 7)
    np.testing.assert_array_equal(mixed[2], arm.inverse_dynamics(q[0], v[2], a[0]))


def test_an_empty_batch_gives_an_empty_result(arm):
    """N = 0 keeps the trailing shape."""
    none = np.zeros((0, 7))
    assert arm.inverse_dynamics(none, none, none).shape == (0, 7)
    assert arm.forward_dynamics(none, none, none).shape == (0, 7)
    assert arm.mass_matrix(none).shape == (0, 7, 7)
    assert arm.kinetic_energy(none, none).shape == (0,)


def test_results_are_new_and_inputs_are_not_written(arm, states):
    """Writing into a result or an input changes nothing else."""
    q, v, a, _ = (array[0].copy() for array in states)
    before = q.copy()
    tau = arm.inverse_dynamics(q, v, a)
    tau[:] = 0.0
    assert np.abs(arm.inverse_dynamics(q, v, a)).max() > 0.0
    np.testing.assert_array_equal(q, before)
    arm.gravity[:] = 0.0
    assert arm.gravity.tolist() == [0.0, 0.0, -9.81]


def test_a_robot_is_immutable_and_pickles(arm, states):
    """It can be shared by threads and sent to processes."""
    with pytest.raises(AttributeError, match='immutable'):
        arm.model = None
    q, v, a, _ = states
    copy = pickle.loads(pickle.dumps(arm.with_payload('cup', 'tool0', 0.3)))
    expected = arm.with_payload('cup', 'tool0', 0.3).inverse_dynamics(q, v, a)
    np.testing.assert_array_equal(copy.inverse_dynamics(q, v, a), expected)


def test_a_payload_is_a_link_welded_on(arm, states):
    """With full inertia at an offset, against the same load written into the URDF."""
    q, v, a, _ = states
    load = ('<link name="load"><inertial><origin xyz="0.1 -0.2 0.3"/><mass value="1.5"/>'
            '<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0.002" izz="0.025"/>'
            '</inertial></link><joint name="load_joint" type="fixed"><parent link="tool0"/>'
            '<child link="load"/></joint></robot>')
    written = Robot.from_urdf(ARM7.read_text().replace('</robot>', load))
    tensor = [[0.02, 0.001, 0.0], [0.001, 0.03, 0.002], [0.0, 0.002, 0.025]]
    carried = arm.with_payload('load', 'tool0', 1.5, (0.1, -0.2, 0.3), tensor)
    assert relative(carried.inverse_dynamics(q, v, a),
                    written.inverse_dynamics(q, v, a)) < EXACT_MATHS
    assert carried.total_mass == pytest.approx(written.total_mass)


def test_payloads_are_reversible_to_the_bit_and_do_not_accumulate(arm, states):
    """Set, set again, replace, clear."""
    q, v, a, _ = states
    bare = arm.inverse_dynamics(q, v, a)
    once = arm.with_payload('cup', 'tool0', 0.3)
    twice = once.with_payload('cup', 'tool0', 0.3)
    np.testing.assert_array_equal(twice.inverse_dynamics(q, v, a), once.inverse_dynamics(q, v, a))
    both = twice.with_payload('on_base', 'base_link', 5.0)
    np.testing.assert_array_equal(both.inverse_dynamics(q, v, a), once.inverse_dynamics(q, v, a))
    assert both.total_mass == pytest.approx(arm.total_mass + 5.3)
    cleared = both.without_payload('cup').without_payload('on_base')
    np.testing.assert_array_equal(cleared.inverse_dynamics(q, v, a), bare)
    assert cleared.payloads == {}


@pytest.mark.parametrize(('arguments', 'message'), [
    (('x', 'hand', 1.0), "no frame 'hand'; the robot has: .*tool0"),
    (('x', 'tool0', -1.0), 'mass is -1.0'),
    (('x', 'tool0', np.nan), 'mass is nan'),
    (('x', 'tool0', 1.0, (0, 0)), 'com is'),
    (('x', 'tool0', 1.0, (0, 0, 0), np.eye(2)), 'expected 3 x 3 finite'),
    (('x', 'tool0', 1.0, (0, 0, 0), -np.eye(3)), 'negative principal moment'),
    (('x', 'tool0', 1.0, (0, 0, 0), [[1, 1, 0], [0, 1, 0], [0, 0, 1]]), 'symmetric'),
    (('x', 'tool0', 1.0, (0, 0, 0), np.diag([1, 1, 2.1])), 'triangle inequality'),
    (('x', 'tool0', 'heavy'), 'mass is'),
    (('x', 'tool0', 1.0, 'low'), 'com is'),
])
def test_a_bad_payload_is_refused(arm, arguments, message):
    """The error names the argument."""
    with pytest.raises(DynamicsError, match=message):
        arm.with_payload(*arguments)


def test_an_unknown_payload_is_named(arm):
    """With the known ones."""
    with pytest.raises(UnknownName, match="no payload 'cup'; the robot has: plate"):
        arm.with_payload('plate', 'tool0', 1.0).without_payload('cup')


def test_gravity_follows_its_vector(arm, states):
    """Ceiling mount: the torques change sign; no gravity: they vanish."""
    q = states[0]
    np.testing.assert_allclose(arm.with_gravity((0, 0, 9.81)).gravity_torque(q),
                               -arm.gravity_torque(q))
    assert np.abs(arm.with_gravity((0, 0, 0)).gravity_torque(q)).max() == 0.0
    with pytest.raises(DynamicsError, match='gravity is .* expected 3 finite numbers'):
        arm.with_gravity((0, 0))


def test_friction_can_be_switched_off(arm, states):
    """friction=False leaves out damping and friction, nothing else."""
    q, v, a, _ = states
    smooth = Robot.from_urdf(ARM7, friction=False)
    difference = arm.inverse_dynamics(q, v, a) - smooth.inverse_dynamics(q, v, a)
    assert relative(difference, arm.friction_torque(v)) < EXACT_MATHS
    d, f = np.array([0.8, 0.8, 0.5, 0.5, 0.3, 0.2, 0.15]), np.array([.9, .9, .7, .7, .4, .3, .2])
    fast = np.full(7, 1e3)
    assert relative(arm.friction_torque(fast), d * 1e3 + f) < 1e-9


def test_friction_can_be_set_joint_by_joint(arm, states):
    """Joints not named keep theirs; setting back is exact."""
    q, v, a, _ = states
    first, second = arm.joint_names[:2]
    set_ = arm.with_friction({first: 2.0}, {second: 3.0})
    expected = arm.friction_torque(v)
    smooth = v / np.sqrt(v * v + 0.01 ** 2)
    expected[..., 0] = 2.0 * v[..., 0] + 0.9 * smooth[..., 0]
    expected[..., 1] = 0.8 * v[..., 1] + 3.0 * smooth[..., 1]
    assert relative(set_.friction_torque(v), expected) < EXACT_MATHS
    back = set_.with_friction({first: 0.8}, {second: 0.9})
    np.testing.assert_array_equal(back.inverse_dynamics(q, v, a), arm.inverse_dynamics(q, v, a))


@pytest.mark.parametrize(('arguments', 'message'), [
    (({'elbow': 1.0},), "no joint 'elbow'; the robot has: joint_1"),
    (({'joint_1': -1.0},), r"damping\['joint_1'\] is -1.0; expected zero or a positive"),
    (({}, {'joint_1': np.nan}), r"friction\['joint_1'\] is nan"),
    ((1.0,), 'damping is 1.0; expected a dict'),
])
def test_bad_friction_is_refused(arm, arguments, message):
    """The error names the argument and the joint."""
    with pytest.raises(DynamicsError, match=message):
        arm.with_friction(*arguments)


def test_forward_dynamics_without_inertia_is_refused_by_name():
    """Inverse dynamics is defined; forward is not, until an armature makes it so."""
    text = MASSLESS_TIP.format(mimic='')
    robot = Robot.from_urdf(text)
    state = ([0.1, 0.2], [0.3, 0.4], [1.0, 0.0])
    assert np.isfinite(robot.inverse_dynamics(*state)).all()
    for question in (lambda: robot.forward_dynamics(*state),
                     lambda: robot.mass_matrix_inverse([0.1, 0.2])):
        with pytest.raises(SingularModel, match="joint 'jt' moves links that have no inertia"):
            question()
    given = np.array([False, True])  # moved as prescribed, the tip needs no inertia
    a, tau = robot.hybrid_dynamics(*state[:2], [0, 2.0], [1.0, 0], given)
    assert np.isfinite([a, tau]).all()
    with_rotor = Robot.from_urdf(text, armature={'jt': 0.01})
    assert np.isfinite(with_rotor.forward_dynamics(*state)).all()


def test_a_massless_follower_is_accepted():
    """As a mimic it is no degree of freedom of its own."""
    robot = Robot.from_urdf(MASSLESS_TIP.format(mimic='<mimic joint="ja"/>'))
    assert robot.joint_names == ('ja',)
    assert np.isfinite(robot.forward_dynamics([0.1], [0.3], [1.0])).all()


def test_a_point_mass_on_the_axis_is_found_singular_despite_rounding():
    """At odd angles its inertia about the axis is 1e-17, not 0: still singular."""
    text = MASSLESS_TIP.format(mimic='').replace(
        '<link name="tip"/>', '<link name="tip"><inertial><origin xyz="0.33 0.44 0.55" '
        'rpy="0.1 0.2 0.3"/><mass value="3"/></inertial></link>')
    robot = Robot.from_urdf(text)
    with pytest.raises(SingularModel, match='jt'):
        robot.forward_dynamics([0.1, 0.2], [0.3, 0.4], [1.0, 0.5])


def test_values_that_overflow_are_refused():
    """No infinity leaves the robot."""
    with pytest.raises(DynamicsError, match='not finite'):
        Robot.from_urdf(ARM7).inverse_dynamics(np.zeros(7), np.full(7, 1e200), np.zeros(7))


def test_configurations_move_on_their_manifold():
    """Difference undoes integrate; quaternions stay unit; limits hold."""
    robot, rng, q, v, *_ = random_trees.make(random_trees.Tree(1, 'floating', True))
    moved = robot.integrate(q, v, 0.3)
    assert relative(robot.difference(q, moved), 0.3 * v) < EXACT_MATHS
    base = robot.model.joint('floating_base').q
    assert np.linalg.norm(moved[base][3:]) == pytest.approx(1.0, abs=1e-15)
    for _ in range(20):
        drawn = robot.random_configuration(rng)
        for joint in robot.model.joints:
            assert (drawn[joint.q] >= joint.lower).all()
            assert (drawn[joint.q] <= joint.upper).all()
    assert robot.neutral()[base].tolist() == [0, 0, 0, 0, 0, 0, 1]


def test_names_come_in_the_order_of_the_arrays():
    """Joints for q, degrees of freedom for v."""
    robot = random_trees.make(random_trees.Tree(0, 'floating', False)).robot
    assert robot.joint_names[0] == 'floating_base'
    assert robot.dof_names[:6] == tuple(f'floating_base.{axis}' for axis in (
        'vx', 'vy', 'vz', 'wx', 'wy', 'wz'))
    assert len(robot.dof_names) == robot.nv
    assert 'nv=30' in repr(robot)


def test_a_robot_without_joints_is_still_a_robot():
    """One link: everything is empty, the mass is there."""
    robot = Robot.from_urdf('<robot name="stone"><link name="s"><inertial><mass value="2"/>'
                            '</inertial></link></robot>')
    assert robot.nv == 0
    assert robot.inverse_dynamics([], [], []).shape == (0,)
    assert robot.forward_dynamics([], [], []).shape == (0,)
    assert robot.mass_matrix([]).shape == (0, 0)
    assert robot.jacobian([], 's').shape == (6, 0)
    assert robot.total_mass == 2.0
    assert 'no moving joint' in str(robot.report())


SPINNING_TIP = """
<robot name="r"><link name="base"/>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial></link><link name="tip"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="{izz}"/></inertial></link>
<joint name="ja" type="continuous"><parent link="base"/><child link="a"/></joint>
<joint name="jt" type="continuous"><parent link="a"/><child link="tip"/><axis xyz="0 0 1"/></joint>
</robot>"""


@pytest.mark.parametrize('compiled', [False, True])
@pytest.mark.parametrize(('izz', 'regular'), [
    (1e-3, True), (1e-6, True), (1e-8, True), (1e-11, False), (1e-14, False), (1e-17, False),
    (0.0, False)])
def test_every_solver_refuses_the_same_robots(monkeypatch, tmp_path, izz, regular, compiled):
    """Forward, hybrid and inverse mass matrix, in NumPy and compiled, regrouped or not."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path))
    robot = Robot.from_urdf(SPINNING_TIP.format(izz=izz), compile=compiled)
    if compiled:
        robot.compile(wait=True)
    q, v, tau = np.array([[0.1, 0.2], [0.3, 0.4], [1.0, 0.5]])
    for solve in (lambda: robot.forward_dynamics(q, v, tau),
                  lambda: robot.hybrid_dynamics(q, v, tau, tau, np.array([True, False])),
                  lambda: robot.mass_matrix_inverse(q)):
        for _ in range(2):  # the first call binds the kernel, the second uses it
            if regular:
                assert np.isfinite(solve()).all()
            else:
                with pytest.raises(SingularModel, match="joint 'jt'"):
                    solve()


def test_a_heavy_base_does_not_make_a_light_wrist_singular():
    """The threshold is per joint, not of the whole matrix."""
    text = MASSLESS_TIP.format(mimic='').replace(
        '<link name="tip"/>', '<link name="tip"><inertial><mass value="0.01"/><inertia ixx="1e-3" '
        'ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>').replace(
        '<link name="base"/>', '<link name="base"><inertial><mass value="1e7"/><inertia ixx="8e9" '
        'ixy="0" ixz="0" iyy="8e9" iyz="0" izz="8e9"/></inertial></link>')
    robot = Robot.from_urdf(text, base='floating')
    q = robot.neutral()
    assert np.isfinite(robot.mass_matrix_inverse(q)).all()
    assert np.isfinite(robot.forward_dynamics(q, np.zeros(8), np.ones(8))).all()


def test_a_subclass_keeps_its_own_method(monkeypatch, tmp_path):
    """A kernel replaces Robot's methods only."""
    class Heavier(Robot):
        def gravity_torque(self, q):
            return 2.0 * super().gravity_torque(q)
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path))
    robot, q = Heavier.from_urdf(ARM7), np.full(7, 0.3)
    robot.compile(wait=True)
    for _ in range(3):
        got = robot.gravity_torque(q)
    assert relative(got, 2.0 * Robot.from_urdf(ARM7, compile=False).gravity_torque(q)) < EXACT_MATHS
