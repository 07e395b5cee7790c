"""The streaming bench writes what it says and finds the accuracy that it made."""

import pytest
from streaming import measured, write


@pytest.mark.slow
def test_a_small_target(tmp_path):
    for name, strength, labelled in (("source", 3.0, True), ("target", 3.0, False)):
        write(tmp_path / f"{name}.parquet", 1000, 4, strength, labelled=labelled)
    name, accuracy, seconds, size = measured(tmp_path / "source.parquet", tmp_path / "target.parquet")
    assert name == "DoC" and accuracy == pytest.approx(0.95, abs=0.05)
    assert seconds >= 0 and size > 0
