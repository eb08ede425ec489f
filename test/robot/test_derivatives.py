"""Test the Robot's derivatives: batches, names of results, errors."""

import numpy as np
import pytest
from support.differences import STEP, relative
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node import DynamicsError, UnknownName

GIVEN = np.arange(7) % 2 == 0


def calls(states, wrenches):
    """Return {name: (positional arguments, named ones)} of every method."""
    q, v, a, tau = states
    rng = np.random.default_rng(2)
    n = q.shape[:-1]
    rates = {'dq': v, 'dv': tau, 'dgravity': rng.normal(size=(*n, 3)), 'ddamping': a,
             'dinertias': {'tool0': rng.normal(size=(*n, 10))}, 'dwrenches': wrenches,
             'dorigins': {'joint_2': rng.normal(size=(*n, 6))},
             'daxes': {'joint_3': rng.normal(size=(*n, 6))},
             'wrenches': wrenches}
    loaded = {'wrenches': wrenches}
    return {
        'inverse_dynamics_derivatives': ((q, v, a), loaded),
        'forward_dynamics_derivatives': ((q, v, tau), loaded),
        'hybrid_dynamics_derivatives': ((q, v, a, tau, GIVEN), loaded),
        'inverse_dynamics_directional_derivative': ((q, v, a), {**rates, 'da': a}),
        'forward_dynamics_directional_derivative': ((q, v, tau), {**rates, 'dtau': a}),
        'hybrid_dynamics_directional_derivative': ((q, v, a, tau, GIVEN), {**rates, 'da': a,
                                                                           'dtau': a}),
        'inverse_dynamics_hessian_product': ((q, v, a, tau, v, a, tau), {}),
        'regressor': ((q, v, a), {'friction': True, 'armature': True}),
        'energy_regressor': ((q, v), {}), 'mass_matrix_derivatives': ((q,), {}),
        'christoffel_symbols': ((q,), {}), 'gravity_stiffness': ((q,), {}),
        'generalised_momentum': ((q, v), {}), 'center_of_mass_motion': ((q, v), {}),
        'frame_pose_derivatives': ((q, 'tool0'), {}),
        'frame_twist_derivatives': ((q, v, 'tool0'), {'local': True}),
        'linearize': ((q, v, tau), {'step': 0.01, **loaded}),
    }


def test_batches_give_the_results_of_single_states(arm, states):
    """Every method, shape (N, ...) in the order of the rows."""
    wrenches = {'tool0': np.random.default_rng(1).normal(size=(4, 6))}
    for name, (arguments, named) in calls(states, wrenches).items():
        batch = getattr(arm, name)(*arguments, **named)
        for row in (0, 3):
            one = getattr(arm, name)(*(_row(part, row) for part in arguments),
                                     **{key: _row(part, row) for key, part in named.items()})
            assert type(one) is type(batch)
            parts = zip(batch, one) if isinstance(batch, tuple) else [(batch, one)]
            for part, single in parts:
                assert relative(part[row], single) < EXACT_MATHS, name


def _row(argument, row):
    if isinstance(argument, dict):
        return {key: value[row] for key, value in argument.items()}
    return argument[row] if isinstance(argument, np.ndarray) and argument is not GIVEN else argument


def test_single_states_mix_with_batches(arm, states):
    """Single values are used for every row."""
    q, v, a, tau = states
    mixed = arm.inverse_dynamics_derivatives(q[0], v, a[0])
    alone = arm.inverse_dynamics_derivatives(q[0], v[2], a[0])
    assert relative(mixed.dv[2], alone.dv) < EXACT_MATHS
    assert arm.regressor(q[0], v, a[0], friction=True, armature=True).shape == (4, 7, 70 + 21)
    along = arm.forward_dynamics_directional_derivative(q[0], v[0], tau[0], dgravity=np.zeros((4,
                                                                                               3)))
    assert along.tolist() == np.zeros((4, 7)).tolist()
    assert arm.linearize(q[0], v[0], tau).A.shape == (4, 14, 14)


