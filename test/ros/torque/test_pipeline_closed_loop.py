"""Test the real node in lockstep with MuJoCo: the simulated arm follows its torques."""

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='the arm is simulated by mujoco (requirements/test.txt)')

pytestmark = [pytest.mark.long, pytest.mark.usefixtures('kernels', 'forked_loops')]

POSES = 5
HOLD = 1.0                # [s] with 2 % less torque an arm falls by FALLEN
MAX_DRIFT = 1e-6          # [rad] it grows by rounding alone, up to 4e-9 in 5 s
FALLEN = 1e-2             # [rad]
BETTER = 20.0             # times less RMS error than the same PD alone
# Known, a load costs no more than what it takes to notice it: the slew limit, for some 10 ms.
AS_GOOD = 1.5             # times the RMS error without any load
LEAD = 0.8                # [s] from enable to the motion
OUT, BACK = 1.6, 2.7      # [s] the motion, up to 3/4 of the speed limits; load in between
LOAD = 'tool0', 1.5       # [kg]
ROTORS = {f'armature.joint_{k}': x for k, x in enumerate((0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1), 1)}
GAINS = {'torque.gains': 'kp_kd', 'torque.kp.default': 225.0, 'torque.kd.default': 30.0}
PD = {**GAINS, 'torque.mode': 'impedance', 'torque.gravity_scale.default': 0.0,
      'torque.friction_scale.default': 0.0}
COMPUTED = {**GAINS, 'torque.mode': 'computed_torque', 'torque.gravity_scale.default': 1.0,
            'torque.friction_scale.default': 1.0}


@pytest.fixture
def free_arm(ros_environment, tmp_path):
    """A loop whose arm has no friction at all: nothing but its torque holds it."""
    from closed_loop import ClosedLoop
    with ClosedLoop(tmp_path, rate=100.0, arm={'damping': 'false', 'dry_friction': 'false'},
                    node={'friction': 'false'}) as loop:
        yield loop


@pytest.fixture(scope='module')
def tracked(ros_environment, tmp_path_factory):
    """Return a function of (parameters, load: None, 'known' or 'unknown') -> RMS error [rad]."""
    from closed_loop import ClosedLoop
    from fast_motion import fast_motion
    motion, known = fast_motion(OUT, BACK), {}
    with ClosedLoop(tmp_path_factory.mktemp('loop'), rate=125.0, arm=ROTORS,
                    node={**ROTORS, 'safety.ramp_in_time': 0.5}) as loop:
        def track(parameters, load=None):
            key = parameters['torque.mode'], load
            if key not in known:
                known[key] = _rms(loop, motion, parameters, load)
            return known[key]
        yield track


def _rms(loop, motion, parameters, load):
    loop.place(motion.positions[0])
    loop.enable(parameters)
    loop.follow(motion, start=LEAD)
    loop.run(LEAD + OUT)
    if load:
        loop.attach(*LOAD, known=load == 'known')
    run = loop.run(BACK)
    moving = run.t >= LEAD
    error = run.q[moving] - motion.at(run.t[moving] - LEAD).q
    return float(np.sqrt(np.mean(error ** 2)))


def test_gravity_compensation_holds_an_arm_without_friction_at_five_random_poses(free_arm):
    """With 2 % less torque it falls."""
    from dynamics_node import Robot
    from dynamics_node.example_robots import ARM7
    robot, rng = Robot.from_urdf(ARM7), np.random.default_rng(5)
    for _ in range(POSES):
        q = 0.8 * robot.random_configuration(rng)   # not where a limit takes the torque away
        free_arm.place(q)
        free_arm.enable({'torque.mode': 'gravity'})
        run = free_arm.run(HOLD)
        assert run.t[-1] >= HOLD - 0.011
        assert np.abs(run.torque).max() > 1.0   # it has something to hold
        assert np.abs(run.q - q).max() < MAX_DRIFT
    q = np.array([0.0, 0.8, 0.0, -0.8, 0.0, 0.5, 0.0])
    free_arm.place(q)
    free_arm.enable({'torque.mode': 'gravity', 'torque.gravity_scale.default': 0.98})
    assert np.abs(free_arm.run(HOLD).q - q).max() > FALLEN


def test_computed_torque_tracks_twenty_times_better_than_the_same_pd_alone(tracked):
    assert tracked(COMPUTED) * BETTER < tracked(PD)


def test_a_known_payload_costs_less_accuracy_than_an_unknown_one(tracked):
    assert tracked(COMPUTED, 'known') < AS_GOOD * tracked(COMPUTED)
    assert tracked(COMPUTED, 'unknown') > BETTER * tracked(COMPUTED, 'known')


def test_the_same_run_gives_the_same_error_again(tracked):
    first = tracked(COMPUTED)
    again = tracked({**COMPUTED, 'torque.mode': 'computed_torque'}, '')
    assert again == pytest.approx(first, rel=1e-9)
