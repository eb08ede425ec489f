"""Test the self-test: it passes for correct robots and fails for each kind of error."""

import numpy as np
import pytest

from dynamics_node import DynamicsError, Robot, SingularModel
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels.dynamics_specs import DYNAMICS
from dynamics_node.robot.self_test import self_test

FORWARD, POWER, MASS, DERIVATIVES, COMPILED = (
    'forward of inverse', 'power balance', 'mass matrix against inverse dynamics',
    'derivatives against differences', 'compiled against NumPy')
WRONG = 1.0 + 1e-4   # far too little to be seen in a plot

JOINT = ('<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/>'
         '<dynamics damping="{}"/></joint>')


def body(mass, ixx, iyy=0.1, com='0 0 0'):
    """Return the <inertial> of a link; the joints of `arm` turn about x."""
    return (f'<inertial><origin xyz="{com}"/><mass value="{mass}"/><inertia ixx="{ixx}" ixy="0" '
            f'ixz="0" iyy="{iyy}" iyz="0" izz="{iyy}"/></inertial>')


UPPER = body(1.0, 0.1, com='0.1 0.2 0.3')


def arm(tip, upper=UPPER, base='', damping=0.0):
    """Return the URDF of a shoulder and a wrist; the wrist turns the tip."""
    links = (f'<link name="{name}">{inside}</link>' for name, inside in (
        ('base', base), ('upper', upper), ('tip', tip)))
    return '\n'.join(['<robot name="arm">', *links, JOINT.format('shoulder', 'base', 'upper', 0),
                      JOINT.format('wrist', 'upper', 'tip', damping), '</robot>'])


def verdicts(robot, samples=3, **options):
    """Return {name: Check} of a self-test whose summary agrees with it."""
    result = self_test(robot, samples, **options)
    assert result.passed is all(check.passed for check in result.checks)
    return {check.name: check for check in result.checks}


def failed(robot, **options):
    return [name for name, check in verdicts(robot, **options).items() if not check.passed]


# Robots that are right -----------------------------------------------------------------------

def test_a_robot_of_every_joint_type_passes(tree):
    """Mimics, friction, armature; in NumPy only, so there is no kernel to compare."""
    checks = verdicts(tree.robot)
    assert [check.passed for check in checks.values()] == [True] * 5
    assert [name for name, check in checks.items() if np.isnan(check.residual)] == [COMPILED]
    assert 'switched off' in checks[COMPILED].text


@pytest.mark.parametrize('text', [
    arm(body(0.5, 1e-9)), arm(body(1e-9, 1e-12)), arm(body(0.5, 1e-9), damping=1e4),
    arm(body(1.0, 1e-14, 1e-14), body(1.0, 1e-14, 1e-14, com='0 1e-7 0')),
    arm(body(0.5, 0.1), base=body(1e7, 1.0, 1.0, com='0 0 1')),
], ids=['thin', 'light', 'sticky', 'tiny', 'on a heavy table'])
def test_ill_conditioned_robots_pass(text):
    """Rounding is measured relative to possible motions."""
    assert failed(Robot.from_urdf(text)) == []


def test_a_robot_with_a_heavy_payload_and_no_gravity_passes():
    """Hundreds of times the robot's own mass, far out."""
    robot = Robot.from_urdf(ARM7)
    assert failed(robot.with_payload('box', 'tool0', 1e4, (1.0, 2.0, 3.0))) == []
    assert failed(robot.with_gravity((0.0, 0.0, 0.0))) == []


def test_a_tip_without_inertia_is_not_applicable():
    """Reported with the joint's name, and no failure; the other laws hold."""
    checks = verdicts(Robot.from_urdf(arm(tip='')))
    assert checks[FORWARD].passed and np.isnan(checks[FORWARD].residual)
    assert checks[FORWARD].text.startswith("not applicable: joint 'wrist' moves")
    assert checks[POWER].residual < 1e-6 and checks[MASS].residual < 1e-11
    assert checks[DERIVATIVES].residual < 1e-6
    assert "of forward dynamics not defined at 3: joint 'wrist'" in checks[DERIVATIVES].text


