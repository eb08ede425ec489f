"""Test the parameter `constraints`: loops are part of the current robot."""


import numpy as np
import pytest
from support.current_robots import mechanism, node_state_at
from support.node_states import ask, node_state_of
from support.paths import ROOT

from dynamics_node import DynamicsError
from dynamics_node.constrained.read_loops import read_loops
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.ros.parameters.declared import ModelParameters


def test_loops_are_part_of_the_robot(tmp_path):
    """Text or path; model_id and report change with them; an invalid list changes nothing."""
    bundled = MECHANISMS['four_bar']
    file = tmp_path / 'loops.yaml'
    file.write_text(bundled.loops.read_text())
    node_state = node_state_of(bundled.urdf)
    ids = [node_state.current_robot.model_id]
    assert 'loops' not in ask(node_state, 'model_report').report
    for constraints in (str(file), bundled.loops.read_text()):
        node_state.use(ModelParameters(constraints=constraints))
        node_state.load(bundled.urdf)
        assert node_state.robot.loops == mechanism('four_bar').loops
        ids.append(node_state.current_robot.model_id)
    assert ids[0] != ids[1] == ids[2]
    text = ask(node_state, 'model_report').report
    assert 'loops, 2 rows:\n  tip_x: point_on_plane of coupler to rocker' in text
    assert text.endswith('passive joints: coupler_joint, rocker_joint')
    before = node_state.robot
    for bad, words in (('constraints: [{name: a, kind: weld, frame: hand}]', "'hand'"),
                       ('constraints: []\npassive: [elbow]', "'elbow'"),
                       ('/no/such/file.yaml', 'cannot read'),
                       ('{:', 'YAML')):
        node_state.use(ModelParameters(constraints=bad))
        with pytest.raises(DynamicsError, match=words):
            node_state.load(bundled.urdf)
        assert node_state.current_robot.refusal.startswith(
            'the robot description was refused: parameter constraints: ')
        assert node_state.robot is before
    node_state.use(ModelParameters(constraints=str(file)))
    assert not node_state.load(bundled.urdf)
    file.write_text(bundled.loops.read_text().replace('passive: [coupler_joint, rocker_joint]',
                                                      'passive: [coupler_joint]'))
    assert node_state.load(bundled.urdf)  # what counts is what the file says now
    assert node_state.robot.loops.passive == ('coupler_joint',)
    node_state.use(ModelParameters())
    assert node_state.load(bundled.urdf)
    assert node_state.current_robot.model_id == ids[0]


def test_loops_survive_payloads_gravity_and_friction():
    """They belong to the description."""
    node_state, robot = node_state_at('five_bar')
    node_state.current_robot.set_payload('cup', ('tool', 0.5, (0.0, 0.0, 0.0), None), 0.0)
    node_state.current_robot.set_gravity(np.array([0.0, 0.0, -3.0]))
    node_state.current_robot.set_friction({'left_elbow': 0.3}, {})
    assert node_state.robot.loops == robot.loops


def test_the_shipped_list_is_that_of_the_bundled_mechanism():
    """config/loops/four_bar.yaml, with its comments."""
    shipped = ROOT / 'config' / 'loops' / 'four_bar.yaml'
    assert read_loops(shipped.read_text()) == mechanism('four_bar').loops
