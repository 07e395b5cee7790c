"""Files beside the tests can be imported by their names."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def world():
    from made_up_stream import made_up

    return made_up()


@pytest.fixture
def other():
    from made_up_stream import another

    return another()
