"""Test the fit of an unknown payload: mass within 1 %, centre within 5 mm, true deviations."""

import numpy as np
import pytest
from support.loaded_arm import LOAD, MIDDLE, moved, static

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.payload_fit import CUTOFF, identify_payload
from dynamics_node.identification.preparation import prepare
from dynamics_node.identification.pseudo_inertia import pseudo_inertia
from dynamics_node.identification.recording import raw_recording
from dynamics_node.identification.static_poses import StaticPoses
from dynamics_node.spatial.inertia import from_com

FRICTION = np.array([0.9, 0.9, 0.7, 0.7, 0.4, 0.3, 0.2])   # of the arm's URDF
WRONG = 1.2     # times the URDF's mass of the last link that the true arm has


@pytest.fixture(scope='module')
def robot(kernels):
    """The arm of the URDF; regressors of thousands of states are compiled."""
    return Robot.from_urdf(ARM7)


def poses(n=8, seed=3):
    """Return poses in which gravity has many directions in the axes of the hand."""
    rng = np.random.default_rng(seed)
    return MIDDLE + rng.uniform(-1.0, 1.0, (n, 7)) * [0.5, 0.5, 1.0, 0.5, 1.5, 1.2, 1.5]


def assert_found(estimate, load=None, mass=0.01, centre=0.005):
    load = load or LOAD
    assert abs(estimate.mass / load['mass'] - 1.0) < mass, str(estimate)
    assert np.abs(estimate.com - load['com']).max() < centre, str(estimate)


def heavier_hand():
    """Return the URDF of an arm whose last link weighs more than the model's."""
    mass = Robot.from_urdf(ARM7, compile=False).model.bodies[-1].inertia.mass
    old = f'<mass value="{mass:g}"/>'
    text = ARM7.read_text()
    before, middle, after = text.rpartition(old)
    assert middle
    return f'{before}<mass value="{WRONG * mass:g}"/>{after}'


# From a motion ------------------------------------------------------------------------------------

@pytest.mark.parametrize('seed', range(3))
def test_ten_seconds_of_motion_give_mass_centre_and_inertia(robot, seed):
    """With noise, and dry friction that sticks where the model's is smooth."""
    found = identify_payload(robot, moved(LOAD, seed=seed), 'tool0')
    assert_found(found)
    assert np.abs(found.inertia - LOAD['inertia']).max() < 0.005
    ten = from_com(found.mass, found.com, found.inertia)
    assert np.linalg.eigvalsh(pseudo_inertia(
        [ten.mass, *ten.moment, *ten.tensor[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]]))[0] > 0.0


def test_stated_deviations_are_true(robot):
    """Errors are as large as the stated sigmas, RMS; a little less, since no residuals count as
    less alike than independent ones: 0.88 over sixty recordings like these.
    """
    raw = moved(None, seconds=4.0)
    exact = prepare(robot, raw, CUTOFF, 2.0, False).recording
    exact = exact.rows(slice(None, None, 20))
    loaded = robot.with_payload('load', 'tool0', **LOAD)
    tau = loaded.inverse_dynamics(exact.q, exact.v, exact.a)
    rng, errors = np.random.default_rng(0), []
    truth = np.array([LOAD['mass'], *LOAD['com'], *LOAD['inertia'][[0, 0, 1, 0, 1, 2],
                                                                   [0, 1, 1, 2, 2, 2]]])
    for _ in range(12):
        noisy = exact._replace(tau=tau + 0.2 * rng.standard_normal(tau.shape))
        found = identify_payload(robot, noisy, 'tool0')
        values = np.array([found.mass, *found.com,
                           *found.inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])
        errors.append((values - truth) / list(found.sigma.values()))
    assert 0.7 < np.sqrt(np.mean(np.square(errors))) < 1.2
    np.testing.assert_allclose(found.residual_rms, 0.2, rtol=0.3)


def test_an_unloaded_motion_removes_the_model_error(robot):
    """The true hand is heavier than the URDF's: without the other recording that is payload."""
    urdf = heavier_hand()
    raw, bare = moved(LOAD, urdf=urdf), moved(None, seed=9, urdf=urdf)
    fooled = identify_payload(robot, raw, 'tool0')
    assert fooled.mass > 1.02 * LOAD['mass']
    assert_found(identify_payload(robot, raw, 'tool0', unloaded=bare))


def test_a_point_mass_stays_a_body(robot):
    """Its inertia is zero: with noise it is not physical, so the nearest physical one is used."""
    load = {'mass': 1.0, 'com': (0.0, 0.0, 0.1)}
    found = identify_payload(robot, moved(load, seed=4), 'tool0')
    assert_found(found, load)
    assert np.linalg.eigvalsh(found.inertia)[0] >= 0.0
    found.attached_to(robot)


def test_a_slow_motion_gives_no_inertia_and_reports_it(robot):
    raw = moved(None, seconds=4.0)
    exact = prepare(robot, raw, CUTOFF, 2.0, False).recording
    slow = exact._replace(v=0.0 * exact.v, a=0.0 * exact.a)
    loaded = robot.with_payload('load', 'tool0', **LOAD)
    slow = slow._replace(tau=loaded.inverse_dynamics(slow.q, slow.v, slow.a))
    found = identify_payload(robot, slow, 'tool0')
    assert_found(found, mass=1e-6, centre=1e-6)
    assert found.inertia is None and found.covariance.shape == (4, 4)
    assert 'too slow' in ' '.join(found.warnings)


