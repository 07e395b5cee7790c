"""docs/learners.md is true to the code: what each learner is, its published settings, the example."""

import re

import pytest

from openworld.learners import LEARNERS, TASKS
from openworld.learners.engine.costs import tuned_parameters


@pytest.fixture(scope="module")
def page(repository):
    return (repository / "docs" / "learners.md").read_text(encoding="utf-8")


def rows(page, heading):
    """The cells of each learner's row in the first table under a heading."""
    section = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return {
        cells[0]: cells[1:] for cells in ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:])
    }


def spelt(schedule):
    return f"{schedule.epochs} x {schedule.batch_size} at {schedule.learning_rate:g}"


def test_every_learner_has_its_row(page):
    told = rows(page, "What they are")
    assert list(told) == list(LEARNERS)
    for name, learner in LEARNERS.items():
        paper, trains, sees, numbers = told[name]
        consumed = {"embeddings": "plain"}.get(learner.consumes, learner.consumes)
        assert (paper, trains) == (learner.paper, learner.tunes)
        assert sees == (consumed if hasattr(learner, "start") else "nothing")
        assert numbers == f"{tuned_parameters(learner.published('')):,}".replace(",", " ")


def test_published_settings(page):
    told = rows(page, "Published settings")
    assert list(told) == [name for name, learner in LEARNERS.items() if hasattr(learner, "start")]
    for name, cells in told.items():
        for task, cell in zip(TASKS, cells, strict=False):
            shown = cells[0] if cell == "same" else cell
            assert shown.endswith(spelt(LEARNERS[name].published("", task).schedule)), (name, task)
        assert re.search(r"[\w-]+/[\w.-]+ @ [0-9a-f]{7}", cells[-1])
