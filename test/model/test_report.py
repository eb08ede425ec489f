"""Test the model report: numbers of the robot, and findings about errors in it."""

import json

import numpy as np
import pytest
from support.tolerances import EXACT_MATHS
from support.urdf_pieces import EVERYTHING, LIMIT, arm, joint, link, mimic, robot

from dynamics_node import Robot

ZERO = 'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"'
BALL = 'ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"'


def tensor(ixx, iyy, izz, ixy=0.0):
    return f'ixx="{ixx}" ixy="{ixy}" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"'


def hand(mass=1.0, inertia=BALL, inside=LIMIT):
    """Return an arm with a hand on a joint 'wrist'."""
    return arm(link('hand', mass, inertia), joint('wrist', 'upper', 'hand', inside=inside))


def findings(source, where, **options):
    """Return [(level, text)] of what the report says about a link, a joint or the whole."""
    found = Robot.from_urdf(source, **options).report().findings
    return [(finding.level, finding.text) for finding in found if finding.where == where]


def test_a_valid_robot_has_no_findings():
    """No false alarm."""
    report = Robot.from_urdf(hand()).report()
    assert report.findings == ()
    assert 'no findings' in str(report)


def test_the_report_has_the_numbers_of_links():
    """Mass, centre, principal moments, and the moving link each belongs to."""
    lines = {line.name: line for line in Robot.from_urdf(EVERYTHING).report().links}
    assert (lines['base'].body, lines['a'].body, lines['d'].body, lines['tool'].body) == (
        '', 'a', 'c', 'h')
    assert (lines['a'].mass, lines['tool'].mass) == (1.0, 0.0)
    np.testing.assert_allclose(lines['a'].com, (0.1, 0.2, 0.3), rtol=EXACT_MATHS)
    written = [[0.1, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.25]]
    np.testing.assert_allclose(lines['a'].moments, np.linalg.eigvalsh(written), rtol=EXACT_MATHS)


def test_the_report_has_the_numbers_of_joints():
    """Limits, friction, armature, followers."""
    report = Robot.from_urdf(EVERYTHING, armature={'turn': 0.7}).report()
    turn = report.joints[0]
    assert [line.name for line in report.joints] == ['turn', 'spin', 'slide', 'plane', 'free']
    assert (turn.kind, turn.lower, turn.upper, turn.max_velocity, turn.max_effort) == (
        'revolute', -2.0, 2.0, 3.0, 10.0)
    assert (turn.damping, turn.friction, turn.armature) == (0.5, 0.2, 0.7)
    assert turn.mimics == ('follow', 'follow_on')


@pytest.mark.parametrize('base', ['fixed', 'floating'])
def test_totals_are_those_of_all_links(base):
    """Nine links of 1 kg; on a fixed base the root does not move."""
    report = Robot.from_urdf(EVERYTHING, base).report()
    assert (report.name, report.base, report.total_mass) == ('test', base, 9.0)
    assert report.moving_mass == (9.0 if base == 'floating' else 8.0)
    assert (report.nq, report.nv) == ((20, 18) if base == 'floating' else (13, 12))


def test_the_text_names_links_joints_payloads_and_findings():
    """All of them."""
    made = Robot.from_urdf(EVERYTHING).with_payload('box', 'tool', 2.5)
    report = made.report()
    text = str(report)
    for name in (*made.frame_names, *made.joint_names, 'follow_on', 'box', '2.5 kg', 'floating'):
        assert name in text
    for finding in report.findings:
        assert f'{finding.level}: {finding.where}: {finding.text}' in text
    assert report.payloads['box'].mass == 2.5
    assert report.total_mass == 11.5


def test_the_text_of_a_robot_without_joints_has_no_joint_table():
    """One link, no table of joints."""
    assert 'no moving joint' in str(Robot.from_urdf(robot(link('a'))).report())


def test_text_shortens_many_notes_and_shows_every_error():
    """Errors first; the rest is in report.findings."""
    notes = [f'<odd{i}/>' for i in range(30)]
    broken = [link(f'b{i}', 1.0, tensor(1, 1, -1)) for i in range(20)]
    welds = [joint(f'w{i}', 'upper', f'b{i}', 'fixed') for i in range(20)]
    report = Robot.from_urdf(arm(*notes, *broken, *welds)).report()
    text = str(report)
    assert len(report.findings) == 50
    assert text.count('error:') == 20
    assert text.count('note:') == 12
    assert '20 errors, 0 warnings, 30 notes' in text and '18 more notes' in text


