"""Test robots from screw axes: the product of exponentials, and robots rebuilt from their own."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm
from support import random_trees
from support.differences import relative
from support.rebuilt_links import rebuilt
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot, RobotLink, links_from_screws
from dynamics_node.spatial import se3, so3

BASE = RobotLink('base')
KINDS = ('revolute', 'prismatic', 'continuous', 'revolute')


def chain(kinds=KINDS):
    parents = ['base', *(f'l{k}' for k in range(len(kinds)))]
    return [RobotLink(f'l{k}', parents[k], kind, mass=1.0 + k, com=(0.1, 0.2, 0.3),
                      inertia=np.diag([0.2, 0.3, 0.4])) for k, kind in enumerate(kinds)]


def screws(rng, kinds=KINDS):
    """Return random home poses, angular and linear parts in space."""
    home = np.array([se3.exp(rng.normal(size=6)).matrix() for _ in kinds])
    unit = [each / np.linalg.norm(each) for each in rng.normal(size=(len(kinds), 3))]
    angular = [np.zeros(3) if kind == 'prismatic' else w for kind, w in zip(kinds, unit)]
    linear = [w if kind == 'prismatic' else np.cross(rng.normal(size=3), w)
              for kind, w in zip(kinds, unit)]
    return home, np.array(angular), np.array(linear)


def twist_matrix(w, v):
    """Return [S], (4, 4)."""
    S = np.zeros((4, 4))
    S[:3, :3], S[:3, 3] = so3.skew(w), v
    return S


@pytest.mark.parametrize('seed', range(4))
def test_poses_are_the_product_of_exponentials(seed):
    """Modern Robotics, space form: T_i = e^[S_1]q_1 .. e^[S_i]q_i M_i, by SciPy's expm."""
    rng = np.random.default_rng(seed)
    home, w, v = screws(rng)
    robot = Robot.from_links([BASE, *links_from_screws(chain(), home, w, v)], compile=False)
    q, T = rng.normal(size=4), np.eye(4)
    for k in range(4):
        T = T @ expm(twist_matrix(w[k], v[k]) * q[k])
        assert relative(robot.frame_pose(q, f'l{k}'), T @ home[k]) < EXACT_MATHS


@pytest.mark.parametrize('seed', range(4))
def test_poses_are_the_product_of_exponentials_in_body_form(seed):
    """T_{i-1,i} = M_{i-1,i} e^[A_i]q_i."""
    rng = np.random.default_rng(seed)
    home, w, v = screws(rng)   # any screws: here they are in the link frames
    robot = Robot.from_links([BASE, *links_from_screws(chain(), home, w, v, 'body')], compile=False)
    q, T, before = rng.normal(size=4), np.eye(4), np.eye(4)
    for k in range(4):
        T = T @ np.linalg.inv(before) @ home[k] @ expm(twist_matrix(w[k], v[k]) * q[k])
        before = home[k]
        assert relative(robot.frame_pose(q, f'l{k}'), T) < EXACT_MATHS


@pytest.mark.parametrize('seed', range(4))
def test_a_tree_rebuilt_from_its_jacobians_has_the_same_dynamics(seed):
    """Column i of a link's Jacobian at home is the screw of its joint, at the link's origin."""
    rng = np.random.default_rng(seed)
    root, *links = rebuilt(random_trees.urdf(rng, kinds=('revolute', 'prismatic', 'fixed')))
    robot = Robot.from_links([root, *links], compile=False)
    home, columns = np.zeros(robot.nq), {name: k for k, name in enumerate(robot.joint_names)}
    poses = [robot.frame_pose(home, link.name) for link in links]
    twists = [robot.jacobian(home, link.name)[:, columns[link.joint_name]]
              if link.joint_name in columns else np.zeros(6) for link in links]
    angular = [twist[3:] for twist in twists]
    linear = [twist[:3] - np.cross(twist[3:], T[:3, 3]) for twist, T in zip(twists, poses)]
    bare = [replace(link, placement=None, axis=(1.0, 0.0, 0.0)) for link in links]
    again = Robot.from_links([root, *links_from_screws(bare, poses, angular, linear)],
                             compile=False)
    q, v, a = rng.normal(size=(3, robot.nv))
    expected = robot.inverse_dynamics(q, v, a)
    assert relative(again.inverse_dynamics(q, v, a), expected) < EXACT_MATHS


def test_the_two_forms_give_one_robot():
    """A_i = Ad_{M_i^-1} S_i."""
    rng = np.random.default_rng(0)
    home, w, v = screws(rng)
    R, p = home[:, :3, :3], home[:, :3, 3]
    in_body = (np.einsum('kji,kj->ki', R, w), np.einsum('kji,kj->ki', R, v - np.cross(p, w)))
    q, speed, a = rng.normal(size=(3, 4))
    one, other = (Robot.from_links([BASE, *links], compile=False).inverse_dynamics(q, speed, a)
                  for links in (links_from_screws(chain(), home, w, v),
                                links_from_screws(chain(), home, *in_body, 'body')))
    assert relative(one, other) < EXACT_MATHS


X, Y, ZERO = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)


@pytest.mark.parametrize('kind, w, v, message', [
    ('revolute', ZERO, X, "links.0., 'l0', is of a revolute joint; expected an angular unit"),
    ('revolute', X, X, 'has the pitch 1 m/rad'), ('prismatic', X, X, 'prismatic joint; expected'),
    ('prismatic', ZERO, ZERO, 'got lengths 0 and 0'), ('fixed', ZERO, X, 'of a fixed joint'),
    ('planar', X, Y, 'has a planar joint; expected .* revolute, continuous, prismatic, fixed'),
])
def test_a_screw_that_is_not_of_the_joint_is_refused(kind, w, v, message):
    with pytest.raises(DynamicsError, match=message):
        links_from_screws(chain([kind]), [np.eye(4)], [w], [v])


@pytest.mark.parametrize('changes, message', [
    ({'links': 'l0'}, 'links is'), ({'links': [BASE]}, "'base', has no parent"),
    ({'home': np.eye(4)}, 'home is'), ({'home': [2.0 * np.eye(4)]}, r'home\[0\] has the last row'),
    ({'angular': X}, 'angular is .* expected 1 x 3'), ({'linear': None}, 'linear is None'),
    ({'form': 'world'}, "form is 'world'; expected one of space, body"),
])
def test_invalid_arguments_are_refused(changes, message):
    valid = {'links': chain(['revolute']), 'home': [np.eye(4)], 'angular': [X], 'linear': [Y]}
    links_from_screws(**valid)
    with pytest.raises(DynamicsError, match=message):
        links_from_screws(**{**valid, **changes})
