"""Test wrenches of sensors and wrenches in world axes."""

import numpy as np
import pytest
from support import random_trees
from support.differences import relative
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot


def with_sensor(tree, link):
    """Return (the Specimen, its robot in which the fixed joint of a link can turn, free, place).

    The joint that can turn is at rest at zero: it transmits what the fixed joint transmits.
    """
    specimen = random_trees.make(tree)
    text = random_trees.urdf(np.random.default_rng(tree.seed), tree.mimic)
    name = f'j{link[1:]}'
    fixed = f'<joint name="{name}" type="fixed">'
    assert fixed in text
    free = Robot.from_urdf(text.replace(fixed, fixed.replace('fixed', 'continuous')),
                           base=tree.base, gravity=specimen.robot.gravity)
    return specimen, free, free.model.joint(name)


@pytest.mark.parametrize('tree', random_trees.TREES, ids=str)
def test_a_fixed_joint_transmits_what_a_joint_at_rest_would(tree):
    """The same tree with that joint free; wrenches and payloads on both sides of it."""
    specimen, free, joint = with_sensor(tree, 'l5')
    robot, _, q, v, a, _, wrenches = specimen
    wrenches = {**wrenches, 'l5': np.arange(6.0)}

    def with_zero(x, place):
        return np.insert(x, place.start, 0.0)
    states = with_zero(q, joint.q), with_zero(v, joint.v), with_zero(a, joint.v)
    for load in (None, 'l5', 'base', 'l3'):
        loaded, moving = robot, free
        if load is not None:
            loaded, moving = (each.with_payload('load', load, 1.5, (0.1, 0.2, 0.3))
                              for each in (robot, free))
        row = moving.body_names.index('l5')
        for external in (None, wrenches):
            expected = moving.joint_reactions(*states, external).wrenches[row]
            assert relative(loaded.sensor_wrench(q, v, a, 'l5', wrenches=external),
                            expected) < EXACT_MATHS


def test_a_moving_joint_transmits_its_reaction(tree):
    """Of every moving link; a sensor there is the joint itself."""
    robot, _, q, v, a, _, wrenches = tree
    expected = robot.joint_reactions(q, v, a, wrenches).wrenches
    for row, link in enumerate(robot.body_names):
        found = robot.sensor_wrench(q, v, a, link, wrenches=wrenches)
        assert relative(found, expected[row]) < EXACT_MATHS


def test_a_sensor_shows_the_weight_of_the_tool(arm):
    """At rest: m g upwards in world axes, its moment about the chosen origin; in a batch too."""
    loaded = arm.with_payload('tool', 'tool0', 2.0, (0.0, 0.0, 0.1))
    q, rest = np.array([arm.random_configuration(k) for k in range(3)]), np.zeros(7)
    tool = loaded.sensor_wrench(q, rest, rest, 'tool0', local=False)
    assert relative(tool[:, :3], [[0.0, 0.0, 2.0 * 9.81]] * 3) < EXACT_MATHS
    for row, wrench in zip(q, tool):
        lever = 0.1 * loaded.frame_pose(row, 'tool0')[:3, 2]
        assert relative(wrench[3:], np.cross(lever, wrench[:3])) < EXACT_MATHS
    there = loaded.sensor_wrench(q, rest, rest, 'tool0', 'link_7', local=False)
    for row, wrench, moved in zip(q, tool, there):
        lever = loaded.frame_pose(row, 'tool0')[:3, 3] - loaded.frame_pose(row, 'link_7')[:3, 3]
        assert relative(moved[3:], wrench[3:] + np.cross(lever, wrench[:3])) < EXACT_MATHS


def test_a_compiled_sensor_gives_the_same(tree, compiler_on):
    """The robot beyond the sensor has kernels of its own."""
    robot, _, q, v, a, _, wrenches = tree
    compiled = Robot(robot.model)
    rows = [np.tile(x, (300, 1)) for x in (q, v, a)]   # a batch of that size waits for its kernel
    found = compiled.sensor_wrench(*rows, 'l5', wrenches=wrenches)
    expected = robot.sensor_wrench(q, v, a, 'l5', wrenches=wrenches)
    assert relative(found, np.tile(expected, (300, 1))) < EXACT_MATHS
    reactions = compiled.joint_reactions(*rows).wrenches
    assert relative(reactions[0], robot.joint_reactions(q, v, a).wrenches) < EXACT_MATHS


