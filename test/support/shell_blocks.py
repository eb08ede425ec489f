"""Read the shell commands of a page, as bash expands them."""

import os
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

from support.paths import ROOT

PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted((ROOT / 'docs').glob('*.md')),
         *sorted((ROOT / 'examples').rglob('*.md'))]
FENCE = re.compile(r'^ *```(\w*)\n(.*?)^ *```$', re.M | re.S)
NEEDS = '# needs: '   # the first line of a block that a test cannot execute, with the reason
RECORDED = ('ros2', 'dynamics_node', 'make', 'python', 'pip', 'sudo', 'pre-commit')
# Programs that are executed; PATH is empty, so that any other one is an error.
EXECUTED = {'python3': sys.executable, 'cp': shutil.which('cp')}
PRELUDE = """
set -eu
exec 3> .recorded
record() { printf '%s\\0' "$@" >&3; printf '\\n\\0' >&3; }
""" + ''.join([*(f'{name}() {{ record {name} "$@"; }}\n' for name in RECORDED),
               *(f'{name}() {{ {path} "$@"; }}\n' for name, path in EXECUTED.items())])


class Block(NamedTuple):
    """A fenced block of shell commands."""

    page: str
    text: str

    @property
    def marked(self):
        """Whether it says that it needs something which a test does not have."""
        return self.text.startswith(NEEDS)

    def __str__(self):
        first = next(line for line in self.text.splitlines() if not line.startswith('#'))
        return f'{self.page}: {first[:60]}'


def shell_blocks():
    """Return the Blocks of all pages, in their order."""
    return [Block(page.name, text) for page in PAGES
            for language, text in FENCE.findall(page.read_text()) if language in ('bash', 'sh')]


def other_blocks():
    """Return the text of each fenced block that has no language."""
    return [text for page in PAGES for language, text in FENCE.findall(page.read_text())
            if not language]


def commands_of(block, folder):
    """Return the commands of a block, lists of words, as bash runs them in a folder.

    Programs in EXECUTED are executed, those in RECORDED are only recorded; any other one is an
    error. A command in the background has '&' as its last word.
    """
    text = re.sub(r' &( *#.*)?$', " '&'", block.text, flags=re.M)
    done = subprocess.run([shutil.which('bash'), '-c', PRELUDE + text], cwd=folder, timeout=60.0,
                          env={'USER': 'me', **os.environ, 'PATH': ''}, capture_output=True,
                          text=True)
    assert done.returncode == 0, f'{block}:\n{done.stderr}'
    recorded = (folder / '.recorded').read_text().split('\n\0')
    return [words.rstrip('\0').split('\0') for words in recorded if words]