def test_as_dict_is_strict_json_with_every_field():
    """All of the report, nothing that JSON does not know, by the names of the fields."""
    made = Robot.from_urdf(EVERYTHING, armature={'turn': 0.7}).with_payload(
        'box', 'tool', 2.5, (0.1, 0.2, 0.3), np.eye(3))
    report = made.report()
    plain = report.as_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert list(plain) == [*report._fields, 'units']
    for part in ('links', 'joints', 'findings'):
        lines = getattr(report, part)
        assert [list(line) for line in plain[part]] == [list(line._fields) for line in lines]
        assert [next(iter(line.values())) for line in plain[part]] == [line[0] for line in lines]
    assert plain['payloads'] == {'box': {'frame': 'tool', 'mass': 2.5, 'com': [0.1, 0.2, 0.3],
                                         'inertia': np.eye(3).tolist()}}
    assert plain['joints'][0]['mimics'] == ['follow', 'follow_on']
    assert plain['links'][1]['com'] == list(report.links[1].com)


def test_as_dict_has_none_for_unknown_numbers():
    """No limit of the position, an unknown limit of velocity and effort."""
    def limits(kind, inside):
        text = arm(link('hand'), joint('wrist', 'upper', 'hand', kind, inside))
        wrist = Robot.from_urdf(text).report().as_dict()['joints'][1]
        return [wrist[key] for key in ('lower', 'upper', 'max_velocity', 'max_effort')]
    assert limits('continuous', '') == [None, None, None, None]
    assert limits('revolute', '<limit lower="-1" upper="2" effort="inf" velocity="nan"/>') == [
        -1.0, 2.0, None, None]


def test_as_dict_gives_the_unit_of_every_number():
    """Whatever holds numbers is a key of 'units', and nothing else is."""
    plain = Robot.from_urdf(EVERYTHING).with_payload('box', 'tool', 2.5).report().as_dict()
    units = plain.pop('units')
    tables = [plain, *plain['links'], *plain['joints'], *plain['payloads'].values()]
    assert {key for table in tables for key in table if holds_numbers(table[key])} == set(units)


def holds_numbers(value):
    if isinstance(value, list):
        return bool(value) and holds_numbers(value[0])
    return isinstance(value, (int, float))


def test_a_robot_without_mass_is_an_error():
    """A URDF made for visualisation."""
    text = robot(*(link(name, mass=None) for name in 'abc'), joint('j', 'a', 'b'),
                 joint('k', 'b', 'c'))
    (level, found), = findings(text, 'robot')
    assert level == 'error'
    assert '0 of 2 moving links have mass' in found


def test_a_joint_that_moves_no_mass_is_an_error():
    """Forward dynamics is not defined. The links are named too."""
    text = hand(mass=None)
    (level, found), = findings(text, 'wrist')
    assert level == 'error' and 'forward dynamics is not defined' in found
    (level, found), = findings(text, 'hand')
    assert level == 'warning' and 'without mass' in found and "'wrist'" in found
    assert findings(text, 'shoulder') == findings(text, 'upper') == []


def test_a_massless_chain_at_the_tip_is_an_error():
    """No joint of it meets inertia, also those that carry another link."""
    text = arm(link('a', None), link('b', None), joint('j', 'upper', 'a'), joint('k', 'a', 'b'))
    assert [findings(text, name)[0][0] for name in 'jk'] == ['error', 'error']


def test_a_massless_link_that_carries_mass_is_a_warning():
    """Three joints in one point are modelled so."""
    text = arm(link('a', None), link('b'), joint('j', 'upper', 'a'), joint('k', 'a', 'b'))
    assert findings(text, 'j') == []
    assert [level for level, _ in findings(text, 'a')] == ['warning']


@pytest.mark.parametrize('text', [
    hand(mass=None, inside=mimic('shoulder')), hand(mass=0.0)], ids=['mimic', 'inertia'])
def test_a_joint_that_meets_inertia_otherwise_is_no_error(text):
    """Its leader's mass or an inertia without mass: forward dynamics is defined, and it works."""
    made = Robot.from_urdf(text)
    assert not any('not defined' in finding.text for finding in made.report().findings)
    zero = np.zeros(made.nv)
    assert np.isfinite(made.forward_dynamics(zero, zero, zero)).all()


def test_armature_counts_as_inertia():
    """Of its own joint."""
    made = Robot.from_urdf(hand(mass=None), armature={'wrist': 0.1})
    assert not any('not defined' in finding.text for finding in made.report().findings)
    assert np.isfinite(made.forward_dynamics([0, 0], [0, 0], [0, 1])).all()


