"""A command with parts: it is called as ever, and its parts as commands of their own."""

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from openworld.cli._parts import with_parts


@pytest.fixture
def app():
    def whole(needed: Annotated[str, typer.Option()]) -> None:
        """Do the whole."""
        print("whole", needed)

    def part(file: str, own: int = 0) -> None:
        """Do a part."""
        print("part", file, own)

    app = typer.Typer()
    app.command("other")(lambda: print("other"))
    app.add_typer(with_parts(whole, part=part), name="whole")
    return app


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("whole --needed part", "whole part"),
        ("whole part a.npz --own 2", "part a.npz 2"),
        ("other", "other"),
    ],
)
def test_the_first_word_says_what_works(app, words, printed):
    done = CliRunner().invoke(app, words.split())
    assert (done.exit_code, done.output.strip()) == (0, printed)


@pytest.mark.parametrize("words", ["whole", "whole --needed a parts", "whole part", "whole part a.npz --needed a"])
def test_wrong_use_is_refused_by_the_command_that_was_meant(app, words):
    assert CliRunner().invoke(app, words.split()).exit_code == 2


def test_help_of_the_whole_lists_its_parts_and_that_of_a_part_its_options(app):
    whole, part = (CliRunner().invoke(app, [*words, "--help"]).output for words in (["whole"], ["whole", "part"]))
    assert "Do the whole." in whole and "--needed" in whole and "Do a part." in whole
    assert "Do a part." in part and "--own" in part and "whole part" in part