def test_a_robot_without_joints_has_a_verdict():
    """Nothing to test."""
    checks = verdicts(Robot.from_urdf('<robot name="table"><link name="top"/></robot>'))
    assert {check.text for check in checks.values()} == {'not applicable: nothing moves'}
    assert all(check.passed for check in checks.values())


def test_the_same_seed_gives_the_same_verdict():
    """The states are random, but repeatable."""
    robot = Robot.from_urdf(ARM7)
    one, again, other = (verdicts(robot, samples=2, seed=seed) for seed in (7, 7, 8))
    assert one[POWER].residual == again[POWER].residual != other[POWER].residual


# Robots that are wrong -----------------------------------------------------------------------

def wrong(**methods):
    """Return the arm with some methods of Robot replaced."""
    return type('Wrong', (Robot,), methods).from_urdf(ARM7)


def test_wrong_forward_dynamics_fails():
    """By a ten-thousandth."""
    def forward_dynamics(self, *state):
        return WRONG * Robot.forward_dynamics(self, *state)
    assert failed(wrong(forward_dynamics=forward_dynamics)) == [FORWARD]


def test_forward_dynamics_that_refuses_a_regular_robot_fails():
    """A refusal is accepted only where the mass matrix is singular."""
    def forward_dynamics(self, *state):
        raise SingularModel("joint 'joint_1' moves nothing")
    checks = verdicts(wrong(forward_dynamics=forward_dynamics))
    assert not checks[FORWARD].passed
    assert "refused, though M is regular: joint 'joint_1'" in checks[FORWARD].text


def test_zero_inverse_dynamics_fails():
    """Zeros violate every law."""
    def inverse_dynamics(self, q, v, a, wrenches=None):
        return np.zeros(np.broadcast_shapes(np.shape(v), np.shape(a)))
    assert failed(wrong(inverse_dynamics=inverse_dynamics)) == [FORWARD, POWER, MASS, DERIVATIVES]


def test_wrong_coriolis_forces_fail():
    """Forward dynamics cancels the error of inverse dynamics; energy and slopes do not."""
    def inverse_dynamics(self, q, v, a, wrenches=None):
        return Robot.inverse_dynamics(self, q, np.multiply(v, WRONG), a)

    def forward_dynamics(self, q, v, tau, wrenches=None):
        return Robot.forward_dynamics(self, q, np.multiply(v, WRONG), tau)
    assert failed(wrong(inverse_dynamics=inverse_dynamics,
                        forward_dynamics=forward_dynamics)) == [POWER, DERIVATIVES]


@pytest.mark.parametrize('name', ['kinetic_energy', 'potential_energy', 'friction_torque'])
def test_power_that_does_not_balance_fails(name):
    """Each term counts."""
    method = {name: lambda self, *state: WRONG * getattr(Robot, name)(self, *state)}
    assert failed(wrong(**method)) == [POWER]


def test_a_mass_matrix_with_one_wrong_entry_fails():
    """Symmetric and positive as before; forward dynamics passes."""
    def mass_matrix(self, q):
        M = Robot.mass_matrix(self, q)
        M[5, 6] = M[6, 5] = M[5, 6] + 1e-4 * M[6, 6]
        return M
    checks = verdicts(wrong(mass_matrix=mass_matrix))
    assert [name for name, check in checks.items() if not check.passed] == [MASS]
    assert 'symmetric' not in checks[MASS].text and 'negative' not in checks[MASS].text


def test_an_asymmetric_mass_matrix_fails():
    """The text says so."""
    def mass_matrix(self, q):
        return np.triu(Robot.mass_matrix(self, q))
    check = verdicts(wrong(mass_matrix=mass_matrix))[MASS]
    assert not check.passed and 'M is not symmetric' in check.text


def test_a_urdf_with_negative_inertia_fails():
    """The library computes with it, and M agrees with ID; but no such body exists."""
    checks = verdicts(Robot.from_urdf(arm(body(0.5, -0.01))))
    assert not checks[MASS].passed and 'negative inertia' in checks[MASS].text
    assert checks[POWER].passed


