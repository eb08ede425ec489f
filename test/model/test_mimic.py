"""Test mimic joints: no degree of freedom of their own, in chains and with locked leaders."""

import numpy as np
import pytest
from support.real_robots import ROBOTS, Coupled
from support.tolerances import EXACT_MATHS, SOLVED
from support.urdf_pieces import LIMIT, joint, link, mimic, robot

from dynamics_node import Robot, Target
from dynamics_node.model.mimic import resolve_mimic
from dynamics_node.model.read_urdf import read_urdf

WITH_MIMICS = ('panda', 'baxter', 'tiago_pro', 'pr2', 'talos_grippers')  # of ROBOTS
LINKS = [link(name, 1.0 + 0.3 * i) for i, name in enumerate(('base', 'a', 'b', 'c', 'd'))]


def robots(**inside):
    """Return the robot with these joints a, b, c, d in a row, and the same with all of them free.

    Each joint carries the link of its name; 'c' slides, the others turn.
    """
    def text(elements):
        return robot(*LINKS, *(joint(name, parent, name, kind, elements.get(name, free[name]))
                               for name, parent, kind in zip('abcd', ('base', *'abc'), kinds)))
    kinds = ('revolute', 'continuous', 'prismatic', 'revolute')
    free = {name: f'{LIMIT}<axis xyz="0 1 0"/>' for name in 'abcd'}
    return text(inside), Robot.from_urdf(text({}))


def followers(text, **locked):
    """Return the result of resolve_mimic for a URDF, and the locked positions."""
    locked = {name: np.array(value, ndmin=1, dtype=float) for name, value in locked.items()}
    return resolve_mimic(read_urdf(text).joints, locked), {
        name: float(value[0]) for name, value in locked.items() if len(value)}


def test_chain_is_folded_into_its_free_joint():
    """q_d = 2 (-3 (0.5 q_a + 1) + 10) + 100 = -3 q_a + 114."""
    text, _ = robots(b=mimic('a', 0.5, 1), c=mimic('b', -3, 10), d=mimic('c', 2, 100))
    follows, locked = followers(text)
    assert follows == {'b': ('a', 0.5, 1.0), 'c': ('a', -1.5, 7.0), 'd': ('a', -3.0, 114.0)}
    assert locked == {}
    assert Robot.from_urdf(text).model.joints[0].mimics == ('b', 'c', 'd')


def test_a_leader_may_be_declared_after_its_follower():
    """The order of the result is that of the joints."""
    text, _ = robots(a=mimic('b', 2), b=mimic('d', 3))
    assert followers(text)[0] == {'a': ('d', 6.0, 0.0), 'b': ('d', 3.0, 0.0)}
    assert Robot.from_urdf(text).joint_names == ('c', 'd')


def test_a_follower_of_a_locked_joint_is_locked():
    """Through a chain: at multiplier * position + offset."""
    text, _ = robots(b=mimic('a', 2, 1), c=mimic('b', -1, 0.5), d=mimic('c'))
    assert followers(text, a=3.0) == ({}, {'a': 3.0, 'b': 7.0, 'c': -6.5, 'd': -6.5})


def test_a_locked_follower_leads_its_own_followers():
    """A locked joint no longer follows; its followers stay with it."""
    text, _ = robots(b=mimic('a', 2, 1), c=mimic('b', -1, 0.5))
    assert followers(text, b=4.0) == ({}, {'b': 4.0, 'c': -3.5})


def test_a_follower_of_a_fixed_joint_is_locked_at_its_offset():
    """A fixed joint is at zero."""
    text, _ = robots(b=mimic('a', 2, 0.7))
    fixed = text.replace('"a" type="revolute"', '"a" type="fixed"')
    made = Robot.from_urdf(fixed)
    assert made.joint_names == ('c', 'd')
    turned = Robot.from_urdf(text, locked={'a': 0.0})
    np.testing.assert_allclose(made.frame_pose([0.1, 0.2], 'd'),
                               turned.frame_pose([0.1, 0.2], 'd'), atol=EXACT_MATHS)


