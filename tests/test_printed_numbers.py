"""Numbers that pages print of the demo: all pages say the same, and of zero-shot CLIP what a run gives.

The learners that are trained need minutes: `openworld demo` prints what the pages show of them.
"""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from openworld.evaluations.recognition import presets

sys.path.insert(0, str(Path(__file__).parent / "cli"))

from in_process import told  # noqa: E402

LEARNERS = ("zero-shot", "CoOp", "KgCoOp", "GMoP")
PARTS = {
    "docs/first-number.md": lambda text: block_with("points that GMoP misses", text),
    "docs/learners.md": lambda text: table_after("`openworld run examples/all-learners.toml`", text),
    "docs/embedded-world.md": lambda text: table_after("`openworld run examples/gmop-ablations.toml`", text),
}
"""Page -> where it has the rows of the demo."""


def row_of(learner: str, text: str) -> str:
    """The line of a table, or of a Markdown table, that is a learner's."""
    (found,) = re.findall(rf"^(?:\| )?{learner} [ |].*$", text, re.MULTILINE)
    return found


def numbers(row: str) -> list[float]:
    """OpenworldAUC, both ends of its interval, HM, AUROC, base and new accuracy, in percent with one decimal."""
    row = re.sub(r"(\[[^]]*\] +)\[[^]]*\]", r"\1", row)
    return [float(number) for number in re.findall(r"(?<![\d.])\d+\.\d(?!\d)", row)][:7]


def block_with(words: str, page: str) -> str:
    """The fenced block of a page that holds the words."""
    (found,) = [text for text in re.findall(r"```\n(.*?)```", page, re.DOTALL) if words in text]
    return found


def table_after(words: str, page: str) -> str:
    """What follows the words on a page, up to the next empty line after the table's head."""
    return page.partition(words)[2].partition("\n\n|")[2].partition("\n\n")[0]


def printed(page: str, learner: str, repository: Path) -> list[float]:
    return numbers(row_of(learner, PARTS[page]((repository / page).read_text(encoding="utf-8"))))


@pytest.mark.parametrize("learner", LEARNERS)
def test_pages_agree_on_the_demo(learner, repository):
    """Sums are rounded in another order on another kind of processor, which moves what is trained as long as GMoP is."""
    first, *others = (printed(page, learner, repository) for page in PARTS)
    moved = 4.0 if learner == "GMoP" else 0.3
    assert len(first) == 7 and all(other == pytest.approx(first, abs=moved) for other in others)


@pytest.mark.slow
def test_zero_shot_clip_is_as_printed(tmp_path, monkeypatch, repository):
    """It learns nothing: one image a class to learn from and one seed are as good as the demo's."""
    learners = presets.PUBLISHED.learners[:1]
    short = replace(presets.PUBLISHED, learners=learners, seeds=(1,), shots=1, views=1)
    monkeypatch.setitem(presets.PRESETS, "published", short)
    row = row_of("zero-shot", told(tmp_path, "demo", "--workers", "1"))
    assert numbers(row) == printed("docs/first-number.md", "zero-shot", repository)
    page = (repository / "docs/operating-point.md").read_text(encoding="utf-8")
    shown = row_of("zero-shot", told(tmp_path, "decide", "runs/demo", "--miss-rate", "0.2"))
    assert shown.split() == row_of("zero-shot", block_with("runs/demo IMAGES", page)).split()
