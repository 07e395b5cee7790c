"""Numbers that pages print of a demo run are those that a demo run gives, as far as they are the same everywhere.

Sums are rounded in another order on another kind of processor. That moves GMoP's detectors, which are trained from
random prompts over many steps, by up to two points, and nothing else by more than a tenth. To be short, the demo runs
with two learners of its four.
"""

import re
from contextlib import chdir
from dataclasses import replace

import pytest

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.evaluations.recognition import presets

pytestmark = pytest.mark.slow

LEARNERS = ("zero-shot", "CoOp")
COLUMNS = 7
"""OpenworldAUC, both ends of its interval, HM, AUROC, base and new accuracy."""
TABLES = {
    "docs/first-number.md": lambda text: block_with("points that GMoP misses", text),
    "docs/learners.md": lambda text: table_after("`openworld run examples/all-learners.toml`", text),
    "docs/embedded-world.md": lambda text: table_after("`openworld run examples/gmop-ablations.toml`", text),
}


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """What a command prints, in a folder and with a cache of its own."""
    folder = tmp_path_factory.mktemp("demo")
    short = replace(presets.PUBLISHED, learners=presets.PUBLISHED.learners[: len(LEARNERS)])

    def told(*arguments: str) -> str:
        env = {"OPENWORLD_CACHE": str(folder / "cache"), "COLUMNS": "160"}
        with chdir(folder), pytest.MonkeyPatch.context() as patch:
            patch.setitem(presets.PRESETS, "published", short)
            done = CliRunner().invoke(app, arguments, env=env)
        assert done.exit_code == 0, done.output
        return done.stdout

    return told


@pytest.fixture(scope="module")
def demo(ask):
    return ask("demo")


def row_of(learner: str, text: str) -> str:
    """The line of a table, or of a Markdown table, that is a learner's."""
    (row,) = re.findall(rf"^(?:\| )?{learner} [ |].*$", text, re.MULTILINE)
    return row


def points(text: str) -> list[float]:
    """Percentages, which have one decimal; of two intervals in a row the first."""
    text = re.sub(r"(\[[^]]*\] +)\[[^]]*\]", r"\1", text)
    return [float(number) for number in re.findall(r"(?<![\d.])\d+\.\d(?!\d)", text)][:COLUMNS]


def block_with(words: str, page: str) -> str:
    """The fenced block of a page that holds the words."""
    (block,) = [text for text in re.findall(r"```\n(.*?)```", page, re.DOTALL) if words in text]
    return block


def table_after(words: str, page: str) -> str:
    """What follows the words on a page, up to the next empty line after the table's head."""
    return page.partition(words)[2].partition("\n\n|")[2].partition("\n\n")[0]


@pytest.mark.parametrize("page", TABLES)
def test_rows_of_the_demo_are_as_printed(page, demo, repository):
    table = TABLES[page]((repository / page).read_text(encoding="utf-8"))
    for learner in LEARNERS:
        printed = points(row_of(learner, table))
        assert len(printed) == COLUMNS and printed == pytest.approx(points(row_of(learner, demo)), abs=0.3), learner


def test_the_operating_point_is_as_printed(demo, ask, repository):
    printed = block_with("runs/demo IMAGES", (repository / "docs/operating-point.md").read_text(encoding="utf-8"))
    decided = ask("decide", "runs/demo", "--miss-rate", "0.2")
    for learner in LEARNERS:
        assert row_of(learner, printed).split() == row_of(learner, decided).split()
