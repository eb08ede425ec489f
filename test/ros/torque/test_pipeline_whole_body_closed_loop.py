"""Test the real node in mode whole_body in lockstep with MuJoCo: Solo12 takes a step."""

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='the robot is simulated by mujoco (requirements/test.txt)')

pytestmark = [pytest.mark.long, pytest.mark.usefixtures('forked_loops')]

RATE, PACE = 100.0, 2.0   # [Hz]; twice as fast as the demo, in NumPy: kernels take a minute


def test_solo12_stands_leans_lifts_a_foot_and_places_it(ros_environment, tmp_path):
    """All limits of the demo are met, and they detect a robot that does not do it."""
    from foot_step import CONTACTS, HIGH, LIFTED, TORQUE, solo12, step_bars, take_step
    from standing_loop import StandingLoop
    with StandingLoop(tmp_path, solo12(), CONTACTS, RATE, TORQUE, {'compile': 'false'}) as loop:
        run = take_step(loop, RATE, PACE)
    assert [bar for bar in step_bars(run) if not bar.met] == []
    assert np.ptp(run.feet[:, LIFTED, 2]) > 0.9 * HIGH
    still = run._replace(feet=np.broadcast_to(run.feet[0], run.feet.shape),
                         com=np.broadcast_to(run.com[0], run.com.shape))
    assert {bar.name for bar in step_bars(still) if not bar.met} == {
        'centre of mass off, leaning', 'foot below its height, lifted',
        'foot placed beside its place'}
