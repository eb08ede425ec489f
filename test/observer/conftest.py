"""The simulated arm is an example, not part of the package: its folder is put on sys.path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'examples' / 'sim'))