def test_parameters_times_regressor_are_the_torques(arm, states):
    """With damping, friction and rotors."""
    q, v, a, _ = (part[0] for part in states)
    robot = arm.with_payload('box', 'tool0', 2.0, (0.1, 0.0, 0.2)).with_friction(
        {'joint_1': 0.3}, {'joint_2': 0.4})
    model = robot.model
    parameters = np.concatenate([robot.inertial_parameters, model.damping, model.friction,
                                 model.armature])
    Y = robot.regressor(q, v, a, friction=True, armature=True)
    assert relative(Y @ parameters, robot.inverse_dynamics(q, v, a)) < EXACT_MATHS
    kinetic, potential = robot.energy_regressor(q, v)
    pi = robot.inertial_parameters
    assert relative(kinetic @ pi + 0.5 * v @ (model.armature * v),
                    robot.kinetic_energy(q, v)) < EXACT_MATHS
    fixed = robot.potential_energy(q) - potential @ pi
    assert relative(robot.potential_energy(2 * q) - robot.energy_regressor(2 * q, v)[1] @ pi,
                    fixed) < EXACT_MATHS


def test_a_heavier_tool_is_a_direction(arm, states):
    """D tau/dm of a payload by its inertia's rate, against the payload itself."""
    q, v, a, _ = (part[0] for part in states)
    rate = arm.inverse_dynamics_directional_derivative(q, v, a,
                                                       dinertias={'tool0': [1.0] + [0.0] * 9})
    loaded = arm.with_payload('box', 'tool0', 1.0)  # torques are linear in the mass
    assert relative(rate, loaded.inverse_dynamics(q, v, a)
                    - arm.inverse_dynamics(q, v, a)) < EXACT_MATHS
    more = arm.inverse_dynamics_directional_derivative(q, v, a, ddamping={'joint_3': 2.0},
                                      darmature={'joint_1': 1.0}, dfriction={})
    assert relative(more, np.eye(7)[2] * 2.0 * v + np.eye(7)[0] * a) < EXACT_MATHS


def test_a_linear_model_follows_the_motion(arm, states):
    """One small step of the linear model against the robot's own rates."""
    q, v, _, tau = (part[0] for part in states)
    linear = arm.linearize(q, v, tau)
    assert linear.B.shape == (14, 7)
    direction = np.random.default_rng(3).normal(size=14)

    def rate(step):
        moved = arm.integrate(q, direction[:7], step), v + step * direction[7:]
        return np.concatenate([moved[1], arm.forward_dynamics(*moved, tau)])
    change = (rate(STEP) - rate(-STEP)) / (2.0 * STEP)
    assert relative(linear.A @ direction, change) < RATE_BY_DIFFERENCES * 10.0
    assert relative(linear.drift, rate(0.0)) < EXACT_MATHS
    small = arm.linearize(q, v, tau, step=1e-9)
    assert relative((small.A - np.eye(14)) / 1e-9, linear.A) < RATE_BY_DIFFERENCES


