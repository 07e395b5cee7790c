"""A function named as "package.module:function": found in the current folder first, and refused in one sentence."""

import sys

import pytest

from openworld import OpenworldError
from openworld.core.functions import find_function


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside_me.py").write_text("def answer():\n    import its_neighbour\n    return its_neighbour.NUMBER\n")
    (tmp_path / "its_neighbour.py").write_text("NUMBER = 42\n")
    (tmp_path / "fails_on_import.py").write_text("1 / 0\n")
    (tmp_path / "leaves_python.py").write_text("import sys\nsys.exit(0)\n")


def test_files_of_the_current_folder_are_found_and_find_their_neighbours(here):
    assert find_function("beside_me:answer")() == 42


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_such_module:f", "ModuleNotFoundError.*current folder"),
        ("beside_me:other", "AttributeError.*'other'"),
        ("fails_on_import:f", "ZeroDivisionError"),
        ("leaves_python:f", "cannot be imported .SystemExit: 0"),
        ("its_neighbour:NUMBER", "is a int, expected a function"),
        ("beside_me", "package.module:function"),
    ],
)
def test_what_cannot_be_had_is_refused(here, name, words):
    with pytest.raises(OpenworldError, match=words):
        find_function(name)
