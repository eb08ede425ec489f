"""Write HTML reports, with their numbers as JSON: of models, motions, identifications, data sets.

from dynamics_node.reports import model_report_page

html, numbers = model_report_page(robot)
"""

from typing import TYPE_CHECKING

from dynamics_node.lazy_names import lazy_names

if TYPE_CHECKING:   # editors and type checkers; at run time see lazy_names
    from dynamics_node.reports.annotation_page import annotation_report_page
    from dynamics_node.reports.fleet_page import fleet_report_page
    from dynamics_node.reports.identification_files import write_identification_files
    from dynamics_node.reports.identification_page import identification_report_page
    from dynamics_node.reports.model_page import model_report_page
    from dynamics_node.reports.trajectory_page import trajectory_report_page

__all__ = [
    'annotation_report_page',
    'fleet_report_page',
    'identification_report_page',
    'model_report_page',
    'trajectory_report_page',
    'write_identification_files',
]

_MODULES = {   # of this folder -> public names
    'annotation_page': ('annotation_report_page',),
    'fleet_page': ('fleet_report_page',),
    'identification_files': ('write_identification_files',),
    'identification_page': ('identification_report_page',),
    'model_page': ('model_report_page',),
    'trajectory_page': ('trajectory_report_page',),
}
__getattr__, __dir__ = lazy_names(__name__, _MODULES)
