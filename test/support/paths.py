"""Define the paths of the checkout."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / 'docs'
EXAMPLES = ROOT / 'examples'
