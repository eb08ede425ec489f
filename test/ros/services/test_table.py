"""Test the table of services."""

import re

import pytest
from support.paths import ROOT

STATE = ('joint_names', 'position', 'velocity')
HEAD = ('success', 'message', 'joint_names', 'nq', 'nv', 'state_stamp', 'state_age', 'model_id')


def test_every_service_of_srv_is_served_under_its_name():
    """InverseDynamics.srv is inverse_dynamics, served by the function of that name."""
    from dynamics_node.ros.services.table import SERVICES
    assert sorted(path.stem for path in (ROOT / 'srv').glob('*.srv')) == sorted(
        kind.__name__ for kind, *_ in SERVICES.values())
    for name, (kind, handler, _) in SERVICES.items():
        assert re.sub(r'(?<!^)([A-Z])', r'_\1', kind.__name__).lower() == name == handler.__name__


@pytest.mark.parametrize(('part', 'head', 'services'), [('Request', STATE, 15),
                                                        ('Response', HEAD, 18)])
def test_services_with_a_state_begin_alike(part, head, services):
    """The same fields of the same types, in the same order; a question may come first."""
    from dynamics_node.ros.services.table import SERVICES
    fields = [getattr(kind, part).get_fields_and_field_types() for kind, *_ in SERVICES.values()]
    heads = [[(name, kind) for name, kind in each.items() if name != 'question'][:len(head)]
             for each in fields if set(head) <= set(each)]
    assert len(heads) == services
    assert heads == [heads[0]] * services
    assert [name for name, _ in heads[0]] == list(head)