@pytest.mark.parametrize('which', [0, 1, 2])
@pytest.mark.parametrize('method', ['inverse_dynamics_derivatives', 'forward_dynamics_derivatives'])
def test_derivatives_with_one_wrong_entry_fail(method, which):
    """By a ten-thousandth of the largest in its row, the wrist's; each of the six matrices."""
    def derivatives(self, *state):
        right = getattr(Robot, method)(self, *state)
        matrices = [np.array(matrix) for matrix in right]
        matrices[which][5, 2] += 1e-4 * np.abs(matrices[which][5]).max()
        return type(right)(*matrices)
    assert failed(wrong(**{method: derivatives})) == [DERIVATIVES]


def test_derivatives_that_refuse_a_regular_robot_fail():
    """Like forward dynamics."""
    def forward_dynamics_derivatives(self, *state):
        raise SingularModel("joint 'joint_1' moves nothing")
    checks = verdicts(wrong(forward_dynamics_derivatives=forward_dynamics_derivatives))
    assert [name for name, check in checks.items() if not check.passed] == [DERIVATIVES]
    assert "refused, though M is regular: joint 'joint_1'" in checks[DERIVATIVES].text


@pytest.mark.parametrize('speed', [1e-6, 1.0])
def test_steep_friction_passes(speed):
    """Slopes are taken within the speed over which it changes its sign."""
    robot = Robot.from_urdf(ARM7, friction_speed=speed)
    assert robot.model.friction.any()
    check = verdicts(robot)[DERIVATIVES]
    assert check.passed, check.text


@pytest.mark.parametrize('result', [np.nan, np.inf])
def test_results_that_are_not_finite_fail(result):
    """Every check."""
    def mass_matrix(self, q):
        M = Robot.mass_matrix(self, q)
        M[2, 3] = result
        return M
    assert failed(wrong(mass_matrix=mass_matrix)) == [FORWARD, MASS]


def test_errors_inside_are_reported_in_the_table():
    """No traceback; the other checks are done."""
    def potential_energy(self, q):
        raise ZeroDivisionError('no gravity')
    result = self_test(wrong(potential_energy=potential_energy))
    check = result.checks[1]
    assert (check.name, check.passed, check.residual) == (POWER, False, np.inf)
    assert check.text == 'ZeroDivisionError: no gravity'
    assert [one.passed for one in result.checks] == [True, False, True, True, True]