def test_a_ring_of_mimics_is_valid_with_a_locked_joint():
    """Two joints that follow each other are an error only while neither is locked."""
    text, _ = robots(a=mimic('b', 2), b=mimic('a', 3))
    assert Robot.from_urdf(text, locked={'a': 0.5}).joint_names == ('c', 'd')


@pytest.fixture(params=[
    {'b': mimic('a', 0.5, 1)},
    {'c': mimic('a', -0.3, 0.1), 'd': mimic('c', 2, 0.2)},
    {'a': mimic('d', -2, 0.5), 'b': mimic('a', 0.25, -0.5)},
    {'b': mimic('a', 0.0, 0.4)},
], ids=['pair', 'chain', 'backwards', 'standstill'])
def coupled(request):
    """Return a robot with mimic joints, the free one, and G, o with q_free = G q + o."""
    text, free = robots(**request.param)
    made = Robot.from_urdf(text)
    follows, _ = followers(text)
    G, offset = np.zeros((4, made.nv)), np.zeros(4)
    for row, name in enumerate(free.joint_names):
        master, ratio, shift = follows.get(name, (name, 1.0, 0.0))
        G[row, made.joint_names.index(master)], offset[row] = ratio, shift
    return made, free, G, offset


def test_dynamics_is_that_of_the_free_robot_seen_through_the_coupling(coupled):
    """Virtual work: tau = G' tau_free, M = G' M_free G, and every frame is where it would be."""
    made, free, G, offset = coupled
    q, v, a = np.random.default_rng(4).normal(size=(3, made.nv))
    q_free = G @ q + offset
    np.testing.assert_allclose(made.frame_pose(q, 'd'), free.frame_pose(q_free, 'd'),
                               atol=EXACT_MATHS)
    tau = made.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(tau, G.T @ free.inverse_dynamics(q_free, G @ v, G @ a),
                               rtol=EXACT_MATHS, atol=EXACT_MATHS)
    np.testing.assert_allclose(made.mass_matrix(q), G.T @ free.mass_matrix(q_free) @ G,
                               rtol=EXACT_MATHS, atol=EXACT_MATHS)
    np.testing.assert_allclose(made.forward_dynamics(q, v, tau), a, rtol=SOLVED, atol=SOLVED)


def test_friction_of_a_follower_acts_on_its_leader():
    """Power is kept: ratio^2 times damping and armature, |ratio| times dry friction."""
    text, _ = robots(b=mimic('a', -3) + '<dynamics damping="2" friction="5"/>')
    model = Robot.from_urdf(text, armature={'a': 0.5, 'b': 0.25}).model
    assert (model.damping[0], model.friction[0], model.armature[0]) == (18.0, 15.0, 2.75)


def test_a_long_chain_of_followers_is_resolved_in_linear_time():
    """Each joint is resolved once."""
    n = 5000
    text = robot(*(f'<link name="{i}"/>' for i in range(n + 1)),
                 *(joint(f'j{i}', i, i + 1, inside=mimic(f'j{i + 1}', -1, 1) if i < n - 1 else '')
                   for i in range(n)))
    follows, _ = followers(text)
    assert len(follows) == n - 1
    assert follows['j0'] == (f'j{n - 1}', -1.0, 1.0)


def limited(lower, upper, velocity=3.0, like=''):
    """Return the elements inside a joint with these limits; like: its <mimic>."""
    return (f'<limit lower="{lower}" upper="{upper}" effort="10" velocity="{velocity}"/>'
            f'<axis xyz="0 1 0"/>{like}')


def like(master, multiplier, offset=0.0):
    """Return <mimic>."""
    return f'<mimic joint="{master}" multiplier="{multiplier}" offset="{offset}"/>'


