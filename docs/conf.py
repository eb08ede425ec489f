"""Configure Sphinx for `make docs`. Pages are Markdown, read by MyST.

docs/README.md is the index; its links are the table of contents. The pages of docs/reference/ are
filled when the documentation is built: each comment `<!-- name -->` is replaced by the function
`name` of reference_pages.py. ROS is not needed.
"""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]

import docstrings  # noqa: E402
import reference_pages  # noqa: E402

import dynamics_node  # noqa: E402

project = 'dynamics_node'
author = 'The dynamics_node maintainers'
version = release = dynamics_node.__version__

extensions = ['myst_parser', 'sphinx.ext.autodoc']
root_doc = 'README'
myst_heading_anchors = 3  # GitHub's names of headings
html_theme = 'alabaster'
html_theme_options = {'description': 'Rigid-body dynamics for ROS 2 and Python'}

autodoc_default_options = {'members': True, 'inherited-members': 'tuple, Exception'}
autodoc_member_order = 'bysource'
autodoc_typehints_format = 'short'
autodoc_preserve_defaults = True
# The client is documented without ROS, and without the interfaces that CMake generates.
autodoc_mock_imports = ['rclpy', 'action_msgs', 'builtin_interfaces', 'diagnostic_msgs',
                        'geometry_msgs', 'lifecycle_msgs', 'nav_msgs', 'rcl_interfaces',
                        'sensor_msgs', 'std_msgs', 'std_srvs', 'trajectory_msgs',
                        'visualization_msgs', 'dynamics_node.action', 'dynamics_node.msg',
                        'dynamics_node.srv']


def fill(app, docname, source):
    """Replace each `<!-- name -->` by reference_pages.name(), mend links, add the contents.

    README.md and CONTRIBUTING.md of the repository are included by pages of docs/reference/; other
    links to folders outside of docs/ become text.
    """
    text = re.sub(r'<!-- (\w+) -->', lambda m: getattr(reference_pages, m[1])(), source[0])
    text = re.sub(r'\[([^]]*)\]\((?:\.\./)+[\w/]+\)', r'\1', text)
    if docname == root_doc:
        text = text.replace('](../README.md)', '](reference/overview.md)')
        text = text.replace('](../CONTRIBUTING.md)', '](reference/contributing.md)')
        pages = re.findall(r'\]\(([\w/]+)\.md\)', text)
        text += '\n'.join(['\n```{toctree}', ':hidden:', '', *dict.fromkeys(pages), '```\n'])
    source[0] = text


def setup(app):
    """Connect the steps above."""
    app.connect('source-read', fill)
    app.connect('autodoc-process-docstring', docstrings.to_rst)
    app.connect('autodoc-process-signature', docstrings.short_signature)
    app.connect('autodoc-skip-member', docstrings.skip_member)
