"""Test the page about a fleet: the ranking, the changes over time, the numbers of the result."""

import json

import pytest
from support.html_checks import checked
from support.recorded_fleet import RecordedFleet

from dynamics_node.identification import identify_fleet, summarize
from dynamics_node.identification.recording_summary import summary_base
from dynamics_node.reports import fleet_report_page


@pytest.fixture(scope='module')
def found(kernels):
    """Four arms; one of them changes."""
    fleet = RecordedFleet(4)
    base = summary_base(fleet.robot)
    summaries = {name: [summarize(fleet.robot, fleet.recorded(values, k), base=base)]
                 for k, (name, values) in enumerate(fleet.arms.items())}
    grown = fleet.arms['arm_01'].copy()
    grown[fleet.layout.names.index('wrist.viscous')] += 0.3
    summaries['arm_01'].append(summarize(fleet.robot, fleet.recorded(grown, 9, day=3.0), base=base))
    return identify_fleet(fleet.robot, summaries)


def test_the_page_has_every_robot_and_every_change(found):
    html, answers = fleet_report_page(found, '<arm>', {'of': 'here'}, ('a <warning>',))
    checked(html)
    assert '&lt;arm&gt;' in html and 'a &lt;warning&gt;' in html and '<arm>' not in html
    assert all(each.name in html for each in found.robots)
    assert 'wrist.viscous (+' in html
    assert [each['name'] for each in answers['robots']] == [each.name for each in found.robots]
    assert answers['common']['values'] == found.values.tolist()
    json.dumps(answers, allow_nan=False)
    changed = next(each for each in answers['robots'] if each['name'] == 'arm_01')
    assert changed['drifts'][0]['days'] == pytest.approx(3.0)


def test_without_later_recordings_the_page_says_so(found):
    single = found._replace(robots=tuple(each._replace(drifts=()) for each in found.robots))
    assert 'No robot has more than one recording with a date' in fleet_report_page(single, 'arm')[0]