# From poses ---------------------------------------------------------------------------------------

def test_poses_from_both_sides_give_mass_and_centre(robot):
    """Friction of up to 0.9 N m cancels."""
    found = identify_payload(robot, static(LOAD, poses(), friction=FRICTION), 'tool0')
    assert_found(found, mass=0.002, centre=0.001)
    assert found.inertia is None and list(found.sigma) == ['mass', 'cx', 'cy', 'cz']
    assert found.warnings == ()


@pytest.mark.parametrize('seed', range(4))
def test_without_approach_friction_is_in_the_error_and_in_sigma(robot, seed):
    found = identify_payload(robot, static(LOAD, poses(), seed, both_sides=False,
                                           friction=FRICTION), 'tool0')
    error = np.array([found.mass - LOAD['mass'], *(found.com - LOAD['com'])])
    assert (np.abs(error) < 3.0 * np.array(list(found.sigma.values()))).all()
    assert found.sigma['mass'] > 0.005
    assert 'approach each pose from both sides' in ' '.join(found.warnings)


def test_offsets_of_the_torque_sensors_cancel_with_unloaded_poses(robot):
    offset = np.array([0.5, -0.4, 0.3, 0.6, -0.5, 0.4, 0.3])
    both = [static(load, poses(seed=seed), seed, friction=FRICTION, offset=offset)
            for load, seed in ((LOAD, 3), (None, 4))]
    assert_found(identify_payload(robot, *both[:1], 'tool0', unloaded=both[1]))
    with pytest.raises(AssertionError):
        assert_found(identify_payload(robot, both[0], 'tool0'))


def test_the_payload_can_be_attached(robot):
    found = identify_payload(robot, static(LOAD, poses()), 'tool0')
    loaded = found.attached_to(robot, 'box')
    assert loaded.payloads['box'].frame == 'tool0'
    assert loaded.total_mass == pytest.approx(robot.total_mass + LOAD['mass'], rel=0.001)


# Refusals -----------------------------------------------------------------------------------------

def upright(n=6):
    """Return poses that differ in the first joint alone, which is vertical."""
    rows = np.tile(MIDDLE, (n, 1))
    rows[:, 0] = np.linspace(-1.0, 1.0, n)
    return rows


def changed(poses, **changes):
    return poses._replace(**changes)


@pytest.mark.parametrize(('make', 'message'), [
    (lambda: static(LOAD, upright()), 'gravity always has the same direction.*Turn the wrist'),
    (lambda: static(LOAD, poses(2), both_sides=False), '2 poses are too few; record 3 or more'),
    (lambda: static(None, poses(), friction=FRICTION), 'is not different from zero|would weigh'),
    (lambda: static({**LOAD, 'mass': 0.0001, 'inertia': None}, poses()), 'not different from zero'),
    (lambda: changed(static(LOAD, poses()), joint_names=tuple('abcdefg')), "'joint_1'"),
    (lambda: changed(static(LOAD, poses()), tau=np.full((16, 7), np.nan)), 'tau of the poses'),
    (lambda: changed(static(LOAD, poses()), tau=np.zeros((15, 7))), r'expected \(16, 7\)'),
    (lambda: moved(LOAD, seconds=1.0), '2 s of motion'),
    (lambda: [1, 2, 3], 'recording is list; expected'),
], ids=['same way', 'few', 'no load', 'tiny', 'names', 'nan', 'shape', 'short', 'kind'])
def test_bad_data_is_refused_with_a_reason(robot, make, message):
    with pytest.raises(DynamicsError, match=message):
        identify_payload(robot, make(), 'tool0')


def test_a_payload_that_the_model_has_already_is_reported(robot):
    loaded = robot.with_payload('load', 'tool0', **{**LOAD, 'mass': 3.0})
    with pytest.raises(DynamicsError, match='torques are smaller than without it'):
        identify_payload(loaded, static(LOAD, poses()), 'tool0')


def test_wrong_units_are_reported(robot):
    raw = moved(LOAD, seconds=4.0)
    milli = raw_recording(raw.joint_names, raw.time, raw.q, 1000.0 * raw.tau, raw.v)
    with pytest.raises(DynamicsError, match='mN m'):
        identify_payload(robot, milli, 'tool0')


@pytest.mark.parametrize(('frame', 'message'), [
    ('base_link', 'does not move'), ('hand', "no frame 'hand'")])
def test_a_frame_on_the_fixed_base_is_refused(robot, frame, message):
    with pytest.raises(DynamicsError, match=message):
        identify_payload(robot, static(LOAD, poses()), frame)


def test_poses_and_motions_cannot_be_combined(robot):
    with pytest.raises(DynamicsError, match='unloaded must be of the kind'):
        identify_payload(robot, static(LOAD, poses()), 'tool0', unloaded=moved(None, seconds=3.0))


def test_poses_may_name_joints_in_any_order(robot):
    straight, order = static(LOAD, poses()), [3, 0, 6, 1, 5, 2, 4]
    mixed = StaticPoses(tuple(straight.joint_names[k] for k in order), straight.q[:, order],
                        straight.tau[:, order], straight.approach[:, order])
    a, b = (identify_payload(robot, each, 'tool0') for each in (straight, mixed))
    np.testing.assert_array_equal(a.com, b.com)
