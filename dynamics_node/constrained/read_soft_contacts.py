"""Read soft contacts from YAML or dicts, and write them.

    soft_contacts:
      - {name: heel, frame: foot, stiffness: 20000, damping: 100, friction: 0.8}

Every field of `SoftContact` may be given by its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from dynamics_node.constrained.soft_contact import SoftContact
from dynamics_node.yaml_records import read_lists, read_records

KEY = 'soft_contacts'


def read_soft_contacts(source: str | Mapping | Sequence[SoftContact | Mapping]
                       ) -> tuple[SoftContact, ...]:
    """Return the soft contacts of a YAML text, a dict, or a list of dicts and SoftContact."""
    entries, = read_lists('soft contacts', source, (KEY,))
    return read_records('soft contact', SoftContact, entries)


def soft_contacts_to_yaml(contacts: Sequence[SoftContact]) -> str:
    """Return the text from which `read_soft_contacts` reads the same contacts."""
    import yaml  # comes with rclpy; not needed to read dicts
    content = {KEY: [{field: list(value) if isinstance(value, tuple) else value
                      for field, value in asdict(contact).items()} for contact in contacts]}
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None, allow_unicode=True)
