"""Test the table of services."""

import re

from support.paths import ROOT


def test_every_service_of_srv_is_served_under_its_name():
    """InverseDynamics.srv is inverse_dynamics, served by the function of that name."""
    from dynamics_node.ros.services.table import SERVICES
    assert sorted(path.stem for path in (ROOT / 'srv').glob('*.srv')) == sorted(
        kind.__name__ for kind, _ in SERVICES.values())
    for name, (kind, handler) in SERVICES.items():
        assert re.sub(r'(?<!^)([A-Z])', r'_\1', kind.__name__).lower() == name == handler.__name__
