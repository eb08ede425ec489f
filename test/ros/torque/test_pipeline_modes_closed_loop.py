"""Test changes of the mode in lockstep with MuJoCo: the simulated arm follows its torques."""

import numpy as np
import pytest

pytest.importorskip('mujoco', reason='the arm is simulated by mujoco (requirements/test.txt)')

pytestmark = [pytest.mark.long, pytest.mark.usefixtures('forked_loops')]

LEAD = 0.8                # [s] from enable to the motion
OUT, BACK = 1.6, 2.7      # [s] the motion, up to 3/4 of the speed limits
FOLLOWED = 0.02           # [rad] greatest error at changes of mode; 0.008 was measured
SMOOTH = 0.5              # of the slew limit, likewise; 0.22 was measured
ROTORS = {f'armature.joint_{k}': x for k, x in enumerate((0.3, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1), 1)}
COMPUTED = {'torque.gains': 'kp_kd', 'torque.kp.default': 225.0, 'torque.kd.default': 30.0,
            'torque.mode': 'computed_torque', 'torque.gravity_scale.default': 1.0,
            'torque.friction_scale.default': 1.0}


def test_modes_change_while_the_arm_moves(ros_environment, tmp_path):
    """The arm follows on in the joint modes; the others bring it to rest; no torque jumps."""
    from closed_loop import ClosedLoop
    from fast_motion import fast_motion

    from dynamics_node import Robot
    from dynamics_node.example_robots import ARM7
    from dynamics_node.safety import SafetySettings
    motion, rate = fast_motion(2.5 * OUT, 2.5 * BACK), 250.0
    effort = np.array([joint.max_effort for joint in Robot.from_urdf(ARM7).model.joints])
    with ClosedLoop(tmp_path, rate=rate, arm=ROTORS,
                    node={**ROTORS, 'safety.ramp_in_time': 0.5}) as loop:
        loop.place(motion.positions[0])
        loop.enable({**COMPUTED, 'torque.task_frame': 'tool0'})
        loop.follow(motion, start=LEAD)
        loop.run(LEAD + 1.0)
        for mode in ('impedance_with_bias', 'computed_torque', 'impedance'):
            loop.change({'torque.mode': mode})
            run = loop.run(0.5)
            late = run.t > run.t[-1] - 0.5
            error = np.abs(run.q[late] - motion.at(run.t[late] - LEAD).q)
            assert error.max() < FOLLOWED, mode
        for mode in ('gravity', 'task_space', 'computed_torque'):
            loop.change({'torque.mode': mode})
            run = loop.run(0.5)
    slew = np.abs(np.diff(run.torque, axis=0)) * rate / (effort / SafetySettings().slew_time)
    assert slew.max() < SMOOTH
    assert np.abs(np.diff(run.q[-10:], axis=0)).max() * rate < 1e-3
