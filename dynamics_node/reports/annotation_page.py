"""Report on an annotated data set: what was added, how many rows are marked, in which files."""

import numpy as np

from dynamics_node.data.motion import MARKS
from dynamics_node.data.quantities import QUANTITIES
from dynamics_node.data.resumable_run import WrittenFiles
from dynamics_node.errors import several
from dynamics_node.reports.markup import Markup
from dynamics_node.reports.page_elements import bullets, facts, note, page, section, table

MOST_FILES = 50   # in the table: those with the largest share of marked rows
MEANINGS = {
    'no_position': 'a position or the time is not a number',
    'out_of_order': 'the time is not later than that of the rows before',
    'after_gap': 'rows are missing before this one; the filter begins anew',
    'edge': 'the filter has samples on one side only: derivatives are less accurate',
    'too_short': 'too few rows without a gap for derivatives',
    'no_effort': 'a measured effort is not a number',
    'outside_limits': 'a position is beyond a joint limit of the model',
}


def annotation_report_page(annotation: WrittenFiles) -> tuple[str, dict]:
    """Return (HTML page, its numbers for JSON) of an annotated data set."""
    counts, settings = annotation.counts, annotation.metadata['settings']
    rows = max(1, counts['rows'])
    html = page(
        f'Annotated data set: {annotation.metadata["robot"]}',
        {'model': annotation.metadata['model'], 'folder': annotation.out},
        facts({'rows': f'{counts["rows"]}', 'episodes': f'{counts["episodes"]}',
               'files': f'{len(annotation.files)}', 'failed': f'{len(annotation.failed)}',
               'marked rows': f'{counts["marked"] / rows:.2%}'}),
        section('Added columns', table('Names and units', {
            'column': [settings['prefix'] + name for name in settings['columns']],
            'unit': [QUANTITIES[name.partition(':')[0]].unit for name in settings['columns']]}),
            note('Filter of the positions: ' + (
                'not needed' if settings['cutoff'] is None else
                f'{settings["cutoff"]:.4g} Hz, forwards and backwards, by episode'))),
        section('Marked rows', note('All rows are kept. Values that cannot be computed are NaN.'),
                table('Marks, in the column annotation_marks', {
                    'mark': list(MARKS), 'value': list(MARKS.values()),
                    'rows': [counts[name] for name in MARKS],
                    'share [%]': np.array([100.0 * counts[name] / rows for name in MARKS]),
                    'meaning': [MEANINGS[name] for name in MARKS]})),
        section('Files', _files(annotation)),
        section('Failed', bullets(annotation.failed.values())) if annotation.failed else None)
    return html, {**annotation.metadata, 'counts': counts, 'files': annotation.files,
                  'failed': annotation.failed, 'resumed': annotation.resumed,
                  'seconds': annotation.seconds}


def _files(annotation: WrittenFiles) -> Markup | None:
    order = sorted(annotation.files.items(), key=lambda item: -item[1]['marked']
                   / max(1, item[1]['rows']))[:MOST_FILES]
    return table(f'{several(len(order), "file")} with the largest share of marked rows', {
        'file': [name for name, _ in order],
        'rows': [counts['rows'] for _, counts in order],
        'episodes': [counts['episodes'] for _, counts in order],
        'marked [%]': np.array([100.0 * counts['marked'] / max(1, counts['rows'])
                                for _, counts in order])})
