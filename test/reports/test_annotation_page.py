"""Test the report of an annotated data set: a valid page with its counts."""

from support.html_checks import Page

from dynamics_node.data import WrittenFiles
from dynamics_node.data.motion import MARKS
from dynamics_node.data.motion import __doc__ as table_of_marks
from dynamics_node.reports import annotation_report_page
from dynamics_node.reports.annotation_page import MEANINGS

COUNTS = {'rows': 1000, 'episodes': 3, 'marked': 120, **dict.fromkeys(MARKS, 0), 'edge': 120}
SETTINGS = {'columns': ['gravity', 'pose:tool<0>'], 'prefix': '', 'cutoff': None}


def test_the_page_has_the_counts():
    found = WrittenFiles('out', {'robot': 'arm & hand', 'model': '0123', 'settings': SETTINGS},
                         {f'{k}.parquet': COUNTS for k in range(60)},
                         {'bad.parquet': 'bad.parquet: <no> file'}, 1, 2.5)
    html, numbers = annotation_report_page(found)
    page = Page(html)
    text = ' '.join(page.texts)
    assert '60000' in text and '12.00%' in text and 'pose:tool<0>' in text
    assert 'bad.parquet: <no> file' in text and 'arm & hand' in text
    assert numbers['counts']['edge'] == 60 * 120 and numbers['resumed'] == 1


def test_every_mark_has_its_meaning():
    """In the report, and in the table of motion.py."""
    assert list(MEANINGS) == list(MARKS)
    for name, value in MARKS.items():
        assert f'| {value} `{name}` |' in table_of_marks
