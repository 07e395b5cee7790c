"""What `openworld list` prints of methods without importing them is what it would print of them now."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from list_rows import PATH, text  # noqa: E402


def test_the_written_rows_are_those_of_the_methods():
    assert PATH.read_text(encoding="utf-8") == text(), "run python tools/list_rows.py"