# Kernels -------------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def compiled(kernel_cache):
    """The arm with all its kernels ready."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('DYNAMICS_NODE_COMPILE', '1')
        patch.setenv('DYNAMICS_NODE_CACHE', str(kernel_cache))
        return Robot.from_urdf(ARM7).compile(wait=True)


@pytest.fixture
def fresh(compiled):
    """Another robot on the same kernels, all in their places, to be spoiled."""
    robot = compiled.with_gravity(compiled.gravity)
    assert self_test(robot, samples=1).passed
    return robot


def test_a_compiled_robot_passes(fresh):
    """With all its kernels."""
    check = self_test(fresh).checks[-1]
    assert check.name == COMPILED and check.passed and check.residual < 1e-12
    assert '10 states, 13 of 13 kernels ready' in check.text


def test_kernels_of_another_robot_fail(compiled):
    """Of the same arm with a link of one gram more.

    Derivatives in NumPy do not fit to them either; their own kernels may be there, or not yet.
    """
    text = ARM7.read_text()
    mass = '<mass value="2.7"/>'
    assert mass in text
    model = Robot.from_urdf(text.replace(mass, '<mass value="2.701"/>', 1)).model
    robot = Robot(model, kernels=compiled._dispatcher.kernels)
    assert [name for name in failed(robot) if name != DERIVATIVES] == [COMPILED]


@pytest.mark.parametrize('kernel_name', [spec.name for spec in DYNAMICS])
@pytest.mark.parametrize('only', [1, 2], ids=['single', 'batch'])
def test_a_wrong_kernel_fails(fresh, kernel_name, only):
    """Each is compared, for single states and for batches; the text names it."""
    right = getattr(fresh, kernel_name)

    def off(*arguments):
        result = right(*arguments)
        if np.ndim(arguments[0]) != only:
            return result
        return (WRONG * result[0], result[1]) if isinstance(result, tuple) else WRONG * result
    vars(fresh)[kernel_name] = off
    check = verdicts(fresh, samples=2)[COMPILED]
    assert not check.passed and check.residual > check.tolerance
    assert f'worst is {kernel_name}' in check.text


def test_each_kernel_has_its_own_tolerance(fresh):
    """The larger tolerance of solving is not used elsewhere."""
    forward, gravity = fresh.forward_dynamics, fresh.gravity_torque
    vars(fresh)['forward_dynamics'] = lambda *states: (1.0 + 1e-7) * forward(*states)
    vars(fresh)['gravity_torque'] = lambda q: (1.0 + 1e-9) * gravity(q)
    check = verdicts(fresh, samples=1)[COMPILED]
    assert not check.passed and 'worst is gravity_torque' in check.text
    assert check.residual < 1e-8


@pytest.mark.parametrize('result', [np.nan, np.zeros((2, 7)), DynamicsError('no result')])
def test_a_kernel_without_a_valid_result_fails(fresh, result):
    """Not a number, another shape, a refusal."""
    def gravity_torque(q):
        if isinstance(result, Exception):
            raise result
        return result + np.zeros(7)
    vars(fresh)['gravity_torque'] = gravity_torque
    check = verdicts(fresh, samples=1)[COMPILED]
    assert not check.passed and check.residual == np.inf


def test_only_kernels_that_are_ready_are_compared(monkeypatch, fresh):
    """The test does not wait; kernels that are not ready or failed are reported."""
    engine = fresh._dispatcher.kernels
    ready = [key for key in engine._done if key.kernel in ('mass_matrix', 'momentum')]
    broken = next(key for key in engine._done if key.kernel == 'bias_torque')
    monkeypatch.setattr(engine, '_done', {
        **{key: engine._done[key] for key in ready}, broken: DynamicsError('LLVM is out')})
    check = verdicts(fresh, samples=1)[COMPILED]
    assert check.passed and '1 state, 2 of 13 kernels ready' in check.text
    assert 'bias_torque has no kernel: LLVM is out' in check.text
    monkeypatch.setattr(engine, '_done', {})
    assert 'not applicable: no kernel is ready' in verdicts(fresh, samples=1)[COMPILED].text


def test_a_compiled_robot_with_a_massless_tip_passes(monkeypatch, tmp_path):
    """Both paths refuse forward dynamics: they agree."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path))
    robot = Robot.from_urdf(arm(tip='')).compile(wait=True)
    assert failed(robot) == []
    assert '13 of 13' in verdicts(robot)[COMPILED].text


# Arguments and the table ---------------------------------------------------------------------

@pytest.mark.parametrize('samples', [0, 1001, -1, 2.0, '10', None, True, [3]])
def test_invalid_samples_are_refused_by_name(samples):
    """An integer from 1 to 1000."""
    with pytest.raises(DynamicsError, match='samples is .*expected a whole number, from 1 to 1000'):
        self_test(Robot.from_urdf(ARM7), samples=samples)


@pytest.mark.parametrize('seed', [-1, 0.5, 'now', None, False])
def test_invalid_seeds_are_refused_by_name(seed):
    """An integer that is not negative."""
    with pytest.raises(DynamicsError, match='seed is .*expected a whole number, 0 or more'):
        self_test(Robot.from_urdf(ARM7), seed=seed)


def test_arguments_other_than_a_robot_are_refused():
    """For example a URDF."""
    with pytest.raises(DynamicsError, match='robot is a str; expected a Robot'):
        self_test('<robot name="arm"/>')


def test_numpy_integers_are_integers():
    """As they come out of an array."""
    assert self_test(Robot.from_urdf(ARM7), np.int64(1), np.uint8(3)).passed


def test_the_table_has_a_line_per_check():
    """The verdict, then a line per check: numbers, verdict, text."""
    robot = wrong(potential_energy=lambda self, q: WRONG * Robot.potential_energy(self, q))
    result = self_test(robot, samples=1)
    head, titles, *lines = str(result).splitlines()
    assert head == 'self-test FAILED: power balance'
    assert titles.split() == ['check', 'residual', 'allowed']
    assert [line.split('  ')[1] for line in lines] == [check.name for check in result.checks]
    assert ['FAILED' in line for line in lines] == [False, True, False, False, False]
    assert 'passed   1 state' in lines[0] and f'{result.checks[0].residual:.1e}' in lines[0]
    assert 'skipped  not applicable' in lines[4]
    assert str(self_test(Robot.from_urdf(ARM7), samples=1)).startswith('self-test passed\n')
