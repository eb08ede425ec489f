"""Confine the files that peers name to the folders of the parameter `shared_folders`.

A peer is any node on the graph: it may send goals and set parameters. What it names is read and
written only below these folders, after links are resolved. Values given at launch come from the
operator and may name any file; a value is one of those if it equals the value at launch.

The folders are trusted: another user of this machine, if able to write there, could exchange a file
for a link between check and use.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dynamics_node import yaml_records
from dynamics_node.errors import LONGEST_PATH, DynamicsError, FileError, shortened
from dynamics_node.model import urdf_text
from dynamics_node.parameter import names_of

LONGEST = 4000   # characters of a path: the kernel takes 4096 bytes
IS_PATH = {'robot_description': urdf_text.is_path, 'constraints': yaml_records.is_path,
           'springs': yaml_records.is_path}


class SharedFolders(NamedTuple):
    """Folders below which peers may name files."""

    paths: tuple[str, ...]

    @classmethod
    def of(cls, parameter: Sequence[str]) -> SharedFolders:
        """Return the folders of the parameter, or the default if it has none."""
        named = [os.path.expanduser(part) for part in names_of('shared_folders', parameter)]
        return cls(tuple(named or [default_folder()]))

    def below(self, what: str, path: str) -> str:
        """Return a path without links; a relative one begins in the first folder.

        :param what: names the path in the message.
        :raise DynamicsError: it leads out of the folders.
        """
        try:
            roots = [os.path.realpath(each) for each in self.paths]
            real = os.path.realpath(os.path.join(roots[0], path[:LONGEST + 1]))
            if len(path) <= LONGEST and any(os.path.commonpath([root, real]) == root
                                            for root in roots):
                return real
        except (OSError, ValueError):   # a null byte, half a character
            pass
        raise DynamicsError(
            f'{what} is {shortened(path, LONGEST_PATH)!r}; expected a path below '
            f'{" or ".join(self.paths)}: files elsewhere are not read or written at the request '
            'of another node. The parameter shared_folders names these folders, at start')

    def check_links(self, what: str, folder: str) -> None:
        """Raise a DynamicsError if a link in a folder, such as a bag, leads out of the folders."""
        if os.path.isdir(folder):
            with os.scandir(folder) as entries:
                for link in filter(os.DirEntry.is_symlink, entries):
                    self.below(f'{what}, by a link in it,', link.path)

    def make(self) -> None:
        """Create the default folder, for this user alone, if it is used and missing."""
        if self.paths == (default_folder(),):
            try:
                Path(self.paths[0]).mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise DynamicsError(f'cannot make the folder {self.paths[0]}: {error.strerror}; '
                                    'name another one by the parameter shared_folders') from error


def default_folder() -> str:
    """Return the default: dynamics_node in $ROS_HOME, or in ~/.ros."""
    home = os.environ.get('ROS_HOME') or os.path.join(os.path.expanduser('~'), '.ros')
    return os.path.join(home, 'dynamics_node')


class ParameterFiles:
    """The files that the parameters robot_description, constraints and springs may name."""

    def __init__(self, at_launch: Mapping[str, object], folders: SharedFolders) -> None:
        """Permit the values at launch, {name: value}, and files below the folders."""
        self._at_launch, self._folders = at_launch, folders

    def permitted(self, name: str, value: str) -> str:
        """Return the value of a parameter, a path of a peer without links.

        :raise DynamicsError: the path leads out of the folders.
        """
        return self._folders.below(f'parameter {name}', value) if self._of_peer(
            name, value) else value

    @contextmanager
    def checked(self, source: str | bytes, constraints: str, springs: str
                ) -> Iterator[tuple[str | bytes, str, str]]:
        """Permit robot_description, constraints and springs while a robot is built with them.

        An error about the content of a peer's file is replaced: messages must not show files.

        :param source: value of robot_description, or bytes of a message, which are text.
        """
        given = {'constraints': constraints, 'springs': springs}
        permitted = source
        if isinstance(source, str):
            given['robot_description'] = source
            permitted = self.permitted('robot_description', source)
        paths = [value for name, value in given.items() if self._of_peer(name, value)]
        loops = self.permitted('constraints', constraints)
        elements = self.permitted('springs', springs)
        try:
            yield permitted, loops, elements
        except DynamicsError as error:
            if not paths or _unreadable(error):
                raise
            named = ' and '.join(shortened(each, LONGEST_PATH) for each in paths)
            raise DynamicsError(
                f'no robot can be built with {named}; the content of a file is not shown to other '
                'nodes. To see the reason, run dynamics_node inspect on this machine, or send the '
                'text instead of the path') from None

    def _of_peer(self, name: str, value: str) -> bool:
        return value not in ('', self._at_launch.get(name)) and IS_PATH[name](value)


def _unreadable(error: BaseException | None) -> bool:
    """Return whether a file could not be read: the message is not about its content."""
    return error is not None and (isinstance(error, FileError) or _unreadable(error.__cause__))
