"""What `openworld run` refuses before any work."""

import pytest

from openworld import OpenworldError
from openworld.cli._running import Manner, perform


def test_a_page_that_is_not_of_a_run_is_not_written_over(tmp_path):
    (tmp_path / "report.html").write_text("what openworld shift kept", encoding="utf-8")
    with pytest.raises(OpenworldError, match="holds the page of something else than a run"):
        perform(None, None, Manner(tmp_path), None)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
