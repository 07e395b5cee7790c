import sys
from pathlib import Path

import pytest

# Units name their functions, and spawned workers inherit this path: `example_units` must be importable by name.
sys.path.append(str(Path(__file__).parent))

from driven import finish  # noqa: E402


@pytest.fixture
def contents():
    """{relative path: bytes} of every file of a run that must not vary."""

    def read(folder):
        paths = (path for path in Path(folder).rglob("*") if path.is_file() and path.name != "timing.json")
        return {str(path.relative_to(folder)): path.read_bytes() for path in paths}

    return read


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """The folder of a run that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    finish("run", folder, 1, 0)
    return folder
