"""The type of argparse's subparsers, to which each command adds its parser."""

import argparse  # noqa: F401  (for type checkers: the class is not subscriptable at run time)
from typing import TypeAlias

Subparsers: TypeAlias = 'argparse._SubParsersAction[argparse.ArgumentParser]'
