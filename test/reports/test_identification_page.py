"""Test the page about an identification: the numbers of the result, complete."""

import json

import numpy as np
import pytest
from support.html_checks import checked
from support.lively_motion import record

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.robot_fit import identify
from dynamics_node.identification.validation import split
from dynamics_node.reports.identification_page import identification_report_page

STILL = {f'joint_{k}': 0.0 for k in range(3, 8)}


@pytest.fixture(scope='module')
def robots():
    """The robot of the URDF, and the true one: another friction, and an unknown payload."""
    known = Robot.from_urdf(ARM7, locked=STILL)
    true = known.with_payload('load', 'link_3', 2.0, (0.0, 0.05, 0.1)).with_friction(
        {'joint_1': 1.5, 'joint_2': 0.3}, {'joint_1': 0.2, 'joint_2': 1.2})
    return known, true


@pytest.fixture(scope='module')
def case(robots):
    """Return (robot, recording, Identification)."""
    known, true = robots
    recording = record(true)
    return known, recording, identify(known, recording)


def test_the_json_is_the_result(case):
    """Every vector in full."""
    robot, recording, found = case
    html, answers = identification_report_page(found, robot, recording)
    checked(html)
    assert json.loads(json.dumps(answers, allow_nan=False)) == answers
    parameters, base = answers['parameters'], answers['base_parameters']
    assert parameters['names'] == list(found.layout.names)
    assert parameters['values'] == found.values.tolist()
    assert parameters['before'] == found.before.tolist()
    assert parameters['sigma'] == found.spread.sigma.tolist()
    assert base['values'] == found.base_values.tolist()
    assert base['meanings'] == list(found.base.meanings())
    assert base['before'] == (found.base.grouping @ found.before).tolist()
    assert answers['condition'] == found.condition
    assert answers['residuals']['validation_after'] == found.residuals.validation_after.tolist()
    assert answers['gain'] == found.residuals.gain > 1.0
    assert answers['loops'] is None
    assert answers['rows'] == list(robot.joint_names)
    assert 'Closed loops' not in html


def test_every_base_parameter_is_in_words_and_every_joint_has_its_residuals(case):
    robot, recording, found = case
    page = checked(identification_report_page(found, robot, recording)[0])
    for text in (*found.base.meanings(), *found.layout.bodies, *found.layout.joints):
        assert text in page.text
    lines = [each for each in page.of('path') if each.get('class') in ('one', 'two')]
    plotted = [each for each in lines if len(each['d']) > 100]
    assert len(plotted) == 2 * robot.nv
    assert len(page.of('circle')) == 2 * (len(found.layout.per_joint) * robot.nv
                                          + len(found.layout.bodies)
                                          + int((found.base.kept < found.layout.inertial).sum()))


def test_the_plot_shows_the_validation_motion(case):
    """Its RMS is that of the table."""
    robot, recording, found = case
    unseen = split(recording, found.options.validation_share)[1]
    html, _ = identification_report_page(found, robot, recording)
    for predicted, name in ((robot.inverse_dynamics(unseen.q, unseen.v, unseen.a), 'before'),
                            (found.predict(unseen.q, unseen.v, unseen.a), 'after')):
        left = unseen.tau - predicted
        rms = np.sqrt(np.mean(left ** 2, axis=0))
        assert rms == pytest.approx(getattr(found.residuals, f'validation_{name}'), rel=1e-6)
        assert f'<title>{name}</title>' in html


def test_warnings_are_shown(case):
    robot, recording, found = case
    html, answers = identification_report_page(
        found._replace(warnings=('the motion is <poor>',)), robot, recording,
        warnings=('3 samples were recorded twice',))
    page = checked(html)
    assert '3 samples were recorded twice' in page.text and 'the motion is <poor>' in page.text
    assert answers['warnings'] == ['3 samples were recorded twice', 'the motion is <poor>']
    assert 'Warnings' not in checked(identification_report_page(
        found._replace(warnings=()), robot, recording)[0]).text


def test_undetermined_parameters_are_named(case):
    """An infinite deviation draws no whisker."""
    robot, recording, found = case
    sigma = found.base_spread.sigma.copy()
    sigma[0] = np.inf
    html, answers = identification_report_page(found._replace(
        base_spread=found.base_spread._replace(sigma=sigma)), robot, recording)
    text = checked(html).text
    untold = text[text.index('What the data do not determine'):]
    assert found.base.names[0] in untold
    assert answers['base_parameters']['sigma'][0] is None
    never = [name for name, kind in zip(found.layout.names, found.base.kinds)
             if kind == 'not at all']
    assert never and all(name in untold for name in never)


def test_another_robots_recording_is_refused(case):
    robot, recording, found = case
    with pytest.raises(DynamicsError, match='expected joint_1, joint_2'):
        identification_report_page(found, robot, recording._replace(joint_names=('a', 'b')))
