"""Files beside the tests can be imported by their names, and so can the cases of the metrics."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "metrics")]


@pytest.fixture(scope="session")
def kept_of(tmp_path_factory):
    """A function of `kept_files.KEPT` -> what it makes, made once; who changes it puts it back."""
    made = {}

    def find(make):
        if make not in made:
            made[make] = make(tmp_path_factory.mktemp(make.__name__))
        return made[make]

    return find
