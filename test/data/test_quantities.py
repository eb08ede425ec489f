"""Test the quantities of rows: physics of external torques, and names that are refused."""

import numpy as np
import pytest

from dynamics_node import DynamicsError
from dynamics_node.data.quantities import QUANTITIES, RowQuantities, added_columns
from dynamics_node.observer import meaning_of

FORCE = np.array([5.0, -3.0, 8.0, 0.2, 0.1, -0.4])   # on the tool, in its axes [N, N m]


@pytest.fixture(scope='module')
def states(kernels, robot):
    rng = np.random.default_rng(0)
    return rng.uniform(-1.0, 1.0, (3, 300, robot.nv))   # enough to wait for kernels


def external_torque(robot, states, effort, meaning, **options):
    q, v, a = states
    rows = RowQuantities(robot, q, q, v, a, effort, meaning_of(robot, meaning, **options))
    return added_columns(robot, ['external_torque'])[0].values(rows)


@pytest.mark.parametrize('meaning', ['motor_torque', 'output_torque', 'current', 'without_gravity'])
def test_the_external_torque_of_a_known_wrench(robot, states, meaning):
    """A wrench on the tool: J' F, whatever the driver calls effort."""
    q, v, a = states
    motor = robot.inverse_dynamics(q, v, a, wrenches={'tool0': np.tile(FORCE, (len(q), 1))})
    constants = {name: 0.5 for name in robot.joint_names} if meaning == 'current' else None
    effort = {
        'motor_torque': motor, 'current': motor / 0.5,
        'output_torque': motor - robot.friction_torque(v) - robot.model.armature * a,
        'without_gravity': motor - robot.gravity_torque(q)}[meaning]
    wanted = np.einsum('nij,i->nj', robot.jacobian(q, 'tool0', local=True), FORCE)
    found = external_torque(robot, states, effort, meaning, torque_constants=constants)
    assert np.abs(wanted).max() > 0.5
    assert np.abs(found - wanted).max() < 1e-11


def test_columns_are_those_of_the_robot(robot, states):
    q, v, a = states
    names = [f'{name}:tool0' if each.of_frame else name for name, each in QUANTITIES.items()
             if not each.effort]
    rows = RowQuantities(robot, q, q, v, a)
    found = {column.name: column.values(rows) for column in added_columns(robot, names)}
    tau = robot.inverse_dynamics(q, v, a)
    wanted = {'gravity': robot.gravity_torque(q), 'inverse_dynamics': tau, 'power': tau * v,
              'twist:tool0': robot.frame_twist(q, v, 'tool0'), 'velocity': v, 'acceleration': a,
              'kinetic_energy': robot.kinetic_energy(q, v)[:, None],
              'potential_energy': robot.potential_energy(q)[:, None]}
    by_state = robot.inverse_dynamics_derivatives(q, v, a)._asdict()
    wanted.update((f'inverse_dynamics_{name}', matrices.reshape(len(q), -1))
                  for name, matrices in by_state.items())
    for name, want in wanted.items():
        assert np.array_equal(found[name], want), name
    assert np.array_equal(found['pose:tool0'][:, :3], robot.frame_pose(q, 'tool0')[:, :3, 3])
    assert {*wanted, 'pose:tool0'} == set(names)


def test_forward_dynamics_is_that_of_the_measured_torque(robot, states):
    """Without external torques it is the acceleration; with them it differs by M^-1 tau_ext."""
    q, v, a = states
    meaning = meaning_of(robot, 'without_gravity')
    motor = robot.inverse_dynamics(q, v, a)
    rows = RowQuantities(robot, q, q, v, a, motor - robot.gravity_torque(q), meaning)
    names = ['forward_dynamics', *(f'forward_dynamics_{x}' for x in ('dq', 'dv', 'dtau'))]
    found = {column.name: column.values(rows) for column in added_columns(robot, names)}
    assert np.abs(found['forward_dynamics'] - a).max() < 1e-9
    for name, matrices in robot.forward_dynamics_derivatives(q, v, motor)._asdict().items():
        column = found[f'forward_dynamics_{name}'].reshape(matrices.shape)
        assert np.abs(column - matrices).max() < 1e-9 * np.abs(matrices).max()
    pushed = RowQuantities(robot, q, q, v, a, motor + 1.0 - robot.gravity_torque(q), meaning)
    missed = np.linalg.solve(robot.mass_matrix(q), -pushed.external_torque[..., None])[..., 0]
    assert np.abs(pushed.forward_dynamics - a - missed).max() < 1e-9


def test_power_is_the_rate_of_energy(robot):
    """Without friction: the sum over joints is d/dt of kinetic and potential energy."""
    time = np.linspace(0.0, 1.0, 2001)
    phase = np.multiply.outer(time, [2.0, 3.0])
    q, v, a = np.sin(phase), [2.0, 3.0] * np.cos(phase), -np.array([4.0, 9.0]) * np.sin(phase)
    rows = RowQuantities(robot, q, q, v, a)
    power = added_columns(robot, ['power'])[0].values(rows) - robot.friction_torque(v) * v
    energy = robot.kinetic_energy(q, v) + robot.potential_energy(q)
    rate = (energy[2:] - energy[:-2]) / (time[2] - time[0])
    assert np.abs(power.sum(axis=1)[1:-1] - rate).max() < 1e-4 * np.abs(rate).max()


@pytest.mark.parametrize(('names', 'words'), [
    ([], 'columns is'), ('gravity', 'columns is'), (['mass'], "'mass'"), ([3], 'columns has 3'),
    (['pose'], "'pose'; expected some of: gravity, pose:FRAME"), (['gravity:tool0'], 'gravity'),
    (['pose:hand'], "no frame 'hand'"), (['gravity', 'gravity'], 'twice')])
def test_names_that_are_refused(robot, names, words):
    with pytest.raises(DynamicsError) as error:
        added_columns(robot, names)
    assert words in str(error.value)
