"""Test the page about an identification of a robot with loops: its equations are named."""

import json

import numpy as np
import pytest
import yaml
from support.html_checks import checked
from support.moving_mechanisms import mechanism, moved, other_mechanism, raw, torques  # noqa: E402

from dynamics_node.commands.main import main
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.identification.csv_files import write_csv
from dynamics_node.identification.recording_fit import identify_recording
from dynamics_node.reports.identification_page import identification_report_page

pytestmark = pytest.mark.usefixtures('kernels')   # thousands of regressors


@pytest.fixture(scope='module')
def case(kernels):
    """(robot, RawRecording of its motor, IdentifiedRecording) of a four-bar."""
    robot = mechanism('four_bar')
    layout, truth = other_mechanism(robot)
    motion = moved('four_bar', robot, 700, 3)
    measured = raw(robot, motion, torques(robot, layout, truth, motion), motion.names,
                   (0.0, 0.005))
    return robot, measured, identify_recording(robot, measured)


def test_loops_equations_and_hidden_parameters_are_named(case):
    """In the page and in the JSON; residuals and the plot are those of the motor."""
    robot, _, done = case
    found = done.result
    html, answers = identification_report_page(found, robot, done.prepared.recording)
    page = checked(html)
    assert 'Closed loops' in page.text
    assert '1 per sample' in page.text
    assert 'tip_x, tip_z' in page.text
    assert json.loads(json.dumps(answers, allow_nan=False)) == answers
    assert answers['rows'] == ['crank_joint']
    assert answers['loops']['passive'] == ['coupler_joint', 'rocker_joint']
    assert 'coupler.mcx' in answers['loops']['merged']
    assert len(answers['residuals']['validation_after']) == 1
    lines = [each for each in page.of('path') if each.get('class') in ('one', 'two')]
    assert len([each for each in lines if len(each['d']) > 100]) == 2


def test_the_command_accepts_loops(case, tmp_path, capsys):
    """Files for the node; passive joints have friction and no armature in them."""
    _, measured, _ = case
    write_csv(tmp_path / 'motion.csv', measured)
    urdf, loops = MECHANISMS['four_bar']
    code = main(('identify', str(urdf), str(tmp_path / 'motion.csv'), '--loops', str(loops),
                 '--out', str(tmp_path / 'out')))
    said = capsys.readouterr().out
    assert code == 0
    assert 'closed loops (tip_x, tip_z) were used: 1 equation per sample, of crank_joint' in said
    friction = yaml.safe_load((tmp_path / 'out' / 'friction.yaml').read_text())
    assert friction['/**/dynamics_node']['ros__parameters']['armature']['rocker_joint'] == 0.0
    answers = json.loads((tmp_path / 'out' / 'report.json').read_text())
    assert np.isfinite(answers['gain'])
