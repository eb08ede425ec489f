"""Test the instrument of benchmark/torque_events.py: what it measures obeys physics."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='the arm is simulated by mujoco (requirements/test.txt)')

BENCHMARK = Path(__file__).resolve().parent.parent / 'benchmark'
SHORT = 0.02        # [s]: the pose has hardly changed, so that the acceleration is constant
ALMOST_CONSTANT = 0.01
INTEGRATION = 1e-6   # of energies [J], by RK4 steps of 1 ms
EULER = 2e-3         # of distances, by steps of 0.2 ms
ONE_JOINT = """
<robot name="turntable"><link name="base"/><link name="disc"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="disc"/>
  <axis xyz="0 0 1"/><limit effort="10" velocity="10"/></joint></robot>"""
INERTIA, SPEED, EFFORT = 0.5, 2.0, np.array([4.0])   # [kg m^2, rad/s, N m]


@pytest.fixture
def bench(monkeypatch, kernels):
    """Return the Bench of the bundled arm, with kernels as in `make bench`."""
    monkeypatch.syspath_prepend(BENCHMARK)
    import torque_events
    return torque_events.Bench(torque_events.subjects()['arm7'], compiled=True)


@pytest.fixture
def released(bench):
    """Return a Rig at rest without a torque process, whose driver times out at once."""
    from event_rig import Rig
    rig = Rig(bench.subject, timeout=0.0, compiled=True)
    rig.kill()
    rig.arm.release()
    rig.mark()
    return rig


def test_an_arm_without_torque_falls_as_its_equation_of_motion_says(bench, released):
    start, rest = bench.subject.pose, np.zeros(7)
    released.run(SHORT)
    fall = released.trace().q[-1] - start
    a = bench.robot.forward_dynamics(start, rest, rest)
    assert np.abs(a).max() > 1.0
    np.testing.assert_allclose(fall, 0.5 * a * SHORT ** 2,
                               atol=ALMOST_CONSTANT * np.abs(fall).max())


def test_nothing_takes_energy_from_a_falling_arm(released):
    """No friction, no end stops: what is measured is the worst case."""
    before = released.arm.energy
    released.run(0.5)
    assert np.abs(released.trace().v).max() > 3.0
    assert released.arm.energy == pytest.approx(before, abs=INTEGRATION)


def test_after_a_killed_process_the_arm_is_held_until_the_driver_times_out(bench):
    """Then it falls as MuJoCo's arm does by itself; the other driver holds it."""
    from arm import SimulatedArm
    from event_list import REST, processes
    kill = next(event for event in processes() if event.name.endswith('and the watchdog'))
    holds, times_out = bench.measure(kill, REST)
    arm = SimulatedArm(bench.subject.text, damping=False, dry_friction=False, stops=False)
    arm.set(bench.subject.pose)
    path = []
    # The last torque came 2 ms before the event; the window is 1 s, the timeout 100 ms.
    for _ in range(1000 - (101 - 2)):
        arm.step(np.zeros(7))
        path.append(arm.q)
    fall = 1e3 * np.abs(np.array(path) - bench.subject.pose).max()
    assert (holds.driver, times_out.driver) == ('holds', 'times out')
    assert holds.joint < 1e-3
    assert times_out.joint == pytest.approx(fall, rel=1e-6)
    assert times_out.state == 'no process'


@pytest.fixture
def turntable():
    """Return a disc on a vertical axis: constant inertia, no gravity."""
    from dynamics_node import Robot
    return Robot.from_urdf(ONE_JOINT.format(inertia=INERTIA), compile=False)


def test_the_shortest_stop_within_the_effort_limit_is_that_of_constant_deceleration(
        turntable, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARK)
    from braking import shortest_stop
    stop = shortest_stop(turntable, [0.0], [SPEED], EFFORT)
    assert stop.stops
    assert stop.distance[0] == pytest.approx(SPEED ** 2 * INERTIA / (2.0 * EFFORT[0]), rel=EULER)


def test_the_shortest_stop_within_the_slew_limit_ramps_the_torque_up_and_down(
        turntable, monkeypatch):
    """Two equal ramps of 1 / sqrt(j) each, j = slew / (inertia speed): distance v / sqrt(j)."""
    monkeypatch.syspath_prepend(BENCHMARK)
    from braking import shortest_stop
    slew = np.array([10.0])
    rate = slew[0] / (INERTIA * SPEED)
    assert INERTIA * SPEED * np.sqrt(rate) < EFFORT[0]   # the effort limit is not reached
    stop = shortest_stop(turntable, [0.0], [SPEED], EFFORT, slew)
    assert stop.distance[0] == pytest.approx(SPEED / np.sqrt(rate), rel=5.0 * EULER)


def test_a_pause_of_100_ms_at_half_speed_moves_the_arm_by_less_than_5_mrad(bench):
    """The state is predicted meanwhile."""
    from event_list import HALF, events
    pause = next(event for event in events() if event.name == 'no joint states for 100 ms, 500 Hz')
    row, = bench.measure(pause, HALF)
    assert row.state == 'enabled' and 0.0 < row.joint < 5.0


def test_a_pause_of_500_ms_at_half_speed_brakes_the_arm_by_the_model(bench):
    from event_list import HALF, events
    pause = next(event for event in events() if event.name == 'no joint states for 500 ms, 500 Hz')
    row, = bench.measure(pause, HALF)
    assert row.state == 'fault' and row.joint < 300.0 and row.speed < 1.2


def test_the_watchdog_brakes_an_arm_whose_torque_process_was_killed(bench):
    from event_list import HALF, processes
    kill = next(event for event in processes() if event.name == 'SIGKILL of the torque process')
    row, = bench.measure(kill, HALF)
    assert row.tool < 50.0 and row.speed < 2.0   # without it: 1358 mm, 23 times the limit
