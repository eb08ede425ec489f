"""Tests of reports look at real robots too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / 'oracles'))  # robots.py