def test_a_sensor_that_cannot_be_is_refused_by_name(arm):
    q = arm.neutral()
    with pytest.raises(DynamicsError, match="link 'base_link' does not move"):
        arm.sensor_wrench(q, q, q, 'base_link')
    with pytest.raises(DynamicsError, match="frame 'link_3' moves relative to link 'tool0'"):
        arm.sensor_wrench(q, q, q, 'tool0', 'link_3')
    with pytest.raises(DynamicsError, match="no frame 'hand'"):
        arm.sensor_wrench(q, q, q, 'hand')
    with pytest.raises(DynamicsError, match="no frame 'hand'"):
        arm.sensor_wrench(q, q, q, 'tool0', wrenches={'hand': np.zeros(6)})


def test_wrenches_in_world_axes_act_by_the_jacobian(tree):
    """The joints carry J' F with the Jacobian in world axes (Hutter 2017, eq. 3.49 to 3.51)."""
    robot, rng, q, v, a, *_ = tree
    world = {frame: rng.normal(size=6) for frame in ('l0', 'l5', 'l10')}
    relief = (robot.inverse_dynamics(q, v, a)
              - robot.inverse_dynamics(q, v, a, robot.link_wrenches(q, world)))
    expected = sum(robot.jacobian(q, frame).T @ F for frame, F in world.items())
    assert relative(relief, expected) < EXACT_MATHS
    both = robot.link_wrenches([q, q], world)['l5']
    assert relative(both, [robot.link_wrenches(q, world)['l5']] * 2) < EXACT_MATHS


def test_poses_of_all_bodies_are_those_of_the_frames(tree):
    robot, _, q, *_ = tree
    expected = [robot.frame_pose(q, name) for name in robot.body_names]
    assert relative(robot.body_poses(q), expected) < EXACT_MATHS


def test_batches_of_other_sizes_are_refused(arm):
    q = arm.neutral()
    with pytest.raises(DynamicsError, match='batches must be of one size'):
        arm.link_wrenches([q, q], {'tool0': np.zeros((3, 6))})


def test_batches_give_the_results_of_single_states(arm, states):
    """Every method, in the order of the rows; an empty batch is empty."""
    q, v, a, _ = states
    push = {'tool0': np.random.default_rng(1).normal(size=(4, 6))}
    calls = {
        'body_poses': ((q,), {}),
        'joint_reactions': ((q, v, a, push), {'local': False}),
        'joint_reactions_derivatives': ((q, v, a), {}),
        'sensor_wrench': ((q, v, a, 'tool0', 'link_7', push), {'local': False}),
        'frame_acceleration': ((q, v, a, 'tool0'), {}), 'link_energies': ((q, v), {}),
        'point_jacobian': ((q, 'tool0'), {'point': (0.1, 0.2, 0.3), 'relative_to': 'link_3'}),
        'base_velocity': ((q, v), {}), 'manipulability': ((q, 'tool0'), {})}
    for name, (arguments, named) in calls.items():
        for rows in (range(4), range(0)):
            batch = getattr(arm, name)(*(_rows(x, list(rows)) for x in arguments), **named)
            batch = batch if isinstance(batch, tuple) else (batch,)
            assert all(len(part) == len(rows) for part in batch), name
            for row in rows:
                one = getattr(arm, name)(*(_rows(x, row) for x in arguments), **named)
                for part, single in zip(batch, one if isinstance(one, tuple) else (one,)):
                    assert relative(part[row], single) < EXACT_MATHS, name


def _rows(argument, rows):
    if isinstance(argument, dict):
        return {key: value[rows] for key, value in argument.items()}
    return argument if isinstance(argument, str) else argument[rows]