def limits_of(**inside):
    """Return (lower, upper, max_velocity) of joint a of `robots`, and its warnings."""
    model = Robot.from_urdf(robots(**inside)[0]).model
    first = model.joints[0]
    assert first.name == 'a'
    return (first.lower, first.upper, first.max_velocity), [
        text for text in model.warnings if 'mimics' in text and 'limits' in text]


@pytest.mark.parametrize('inside, expected', [
    ({'d': limited(-0.5, 1.0, 6.0, like('a', 2, 0.5))}, (-0.5, 0.25, 3.0)),
    ({'d': limited(-0.5, 1.0, 3.0, like('a', -2, 0.5))}, (-0.25, 0.5, 1.5)),
    ({'d': limited(-9.0, 9.0, 9.0, like('a', 1))}, (-2.0, 2.0, 3.0)),
    ({'d': limited(-9.0, 0.5, 0.0, like('a', 1))}, (-2.0, 0.5, 3.0)),   # velocity 0 is unknown
    ({'d': limited(0.0, 0.0, 3.0, like('a', 1))}, (-2.0, 2.0, 3.0)),
    ({'d': limited(-0.5, 1.0, 0.1, like('a', 0, 0.5))}, (-2.0, 2.0, 3.0)),
    # the follower of a follower: q_d = -2 (0.5 q_a + 1) + 3 = 1 - q_a
    ({'c': limited(-9.0, 9.0, 9.0, like('a', 0.5, 1)),
      'd': limited(0.0, 1.5, 9.0, like('c', -2, 3))}, (-0.5, 1.0, 3.0)),
    # two followers, each with one end
    ({'c': limited(-0.5, 9.0, 9.0, like('a', 1)),
      'd': limited(-0.25, 9.0, 9.0, like('a', -1))}, (-0.5, 0.25, 3.0)),
])
def test_limits_of_followers_narrow_those_of_their_master(inside, expected):
    """By hand: lower <= ratio q + offset <= upper, |ratio v| <= velocity."""
    limits, warnings = limits_of(a=limited(-2.0, 2.0), **inside)
    assert np.allclose(limits, expected, rtol=EXACT_MATHS, atol=0.0)
    assert not [text for text in warnings if 'ignored' in text]
    assert bool(warnings) == (expected[:2] != (-2.0, 2.0))


def test_a_narrowed_master_is_named_with_both_limits():
    _, warnings = limits_of(a=limited(-2.0, 2.0), d=limited(-0.5, 1.0, 6.0, like('a', 2, 0.5)))
    assert warnings == ["joint 'd' mimics 'a', whose limits [-2, 2] are narrowed to [-0.5, 0.25] "
                        "by those of 'd'"]


@pytest.mark.parametrize(('own', 'follower', 'ratio', 'offset'), [
    ((-0.1, 0.1), (-0.3, 0.3), 3.0, 0.0),     # 0.3 / 3 is below 0.1 by rounding
    ((0.0, 0.2), (0.1 + 0.2, 9.0), 1.0, 0.3),   # above 0 by 6e-17
    ((-0.1, 0.1), (-0.1 + 5e-11, 0.1), 1.0, 0.0)])
def test_rounding_narrows_no_limit(own, follower, ratio, offset):
    limits, warnings = limits_of(a=limited(*own),
                                 d=limited(*follower, 9.0, like('a', ratio, offset)))
    assert limits == (*own, 3.0)
    assert warnings == []


@pytest.mark.parametrize('multiplier', [1.0, 0.0, 1.5])
def test_limits_that_leave_no_motion_are_ignored_with_a_warning(multiplier):
    """The follower may be at 3 to 4, its master at +-2: never, never, and at 2 alone."""
    limits, warnings = limits_of(a=limited(-2.0, 2.0),
                                 d=limited(3.0, 4.0, 9.0, like('a', multiplier)))
    assert limits == (-2.0, 2.0, 3.0)
    assert len(warnings) == 1
    assert "limits [3, 4] of joint 'd' are ignored: they leave 'a'" in warnings[0]


