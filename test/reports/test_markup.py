"""Test markup: escaping, formatted numbers, small plots."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.html_checks import Page

from dynamics_node import DynamicsError
from dynamics_node.reports.digits import column, plain, shown
from dynamics_node.reports.markup import Markup, joined, path, tag
from dynamics_node.reports.plots import (
    Line,
    decimated,
    error_bars,
    limit_bars,
    line_plot,
    near,
    round_step,
    shortened,
    ticks,
)


@given(st.text(), st.text())
def test_escaped_texts_are_read_back_unchanged(text, value):
    """Any text, as content and in an attribute."""
    page = Page(tag('p', text, title=value))
    assert page.elements == [('p', {'title': value})]
    assert page.text == text


def test_only_markup_is_not_escaped():
    assert tag('p', '<b>', tag('i', '&')) == '<p>&lt;b&gt;<i>&amp;</i></p>'
    assert joined('<', Markup('<br>'), None) == '&lt;<br>'
    assert tag('rect', stroke_width=1.5, class_='a', x=None) == (
        '<rect stroke-width="1.5" class="a"></rect>')


def test_a_line_breaks_where_it_is_not_finite():
    """A coordinate that is not finite is refused."""
    assert path([0, 1, np.nan, 3, 4.126], [0, 1, 2, np.inf, 5]) == 'M0,0L1,1M4.13,5'
    with pytest.raises(DynamicsError, match='nan'):
        tag('circle', cx=float('nan'))


@pytest.mark.parametrize('value, text', [
    (0.0, '0'), (-0.0, '0'), (1.0, '1'), (-12.3456, '\u221212.35'), (12345.6, '12350'),
    (1.5e-7, '1.5e\u22127'), (3.2e9, '3.2e9'), (0.00012, '0.00012'), (np.nan, '\u2013'),
    (np.inf, '\u221e'), (-np.inf, '\u2212\u221e')])
def test_numbers_are_formatted_to_be_read(value, text):
    assert shown(value) == text


def test_a_column_has_as_many_decimals_as_its_greatest_number_needs():
    assert column([1.0, -12.3456, 0.0, np.nan]) == ['1.00', '\u221212.35', '0', '\u2013']
    assert column([1.0, 1e-6]) == ['1', '1e\u22126']   # else nothing were left of it
    assert column([100.0, 1e-12]) == ['100.0', '0']    # rounding
    assert column([]) == []


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_json_keeps_every_bit(value):
    got, = json.loads(json.dumps(plain(np.array([value])), allow_nan=False))
    assert got == value
    assert plain({'a': (np.nan, np.float64(2.0), np.int64(3), True)}) == {'a': [None, 2.0, 3, True]}


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e6))
def test_ticks_are_round_and_within(low, length):
    marks, step = ticks(low, low + length), round_step(length)
    assert 1 <= len(marks) <= 8
    assert (marks >= low - 1e-6 * step).all() and (marks <= low + length + 1e-6 * step).all()
    assert round(step / 10 ** np.floor(np.log10(step * 1.0000001)), 6) in (1, 2, 5)


def test_decimation_keeps_every_peak():
    """The least and the greatest of a line, wherever they are, and its ends."""
    rng = np.random.default_rng(3)
    x, y = np.arange(10_000.0), rng.normal(size=10_000)
    got_x, got_y = decimated(x, y)
    assert len(got_x) <= 402 and (np.diff(got_x) > 0).all()
    assert (got_y.min(), got_y.max()) == (y.min(), y.max())
    assert (got_x[0], got_x[-1]) == (0.0, 9999.0)
    assert (y[got_x.astype(int)] == got_y).all()


def test_limits_are_drawn_where_the_line_comes_near():
    line = Line('a', np.arange(3.0), np.array([0.0, 5.0, -1.0]))
    assert near([line], (-10.0, 10.0)).tolist() == [10.0]
    assert near([line], (-np.nan, np.nan)).tolist() == []
    assert line_plot('t', [line], 's', 'N', (-10.0, 10.0)).count('class="limit"') == 1


@pytest.mark.parametrize('y', [[0.0, 0.0], [3.0, 3.0], [np.nan, 1.0], [1e-12, 2e-12], [1e9, -1e9]])
def test_a_plot_of_any_numbers_is_finite(y):
    Page(line_plot('<t>', [Line('<a>', np.arange(2.0), np.array(y)),
                           Line('b', np.zeros(1), np.zeros(1), 'two')], '<s>', '<N>'))


def test_bars_end_at_the_limit():
    """A value beyond is as long as its track, red, and written in words."""
    svg = limit_bars('b', ['a', 'b', 'c'], np.array([5.0, -30.0, 1.0]),
                     np.array([10.0, 20.0, np.nan]), ['N', 'N', 'N'])
    bars = [element for name, element in Page(svg).elements
            if name == 'rect' and element['class'].startswith('bar')]
    tracks = [element for name, element in Page(svg).elements
              if name == 'rect' and element['class'] == 'track']
    assert [bar['class'] for bar in bars] == ['bar', 'bar over']
    assert float(bars[0]['width']) == pytest.approx(float(tracks[0]['width']) / 4)
    assert float(bars[1]['width']) == pytest.approx(float(tracks[1]['width']) / 2)
    assert float(bars[1]['x']) == float(tracks[1]['x'])
    assert '150 % of 20' in Page(svg).text


def test_error_bars_are_two_deviations_long():
    svg = error_bars('e', ['a', 'b'], np.array([1.0, 2.0]), np.array([0.25, np.nan]),
                     np.array([1.5, 2.0]), 'kg')
    whisker, = [element['d'] for name, element in Page(svg).elements
                if name == 'path' and element['class'] == 'whisker']
    dots = [float(element['cx']) for name, element in Page(svg).elements if name == 'circle']
    ends = [float(x) for x in re.findall(r'[ML](-?[\d.]+),', whisker)]
    # dots: before and after of a, before and after of b
    assert (max(ends) - min(ends)) == pytest.approx(2 * (dots[0] - dots[1]), abs=0.05)
    assert (max(ends) + min(ends)) / 2 == pytest.approx(dots[1], abs=0.02)


def test_long_names_keep_both_ends():
    assert shortened('gripper_left_inner_single_joint', 11) == 'gripp\u2026joint'
    assert shortened('short', 11) == 'short'
