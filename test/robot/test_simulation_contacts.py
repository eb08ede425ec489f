"""Test contacts of Robot.simulate: batches, continued motions, methods, loops, bad input."""

import numpy as np
import pytest
from support.rigid_robots import body, still

from dynamics_node import DynamicsError, RigidContact, Robot, SoftContact
from dynamics_node.example_robots import MECHANISMS

NONE = np.zeros(6)
SOFT = [SoftContact('heel', 'body', 3000.0, 30.0, 0.3, (-0.1, 0.0, -0.1)),
        SoftContact('toe', 'body', 3000.0, 30.0, 0.3, (0.1, 0.0, -0.1))]
RIGID = [RigidContact('heel', 'body', point=(-0.1, 0.0, -0.1), friction=0),
         RigidContact('toe', 'body', point=(0.1, 0.0, -0.1), friction=0)]
THROWN = np.array([0.5, 0.0, -0.5, 0.0, 0.3, 0.0])


@pytest.fixture(scope='module')
def block():
    return body(mass=2.0, inertia=(0.02, 0.02, 0.02))


def test_a_batch_is_its_states(block):
    """One in the air, one that slides."""
    q = np.stack([still(0.3), still(0.1)])
    both = block.simulate(q, THROWN, NONE, [0.0, 0.02, 0.04], step=0.004, contacts=SOFT)
    assert both.contact_force.shape == both.touch.shape == (2, 3, 2, 3)
    for k in range(2):
        one = block.simulate(q[k], THROWN, NONE, [0.0, 0.02, 0.04], step=0.004, contacts=SOFT)
        for field in ('q', 'v', 'contact_force', 'touch'):
            np.testing.assert_allclose(getattr(both, field)[k], getattr(one, field), atol=1e-10)
    assert np.isnan(both.touch[0]).all() and np.isfinite(both.touch[1, -1]).any()


@pytest.mark.parametrize('contacts', [SOFT, RIGID], ids=['soft', 'rigid'])
def test_a_motion_can_be_continued(block, contacts):
    """Half and half with the touch points is the whole; for rigid contacts the state is enough."""
    def simulated(q, v, time, touch=None):
        return block.simulate(q, v, NONE, time, step=0.004, contacts=contacts, touch=touch)
    whole = simulated(still(0.1), THROWN, [0.0, 0.024, 0.04])
    half = simulated(still(0.1), THROWN, [0.0, 0.024])
    again = simulated(half.q[-1], half.v[-1], [0.024, 0.04],
                      half.touch[-1] if contacts is SOFT else None)
    np.testing.assert_allclose(again.q[-1], whole.q[-1], atol=1e-9)
    np.testing.assert_allclose(again.contact_force[-1], whole.contact_force[-1], atol=1e-5)
    assert np.abs(whole.contact_force[1:]).max() > 1.0


@pytest.mark.parametrize('contacts', [SOFT, RIGID], ids=['soft', 'rigid'])
def test_the_methods_agree(block, contacts):
    """Soft contacts that touch from the start, so that no step of rk4 crosses the surface."""
    height = 0.09 if contacts is SOFT else 0.101
    fixed, adaptive = (block.simulate(still(height), THROWN, NONE, [0.0, 0.02], step=0.001,
                                      contacts=contacts, method=method)
                       for method in ('rk4', 'dop853'))
    np.testing.assert_allclose(fixed.q, adaptive.q, atol=1e-6)
    np.testing.assert_allclose(fixed.v, adaptive.v, atol=1e-4)


def test_wrenches_of_the_caller_are_added(block):
    """A push on the link of the contacts, with them and with a constant weight."""
    lifted = {'body': (0.0, 0.0, 2.0 * 9.81 / 2, 0.0, 0.0, 0.0)}
    low = still(0.1 - 2.0 * 9.81 / 6000.0)
    motion = block.simulate(low, NONE, NONE, [0.0, 0.002], step=0.002, contacts=SOFT,
                            wrenches=lifted)
    assert motion.v[-1, 2] == pytest.approx(9.81 / 2 * 0.002, rel=0.05)  # less c v


def test_loops_stay_closed_in_an_impact():
    """A coupler falls on the ground half way; the pin holds, and the crank stops."""
    mechanism = MECHANISMS['four_bar']
    robot = Robot.from_urdf(mechanism.urdf, loops=mechanism.loops)
    q = robot.project_configuration([1.0, 0.0, 0.0], fixed=['crank_joint'])
    start, time = (q, np.zeros(3), np.zeros(3)), np.linspace(0.0, 0.2, 6)
    path = robot.frame_pose(robot.simulate(*start, time, step=0.01).q, 'coupler')[:, 2, 3]
    tip = [RigidContact('tip', 'coupler', friction=0, height=float(path[[0, -1]].mean()))]
    motion = robot.simulate(*start, time, step=0.01, contacts=tip)
    assert path[-1] < path[0]
    assert np.isnan(motion.touch[0]).all() and np.isfinite(motion.touch[-1]).all()
    assert np.abs(robot.constraint_rows(motion.q, motion.v).residual).max() < 1e-6
    # the stabilisation, 20 /s, still removes what steps of 10 ms let the loop drift: 1e-6
    assert np.abs(motion.v[-1]).max() < 1e-4


@pytest.mark.parametrize(('settings', 'words'), [
    ({'contacts': 3}, 'contacts is 3'), ({'contacts': [3]}, 'SoftContact or RigidContact'),
    ({'contacts': [SOFT[0], RIGID[0]]}, 'some are soft and some rigid'),
    ({'contacts': [SoftContact('a', 'nowhere', 1.0)]}, 'nowhere'),
    ({'contacts': [RigidContact('a', 'nowhere')]}, 'nowhere'),
    ({'contacts': [RIGID[0], RIGID[0]]}, "called 'heel'"),
    ({'contacts': RIGID, 'q': np.stack([still(1.0)] * 2)}, 'rigid contacts take one state'),
    ({'contacts': RIGID, 'q': still(0.05)}, "'heel' is 0.05 m below the ground"),
    ({'contacts': RIGID, 'row_motion': lambda t: None}, 'row_motion'),
    ({'contacts': RIGID, 'touch': np.zeros((2, 3))}, 'touch'), ({'touch': np.zeros(3)}, 'touch'),
    ({'contacts': SOFT, 'touch': np.zeros(3)}, 'touch must have'),
    ({'contacts': SOFT, 'wrenches': {'nowhere': NONE}}, 'nowhere'),
    ({'contacts': SOFT, 'step': 0.5}, 'step is 0.5 s'),
    ({'contacts': SOFT, 'step': 1e-12, 'method': 'radau'}, 'step is 1e-12'),
])
def test_bad_input_is_refused_by_name(block, settings, words):
    given = {'q': still(1.0), 'v': NONE, 'torque': NONE, 'time': [0.0, 0.01], **settings}
    with pytest.raises(DynamicsError) as refusal:
        block.simulate(**given)
    assert words in str(refusal.value)