@pytest.mark.parametrize('lower', [0.0, 3.0])   # within the limits of the follower, or not
def test_a_master_that_may_not_move_keeps_its_limits(lower):
    limits, warnings = limits_of(a=limited(1.0, 1.0), d=limited(lower, 4.0, 9.0, like('a', 2.0)))
    assert limits == (1.0, 1.0, 3.0)
    assert warnings == []


def test_a_continuous_master_of_a_limited_follower_is_revolute():
    """Its position is then limited, and not wrapped."""
    text, _ = robots(d=limited(-0.5, 1.0, 3.0, like('b', 0.5)))
    model = Robot.from_urdf(text).model
    assert (model.joint('b').kind, model.joint('b').lower, model.joint('b').upper) == (
        'revolute', -1.0, 2.0)
    assert Robot.from_urdf(Robot.from_urdf(text).to_urdf()).model.joint('b').upper == 2.0


@pytest.mark.parametrize(('lower', 'upper', 'kind', 'limits'), [
    (-1e16, 1e16, 'continuous', (-np.inf, np.inf)), (-499.0, 499.0, 'revolute', (-998.0, 998.0)),
    (-501.0, 501.0, 'continuous', (-np.inf, np.inf)), (0.0, 1e16, 'revolute', (0.0, 2e16))])
def test_a_continuous_master_of_a_wheel_stays_continuous(lower, upper, kind, limits):
    """Limits that are far on both sides are none; the ratio is 0.5."""
    model = Robot.from_urdf(robots(d=limited(lower, upper, 3.0, like('b', 0.5)))[0]).model
    joint = model.joint('b')
    assert (joint.kind, (joint.lower, joint.upper)) == (kind, limits)
    assert bool(model.warnings) == (kind == 'revolute')


def test_a_locked_follower_does_not_limit_its_master():
    text, _ = robots(a=limited(-2.0, 2.0), d=limited(-0.5, 1.0, 3.0, like('a', 1)))
    assert Robot.from_urdf(text, locked={'d': 0.1}).model.joint('a').upper == 2.0


@pytest.mark.parametrize('example', [
    example for example in ROBOTS if isinstance(example, Coupled) or example.name in WITH_MIMICS],
    ids=str)
def test_no_mimic_joint_of_a_real_robot_leaves_its_limits(example):
    """Positions of masters over their whole range; the limits are read by another parser."""
    model = Robot.from_urdf(example.urdf, base=example.base).model
    elements = {one.get('name'): one.find('limit') for one in example.xml().findall('joint')}
    ignored = ' '.join(text for text in model.warnings if 'are ignored' in text)
    for name, (master, ratio, offset) in example.mimics().items():
        limit, leader = elements[name], model.joint(master)
        if name == master or limit is None or f"of joint '{name}' are ignored" in ignored:
            continue
        lower, upper = (float(limit.get(key, 0.0)) for key in ('lower', 'upper'))
        if not lower == upper == 0.0:
            ends = ratio * np.array([leader.lower, leader.upper]) + offset
            assert ends.min() >= lower - 1e-12
            assert ends.max() <= upper + 1e-12


def test_inverse_kinematics_keeps_a_follower_within_its_limits():
    """A target that the master reaches only with its follower beyond the limit is refused."""
    def arm(follower):
        return Robot.from_urdf(robot(
            link('base'), link('a'), link('d'), joint('a', 'base', 'a', inside=limited(-2.0, 2.0)),
            joint('d', 'a', 'd', inside=follower)), compile=False)
    free = arm(limited(-9.0, 9.0, 3.0, like('a', -2)))
    tight = arm(limited(-1.0, 9.0, 3.0, like('a', -2)))
    goal = Target('d', free.frame_pose([0.9], 'd')[:3, 3])
    assert free.inverse_kinematics([goal], start=[0.4]).success
    found = tight.inverse_kinematics([goal], start=[0.4])
    assert not found.success
    assert found.q[0] <= 0.5 + 1e-12
