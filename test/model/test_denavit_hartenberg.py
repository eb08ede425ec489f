"""Test robots from Denavit-Hartenberg parameters: the matrices, and screw axes."""

import numpy as np
import pytest
from support.differences import relative
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot, RobotLink, links_from_dh, links_from_screws

BASE = RobotLink('base')
KINDS = ('revolute', 'prismatic', 'continuous', 'fixed', 'revolute')


def chain(kinds):
    parents = ['base', *(f'l{k}' for k in range(len(kinds)))]
    return [RobotLink(f'l{k}', parents[k], kind, mass=1.0 + k, com=(0.1, 0.2, 0.3),
                      inertia=np.diag([0.2, 0.3, 0.4])) for k, kind in enumerate(kinds)]


def robot_of(kinds, *table, convention):
    return Robot.from_links([BASE, *links_from_dh(chain(kinds), *table, convention)], compile=False)


def textbook(convention, a, alpha, d, theta):
    """Return T_{i-1,i} entry by entry, as textbooks print it."""
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    if convention == 'standard':
        return np.array([[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st],
                         [0.0, sa, ca, d], [0.0, 0.0, 0.0, 1.0]])
    return np.array([[ct, -st, 0.0, a], [st * ca, ct * ca, -sa, -sa * d],
                     [st * sa, ct * sa, ca, ca * d], [0.0, 0.0, 0.0, 1.0]])


@pytest.mark.parametrize('convention', ['standard', 'modified'])
@pytest.mark.parametrize('seed', range(3))
def test_poses_are_the_product_of_the_textbook_matrices(convention, seed):
    """Q adds to theta of a revolute joint and to d of a prismatic one."""
    rng = np.random.default_rng(seed)
    a, alpha, d, theta = table = rng.normal(size=(4, 5))
    robot, q, T = robot_of(KINDS, *table, convention=convention), rng.normal(size=4), np.eye(4)
    moves = dict(zip((0, 1, 2, 4), q))
    for k, kind in enumerate(KINDS):
        slide, turn = (moves.get(k, 0.0) * (kind == 'prismatic'),
                       moves.get(k, 0.0) * (kind != 'prismatic'))
        T = T @ textbook(convention, a[k], alpha[k], d[k] + slide, theta[k] + turn)
        assert relative(robot.frame_pose(q, f'l{k}'), T) < EXACT_MATHS


@pytest.mark.parametrize('convention', ['standard', 'modified'])
def test_dynamics_are_those_of_the_screw_axes(convention):
    """Axes by the definition: z of the frame before, or of the frame itself, at home."""
    rng = np.random.default_rng(1)
    a, alpha, d, theta = table = rng.normal(size=(4, 5))
    home, angular, linear, T = [], [], [], np.eye(4)
    for k, kind in enumerate(KINDS):
        before, T = T, T @ textbook(convention, a[k], alpha[k], d[k], theta[k])
        z, p = (before if convention == 'standard' else T)[:3, 2:].T
        home.append(T)
        angular.append(z * (kind in ('revolute', 'continuous')))
        linear.append(z if kind == 'prismatic' else np.cross(p, angular[-1]))
    screws = links_from_screws(chain(KINDS), home, angular, linear)
    robot, other = robot_of(KINDS, *table, convention=convention), Robot.from_links(
        [BASE, *screws], compile=False)
    q, v, acceleration = rng.normal(size=(3, 4))
    expected = other.inverse_dynamics(q, v, acceleration)
    assert relative(robot.inverse_dynamics(q, v, acceleration), expected) < EXACT_MATHS


def test_right_angles_are_exact():
    """So they cost nothing when compiled."""
    for convention in ('standard', 'modified'):
        link, = links_from_dh(chain(['revolute']), [0.1], [0.5 * np.pi], [0.2], [-0.5 * np.pi],
                              convention)
        assert set(np.abs(link.placement[:3, :3]).ravel()) == {0.0, 1.0}


@pytest.mark.parametrize('changes, message', [
    ({'links': 3}, 'links is 3'), ({'links': [BASE]}, "'base', has no parent"),
    ({'links': chain(['floating'])}, 'a floating joint; expected .* prismatic, fixed'),
    ({'a': [1.0, 2.0]}, 'a is .* expected 1 finite'), ({'alpha': 'x'}, 'alpha is'),
    ({'d': None}, 'd is None'), ({'theta': [np.nan]}, 'theta is'),
    ({'convention': 'craig'}, "convention is 'craig'; expected one of standard, modified"),
])
def test_invalid_arguments_are_refused(changes, message):
    valid = {'links': chain(['revolute']), 'a': [0], 'alpha': [0], 'd': [0], 'theta': [0]}
    links_from_dh(**valid)
    with pytest.raises(DynamicsError, match=message):
        links_from_dh(**{**valid, **changes})