def test_payload_counts_as_mass():
    """A tool frame without mass that carries a box."""
    made = Robot.from_urdf(hand(mass=None)).with_payload('box', 'hand', 1.0, (0.1, 0.0, 0.0))
    assert not any(finding.where in ('wrist', 'hand') for finding in made.report().findings)


@pytest.mark.parametrize(('mass', 'inertia', 'level', 'words'), [
    (1.0, tensor(1, 1, -1), 'error', 'not positive definite'),
    (1.0, tensor(1, 1, 0), 'error', 'not positive definite'),
    (1.0, tensor(1, 1, 1, ixy=2), 'error', 'not positive definite'),
    (1.0, tensor(-1, -1, -1), 'error', 'not positive definite'),
    (1.0, tensor(1, 1, 3), 'error', 'triangle inequality'),
    (1.0, tensor(1, 1, 2.0001), 'error', 'triangle inequality'),
    (1.0, ZERO, 'warning', 'point mass'),
    (0.0, tensor(1, 1, 1), 'warning', 'inertia but no mass'),
])
def test_an_inertia_that_is_not_physical_is_reported(mass, inertia, level, words):
    """The link is named, with its principal moments."""
    found = findings(hand(mass, inertia), 'hand')
    assert found[-1][0] == level and words in found[-1][1]
    if level == 'error':
        assert 'principal moments' in found[-1][1]


@pytest.mark.parametrize('inertia', [
    tensor(1, 1, 2), tensor(1, 1, 2.000001), tensor(1, 1, 1e-5), tensor(1e-9, 1e-9, 1e-9)])
def test_a_physical_inertia_is_not_reported(inertia):
    """A plate in six written digits, a rod, a grain."""
    assert findings(hand(1.0, inertia), 'hand') == []


@pytest.mark.parametrize('xyz', ['0.1 0.2 0.3', '-3 5 0.7', '1000 0.001 -20', '0 0 0'])
def test_a_distant_point_mass_is_not_reported(xyz):
    """Rounding of the parallel-axis shift is no negative inertia."""
    mass_point = link('hand', 0.3, ZERO, f'<origin xyz="{xyz}" rpy="1 2 3"/>')
    text = arm(mass_point, joint('wrist', 'upper', 'hand'))
    assert findings(text, 'hand') == [('warning', 'has mass but no inertia: a point mass')]


def test_point_mass_on_the_fixed_base_does_not_matter():
    """Nothing moves it."""
    assert findings(robot(link('a', 1.0, ZERO)), 'a') == []


@pytest.mark.parametrize('inside', ['', '<limit lower="-1" upper="1" effort="0" velocity="1"/>',
                                    '<limit lower="-1" upper="1" velocity="1"/>'])
def test_an_effort_limit_of_zero_is_unknown(inside):
    """In the numbers and in the text."""
    text = hand(inside=inside)
    report = Robot.from_urdf(text).report()
    assert np.isnan(report.joints[1].max_effort)
    assert ('warning', 'effort limit 0 or absent: taken as unknown') in findings(text, 'wrist')
    assert 'unknown' in str(report)


def test_a_velocity_limit_of_zero_is_unknown():
    """Only a note: it is rarely needed."""
    found = findings(hand(inside='<limit lower="-1" upper="1" effort="1"/>'), 'wrist')
    assert found == [('note', 'velocity limit 0 or absent: taken as unknown')]


def test_mimic_is_noted():
    """At the leader."""
    (level, found), = findings(hand(inside=mimic('shoulder')), 'shoulder')
    assert level == 'note' and 'wrist' in found and 'mimic' in found


def test_damping_and_friction_are_noted():
    """With the joints that have them; not when they are switched off."""
    text = hand(inside=LIMIT + '<dynamics damping="1"/>')
    (level, found), = findings(text, 'robot')
    assert level == 'note' and 'damping' in found and 'wrist' in found
    assert findings(text, 'robot', friction=False) == []


def test_warnings_of_the_reader_are_noted():
    """With its message."""
    (level, found), = findings(arm('<loudspeaker/>'), 'description')
    assert level == 'note' and 'loudspeaker' in found


def test_a_chain_of_mimics_is_noted():
    """Leader and follower of each link of it."""
    text = hand().replace('</robot>', ''.join([
        link('f1', 1.0, BALL), joint('j1', 'hand', 'f1', inside=LIMIT + mimic('wrist')),
        link('f2', 1.0, BALL), joint('j2', 'hand', 'f2', inside=LIMIT + mimic('j1')), '</robot>']))
    sentence = "joint 'j2' mimics 'j1', which mimics 'wrist': the chain is folded"
    assert ('note', sentence) in findings(text, 'description')
