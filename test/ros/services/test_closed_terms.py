"""Test ~/dynamics_terms of a closed mechanism: results of the library, refusals."""

import numpy as np
import pytest
from support.current_robots import close, node_state_at, state_of
from support.node_states import ask, measure, node_state_of, refused
from support.tiny_robots import TWO_JOINTS

from dynamics_node.example_robots import MECHANISMS

OTHERS = {'stewart': ['platform_joint'], 'five_bar': ['right_elbow', 'left_shoulder']}


@pytest.mark.parametrize(('name', 'coordinates'), [
    *((name, []) for name in MECHANISMS), *OTHERS.items()])
def test_the_terms_are_those_of_the_library(name, coordinates):
    """Rows of the transmission in the order of the reply; energies and momentum of all links."""
    node_state, robot = node_state_at(name)
    q, v = state_of(robot)
    measure(node_state, q, v)
    names = [str(name) for name in np.random.default_rng(0).permutation(robot.joint_names)]
    order = np.concatenate([np.arange(robot.nv)[robot.model.joint(name).v] for name in names])
    reply = ask(node_state, 'dynamics_terms', joint_names=names, closed=True,
                coordinates=coordinates)
    want = robot.closed_dynamics(q, v, coordinates=coordinates or None)
    motors = [joint for joint in robot.joint_names if joint not in robot.loops.passive]
    if name != 'stewart' or not coordinates:
        assert reply.coordinates == (coordinates or motors)
    else:
        assert reply.coordinates == [f'platform_joint.{axis}'
                                     for axis in ('vx', 'vy', 'vz', 'wx', 'wy', 'wz')]
    k = len(reply.coordinates)
    for field in ('mass_matrix', 'coriolis_matrix'):
        close(np.reshape(getattr(reply, field), (k, k)), getattr(want, field))
    for field in ('coriolis', 'gravity', 'friction'):
        close(getattr(reply, field), getattr(want, field))
    for field in ('transmission', 'transmission_rate'):
        close(np.reshape(getattr(reply, field), (robot.nv, k)), getattr(want, field)[order])
    close(reply.kinetic_energy, want.kinetic_energy)
    close(reply.potential_energy, want.potential_energy)
    close(reply.momentum, robot.momentum(q, v))
    assert (reply.joint_names, reply.nv) == (names, robot.nv)


def test_velocities_of_passive_joints_are_not_read():
    """They follow the crank, in the momentum too."""
    node_state, robot = node_state_at('four_bar')
    q, v = state_of(robot)
    good, other = (ask(node_state, 'dynamics_terms', position=q, velocity=speeds, closed=True)
                   for speeds in (v, [v[0], 5.0, -7.0]))
    close(other.momentum, robot.momentum(q, v))
    close(other.coriolis, good.coriolis)


def test_by_default_it_is_the_open_tree():
    """As it was before robots had loops."""
    node_state, robot = node_state_at('four_bar')
    q, v = state_of(robot)
    reply = ask(node_state, 'dynamics_terms', position=q, velocity=v)
    close(np.reshape(reply.mass_matrix, (3, 3)), robot.mass_matrix(q))
    assert (reply.coordinates, len(reply.transmission)) == ([], 0)


def test_what_has_no_answer_is_refused():
    """Coordinates of the open tree, a tree without loops, bad coordinates, open loops."""
    node_state, robot = node_state_at('five_bar')
    q, v = state_of(robot)
    state = {'position': q, 'velocity': v}
    assert refused(node_state, 'dynamics_terms', **state, coordinates=['left_elbow']).startswith(
        'coordinates is given, but it is read only with closed: true')
    for names, message in ((['left_elbow'], 'left_elbow do not determine the motion here: '),
                           (['knee'], "coordinates: no joint 'knee'; the robot has: "),
                           (['left_elbow'] * 2, 'name each joint once')):
        assert message in refused(node_state, 'dynamics_terms', **state, closed=True,
                                  coordinates=names)
    assert 'the loops are open by' in refused(node_state, 'dynamics_terms', position=q + 0.1,
                                              velocity=v, closed=True)
    assert refused(node_state_of(TWO_JOINTS), 'dynamics_terms', position=[0.1, 0.2],
                   velocity=[0.0, 0.0], closed=True).startswith(
        'closed is true, but the robot has no loops')
