"""Test the check of contact forces: blocks that stick, slide, pull and tip."""

import numpy as np
import pytest
from support.rigid_robots import G, body, point, still, tilted
from support.tolerances import EXACT_MATHS

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.contact_forces import contact_forces
from dynamics_node.constrained.friction_cone import check_contacts
from dynamics_node.constrained.impact import impact
from dynamics_node.errors import DynamicsError

MASS, HEIGHT = 3.0, 0.25   # of the centre of mass above the sole


def standing(gravity, kind='flat_contact', sizes=None, **settings):
    """Return the ContactCheck of a block that stands still on one contact below its centre."""
    robot = body(mass=MASS, gravity=gravity)
    contact = Constraint('sole', kind, 'body', pose=(0.0, 0.0, -HEIGHT), **settings)
    found = contact_forces(robot.model, still(), np.zeros(6), np.zeros(6), [contact])
    check, = check_contacts([contact], found.force, sizes)
    return check


@pytest.mark.parametrize('angle', [0.0, 0.2, 0.5, 0.8])
def test_a_block_on_a_slope_needs_the_friction_of_its_angle(angle):
    """f_n = m g cos, f_t = m g sin: it sticks while tan(angle) <= mu."""
    mu = 0.6
    check = standing(tilted(angle), friction=mu)
    weight = MASS * G
    assert check.normal == pytest.approx(weight * np.cos(angle), rel=EXACT_MATHS)
    assert check.tangential == pytest.approx(weight * np.sin(angle), rel=EXACT_MATHS, abs=1e-12)
    assert check.ratio == pytest.approx(np.tan(angle), rel=EXACT_MATHS, abs=1e-12)
    assert check.margin == pytest.approx(mu * check.normal - check.tangential)
    assert check.verdict == ('sticking' if np.tan(angle) <= mu else 'sliding')


def test_a_force_on_the_cone_sticks_despite_rounding():
    """At exactly the angle of friction."""
    assert standing(tilted(np.arctan(0.6)), friction=0.6).verdict == 'sticking'


def test_an_upward_load_pulls_on_the_contact():
    """No friction can make such a force possible."""
    for mu in (0.6, np.nan):
        check = standing((0.0, 0.0, G), friction=mu)
        assert check.verdict == 'pulling'
        assert check.normal == pytest.approx(-MASS * G)
        assert check.pressure == ()
        assert check.support == 'unknown'


def test_unknown_friction_is_reported_as_unknown():
    """The ratio of tangential to normal force is still there."""
    check = standing(tilted(0.2))
    assert check.verdict == 'unknown'
    assert np.isnan(check.margin)
    assert check.ratio == pytest.approx(np.tan(0.2))


def test_the_centre_of_pressure_is_below_the_centre_of_mass():
    """On a slope it moves downhill by height tan(angle); outside the sole the block tips."""
    shift = HEIGHT * np.tan(0.3)
    for half, support in ((1.01 * shift, 'inside'), (0.99 * shift, 'outside')):
        check = standing(tilted(0.3), sizes={'sole': (half, 0.1)}, friction=1.0)
        assert check.pressure == pytest.approx((shift, 0.0), abs=1e-12)
        assert check.support == support
        assert check.verdict == 'sticking'
    assert standing(tilted(0.3), friction=1.0).support == 'unknown'


@pytest.mark.parametrize('turn', [0.0, 0.7, 2.5])
def test_the_centre_of_pressure_of_a_line_moves_along_it(turn):
    """By that part of the slope."""
    line = np.array([np.cos(turn), np.sin(turn), 0.0])
    robot = body(mass=MASS, gravity=-G * np.array([0.0, 0.0, 1.0]) + 2.0 * line)
    contact = Constraint('edge', 'line_contact', 'body', pose=(0.0, 0.0, -HEIGHT),
                         axis=tuple(line), friction=1.0)
    found = contact_forces(robot.model, still(), np.zeros(6), np.zeros(6), [contact])
    shift = HEIGHT * 2.0 / G
    for half, support in ((1.01 * shift, 'inside'), (0.99 * shift, 'outside')):
        check, = check_contacts([contact], found.force, {'edge': half})
        assert check.pressure == pytest.approx(tuple(shift * line[:2]), abs=1e-12)
        assert check.support == support
    assert check.ratio == pytest.approx(2.0 / G)


def test_a_tipping_block_pulls_at_its_uphill_feet():
    """The same verdict by four points as by a sole of their size."""
    angle = 0.7   # the centre of pressure is HEIGHT tan(0.7) = 0.21 m downhill
    robot = body(mass=MASS, gravity=tilted(angle))
    feet = [point(f'{x}{y}', (x, y, -HEIGHT), friction=1.0) for x in (-0.2, 0.2) for y in (-1, 1)]
    found = contact_forces(robot.model, still(), np.zeros(6), np.zeros(6), feet)
    verdicts = {check.name: check.verdict for check in check_contacts(feet, found.force)}
    assert verdicts['-0.2-1'] == verdicts['-0.21'] == 'pulling'
    assert 'pulling' not in (verdicts['0.2-1'], verdicts['0.21'])
    sole = standing(tilted(angle), sizes={'sole': (0.2, 1.0)}, friction=1.0)
    assert sole.support == 'outside'


def test_impulses_are_checked_like_forces():
    """A ball that lands pushes; one that would be caught from flying off pulls."""
    robot, contact = body(), point('c', (0, 0, 0), friction=0.5)
    for speed, verdict in ((-1.0, 'sticking'), (1.0, 'pulling')):
        hit = impact(robot.model, still(), np.array([0, 0, speed, 0, 0, 0]), [contact])
        assert check_contacts([contact], hit.impulse)[0].verdict == verdict


def test_only_contacts_are_checked_each_by_its_own_rows():
    """A weld may pull; rows of several constraints are kept apart."""
    weld, foot = Constraint('w', 'weld', 'body'), point('foot', (0, 0, 0), friction=0.5)
    force = [0, 0, -9, 0, 0, 0, 3.0, 4.0, 20.0]
    for order, rows in (([weld, foot], force), ([foot, weld], force[6:] + force[:6])):
        check, = check_contacts(order, rows)
        assert (check.name, check.tangential, check.normal, check.margin) == ('foot', 5.0, 20.0, 5)
        assert check.support == 'inside'


def test_a_contact_without_force_needs_no_friction():
    """Zero force is no pull."""
    check, = check_contacts([point('foot', (0, 0, 0), friction=0.5)], np.zeros(3))
    assert (check.verdict, check.ratio, check.margin, check.pressure) == ('sticking', 0.0, 0.0, ())
    assert check_contacts([], np.zeros(0)) == []


def test_mismatched_arguments_are_named():
    """A force of another size; a sole of no contact."""
    foot = point('foot', (0, 0, 0))
    with pytest.raises(DynamicsError, match='3 rows'):
        check_contacts([foot], np.zeros(4))
    with pytest.raises(DynamicsError, match="no contact 'hand'; there are: foot"):
        check_contacts([foot], np.zeros(3), {'hand': (0.1, 0.1)})
