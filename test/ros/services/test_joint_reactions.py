"""Test ~/joint_reactions, and accelerations and energies of links in other replies."""

import numpy as np
import pytest
from support.node_states import ask, refused, scene, tree_scene, wrench
from support.random_trees import one_of_each_sort
from support.tiny_robots import TWO_JOINTS

from dynamics_node.ros import convert


def six(message, first, second):
    """Return the two vectors of a Wrench or an Accel as a list of six numbers."""
    return [*convert.xyz(getattr(message, first)), *convert.xyz(getattr(message, second))]


def wrenches_of(messages):
    return [six(message, 'force', 'torque') for message in messages]


def accelerations_of(messages):
    return [six(message, 'linear', 'angular') for message in messages]


@pytest.mark.parametrize('local', [False, True])
@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_numbers_are_those_of_the_robot(tree, local):
    """To the last digit, for some joints named and the others measured, under wrenches."""
    s = tree_scene(tree)
    names, a = s.some_joints(), s.rng.normal(size=s.robot.nv)
    push = {'l4': s.rng.normal(size=6), 'l9': s.rng.normal(size=6)}
    reply = ask(s.node_state, 'joint_reactions', joint_names=names,
                acceleration=s.of(names, a), local=local,
                external_wrenches=[wrench(*each) for each in push.items()],
                sensor_links=['l5', 'l9'], sensor_frames=['l5', 'l9'])
    a = s.put(names, a, np.zeros(s.robot.nv))
    found = s.robot.joint_reactions(s.q, s.v, a, push, local)
    assert tuple(reply.frames) == s.robot.body_names
    assert reply.joints == [body.joint_name for body in s.robot.model.bodies]
    assert wrenches_of(reply.wrenches) == found.wrenches.tolist()
    assert accelerations_of(reply.accelerations) == found.accelerations.tolist()
    assert wrenches_of(reply.sensor_wrenches) == [
        s.robot.sensor_wrench(s.q, s.v, a, link, wrenches=push, local=local).tolist()
        for link in ('l5', 'l9')]


def test_a_sensor_has_its_own_frame_unless_another_is_given():
    """Without sensors the reply has none."""
    s = tree_scene(one_of_each_sort()[0])
    a = np.zeros(s.robot.nv)
    parent = s.robot.model.bodies[s.robot.model.frame('l5').body].name
    assert ask(s.node_state, 'joint_reactions').sensor_wrenches == []
    for frames in ([], ['l5'], [parent]):
        reply = ask(s.node_state, 'joint_reactions', sensor_links=['l5'], sensor_frames=frames,
                    local=True)
        expected = s.robot.sensor_wrench(s.q, s.v, a, 'l5', (frames or ['l5'])[0])
        assert wrenches_of(reply.sensor_wrenches) == [expected.tolist()]


def test_kinematics_has_accelerations_on_request():
    """In both axes, as the library; accelerations left out are zero."""
    s = tree_scene(one_of_each_sort()[1])
    a, frames = s.rng.normal(size=s.robot.nv), ['l9', 'base', 'l5']
    for local in (False, True):
        for given in (a, np.zeros(s.robot.nv)):
            more = {'acceleration': given} if given.any() else {}
            reply = ask(s.node_state, 'kinematics', frames=frames, accelerations=True, local=local,
                        **more)
            assert accelerations_of(reply.accelerations) == [
                s.robot.frame_acceleration(s.q, s.v, given, frame, local).tolist()
                for frame in frames]
    assert ask(s.node_state, 'kinematics', frames=frames).accelerations == []
    assert refused(s.node_state, 'kinematics', acceleration=a) == (
        'acceleration is given, but it is read only with accelerations')


def test_terms_have_the_energy_of_each_link():
    """To the last digit."""
    s = tree_scene(one_of_each_sort()[3])
    reply, found = ask(s.node_state, 'dynamics_terms'), s.robot.link_energies(s.q, s.v)
    assert tuple(reply.frames) == s.robot.body_names
    assert list(reply.link_kinetic_energy) == found.kinetic.tolist()
    assert list(reply.link_potential_energy) == found.potential.tolist()


def test_bad_sensors_are_refused_by_name():
    node_state = scene(TWO_JOINTS).node_state
    assert refused(node_state, 'joint_reactions', sensor_links=['base']) == (
        "link 'base' does not move; expected a link that a joint moves")
    assert refused(node_state, 'joint_reactions', sensor_links=['elbow_link'],
                   sensor_frames=['base', 'base']) == (
        'sensor_frames has 2 entries; expected 1, one per entry of sensor_links, or none')
    assert refused(node_state, 'joint_reactions', sensor_links=['elbow_link'] * 21) == (
        'sensor_links: 21, at most 20 (service.max_targets)')
