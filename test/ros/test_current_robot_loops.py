"""The parameter `constraints`: loops are part of the robot that the node holds."""


import numpy as np
import pytest
from support.current_robots import desk_at, mechanism
from support.node_states import ask, desk_of
from support.paths import ROOT

from dynamics_node import DynamicsError
from dynamics_node.constrained.read_loops import read_loops
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.ros.parameters.declared import ModelParameters


def test_loops_are_part_of_the_robot(tmp_path):
    """Text or path; model_id and report change with them; what is wrong leaves all as it was."""
    bundled = MECHANISMS['four_bar']
    file = tmp_path / 'loops.yaml'
    file.write_text(bundled.loops.read_text())
    desk = desk_of(bundled.urdf)
    ids = [desk.held.model_id]
    assert 'loops' not in ask(desk, 'model_report').report
    for constraints in (str(file), bundled.loops.read_text()):
        desk.use(ModelParameters(constraints=constraints))
        desk.load(bundled.urdf)
        assert desk.robot.loops == mechanism('four_bar').loops
        ids.append(desk.held.model_id)
    assert ids[0] != ids[1] == ids[2]
    text = ask(desk, 'model_report').report
    assert 'loops, 2 rows:\n  tip_x: point_on_plane of coupler to rocker' in text
    assert text.endswith('passive joints: coupler_joint, rocker_joint')
    before = desk.robot
    for bad, words in (('constraints: [{name: a, kind: weld, frame: hand}]', "'hand'"),
                       ('constraints: []\npassive: [elbow]', "'elbow'"),
                       ('/no/such/file.yaml', 'cannot read'),
                       ('{:', 'YAML')):
        desk.use(ModelParameters(constraints=bad))
        with pytest.raises(DynamicsError, match=words):
            desk.load(bundled.urdf)
        assert desk.held.refusal.startswith(
            'the robot description was refused: parameter constraints: ')
        assert desk.robot is before
    desk.use(ModelParameters(constraints=str(file)))
    assert not desk.load(bundled.urdf)
    file.write_text(bundled.loops.read_text().replace('passive: [coupler_joint, rocker_joint]',
                                                      'passive: [coupler_joint]'))
    assert desk.load(bundled.urdf)  # what counts is what the file says now
    assert desk.robot.loops.passive == ('coupler_joint',)
    desk.use(ModelParameters())
    assert desk.load(bundled.urdf)
    assert desk.held.model_id == ids[0]


def test_loops_survive_payloads_gravity_and_friction():
    """They belong to the description."""
    desk, robot = desk_at('five_bar')
    desk.held.set_payload('cup', ('tool', 0.5, (0.0, 0.0, 0.0), None), 0.0)
    desk.held.set_gravity(np.array([0.0, 0.0, -3.0]))
    desk.held.set_friction({'left_elbow': 0.3}, {})
    assert desk.robot.loops == robot.loops


def test_the_shipped_list_is_that_of_the_bundled_mechanism():
    """config/loops/four_bar.yaml, with its comments."""
    shipped = ROOT / 'config' / 'loops' / 'four_bar.yaml'
    assert read_loops(shipped.read_text()) == mechanism('four_bar').loops