WRONG = {
    'q must have shape (7,)': lambda r, x: r.inverse_dynamics_derivatives(x[:6], x, x),
    'v[3] is nan': lambda r, x: r.forward_dynamics_derivatives(
        x, x + [0, 0, 0, np.nan, 0, 0, 0], x),
    'given must be 7 booleans': lambda r, x: r.hybrid_dynamics_derivatives(x, x, x, x, x),
    'dq must have shape (7,)': lambda r, x: r.inverse_dynamics_directional_derivative(x, x, x,
                                                                                      dq=x[:2]),
    'dgravity must have shape (3,)':
        lambda r, x: r.forward_dynamics_directional_derivative(x, x, x, dgravity=x),
    "dinertias['tool0'] must have shape (10,)":
        lambda r, x: r.inverse_dynamics_directional_derivative(x, x, x, dinertias={'tool0': x}),
    "dorigins['joint_1'] must have shape (6,)":
        lambda r, x: r.inverse_dynamics_directional_derivative(x, x, x, dorigins={'joint_1': x}),
    "daxes['joint_1'][0] is nan": lambda r, x: r.forward_dynamics_directional_derivative(
        x, x, x, daxes={'joint_1': [np.nan] * 6}),
    'daxes must be a dict {joint': lambda r, x: r.hybrid_dynamics_directional_derivative(
        x, x, x, x, GIVEN, daxes=x),
    'dq, dv, ... has 2, dorigins, daxes has 3 rows':
        lambda r, x: r.inverse_dynamics_directional_derivative(
            x, x, x, dq=np.ones((2, 7)), daxes={'joint_1': np.ones((3, 6))}),
    "dorigins['joint_1'] has 2, dorigins['joint_2'] has 3 rows":
        lambda r, x: r.inverse_dynamics_directional_derivative(
            x, x, x, dorigins={'joint_1': np.ones((2, 6)), 'joint_2': np.ones((3, 6))}),
    'dinertias must be a dict': lambda r, x: r.inverse_dynamics_directional_derivative(x, x, x,
                                                                                       dinertias=x),
    "dwrenches['tool0'][2] is inf":
        lambda r, x: r.inverse_dynamics_directional_derivative(x, x, x,
                                              dwrenches={'tool0': [0, 0, np.inf, 0, 0, 0]}),
    "ddamping['joint_1'] must": lambda r, x: r.hybrid_dynamics_directional_derivative(
        x, x, x, x, GIVEN, ddamping={'joint_1': 'much'}),
    'darmature must have shape (7,)':
        lambda r, x: r.forward_dynamics_directional_derivative(x, x, x, darmature=x[:3]),
    'weights must have shape (7,)':
        lambda r, x: r.inverse_dynamics_hessian_product(x, x, x, x[:1], x, x, x),
    'batches must be of one size': lambda r, x: r.inverse_dynamics_directional_derivative(
        x, x, x, dinertias={'tool0': np.ones((2, 10)), 'link_1': np.ones((3, 10))}),
    'step is 0': lambda r, x: r.linearize(x, x, x, step=0),
    'step is -1; expected a positive': lambda r, x: r.linearize(x, x, x, step=-1),
    'step is 1e+06 s': lambda r, x: r.linearize(x, x, x, step=1e6),
    'tau must have shape (7,)': lambda r, x: r.linearize(x, x, x[:1]),
}


@pytest.mark.parametrize('words', WRONG)
def test_wrong_arguments_are_named(arm, words):
    """The argument, its place, and what would be right."""
    with pytest.raises(DynamicsError) as found:
        WRONG[words](arm, np.zeros(7))
    assert words in str(found.value)


UNKNOWN = {
    'frame': [lambda r, x: r.frame_twist_derivatives(x, x, 'hand'),
              lambda r, x: r.frame_pose_derivatives(x, 'hand'),
              lambda r, x: r.inverse_dynamics_directional_derivative(
                  x, x, x, dinertias={'hand': np.ones(10)}),
              lambda r, x: r.inverse_dynamics_directional_derivative(
                  x, x, x, dwrenches={'hand': np.ones(6)})],
    'joint': [lambda r, x: r.forward_dynamics_directional_derivative(x, x, x,
                                                                     ddamping={'elbow': 1.0}),
              lambda r, x: r.inverse_dynamics_directional_derivative(x, x, x,
                                                                     dfriction={'elbow': 1.0}),
              lambda r, x: r.inverse_dynamics_directional_derivative(
                  x, x, x, dorigins={'elbow': np.ones(6)})],
}


@pytest.mark.parametrize('what', UNKNOWN)
def test_an_unknown_name_is_refused_with_the_known_ones(arm, what):
    """Of frames or of joints."""
    known = {'frame': 'tool0', 'joint': 'joint_1'}[what]
    for call in UNKNOWN[what]:
        with pytest.raises(UnknownName, match=known):
            call(arm, np.zeros(7))
