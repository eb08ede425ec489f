"""Write HTML reports, with their numbers as JSON: of a model, a trajectory, an identification.

from dynamics_node.reports import model_report_page

html, numbers = model_report_page(robot)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:   # editors and type checkers; at run time see __getattr__
    from dynamics_node.reports.identification_files import write_identification_files
    from dynamics_node.reports.identification_page import identification_report_page
    from dynamics_node.reports.model_page import model_report_page
    from dynamics_node.reports.trajectory_page import trajectory_report_page

__all__ = [
    'identification_report_page',
    'model_report_page',
    'trajectory_report_page',
    'write_identification_files',
]

_MODULES = {   # of this folder -> public names
    'identification_files': ('write_identification_files',),
    'identification_page': ('identification_report_page',),
    'model_page': ('model_report_page',),
    'trajectory_page': ('trajectory_report_page',),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(import_module(f'{__name__}.{_MODULE_OF[name]}'), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
