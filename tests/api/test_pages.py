"""docs/for-papers.md and docs/pipelines.md: the examples run, those of trackers on stand-ins."""

import contextlib
import io
import re
import sys
from types import ModuleType

import pytest

import openworld as ow

BLOCK = re.compile(r"(<!-- not run: [^\n]+ -->\n\n)?```python\n(.*?)```(?:\n\n```text\n(.+?)```)?", re.DOTALL)


class Tracker(ModuleType):
    """Stands for a tracker's module: keeps the numbers, and refuses what MLflow refuses."""

    def __init__(self, name):
        super().__init__(name)
        self.numbers = {}
        self.start_run = self.init = self.SummaryWriter = lambda *_, **__: contextlib.nullcontext(self)
        self.log_artifact = lambda path: path.encode()

    def log_metrics(self, numbers):
        for name, number in numbers.items():
            self.add_scalar(name, number)

    log = log_metrics

    def add_scalar(self, name, number):
        assert re.fullmatch(r"[\w\-./ ]+", name) and isinstance(number, int | float)
        self.numbers[name] = number


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return ow.score({"side": ["base", "base", "new"], "score": [0.9, 0.2, 0.4], "correct": [1, 1, 1]})


@pytest.mark.parametrize("module", ["mlflow", "wandb", "torch.utils.tensorboard"])
def test_a_recipe_hands_every_number_to_the_tracker(repository, run, monkeypatch, module):
    page = (repository / "docs" / "pipelines.md").read_text(encoding="utf-8")
    (recipe,) = (code for _, code, _ in BLOCK.findall(page) if module in code.split("import")[0] + code.split("\n")[0])
    assert len([line for line in recipe.splitlines() if line]) <= 5
    tracker = Tracker(module)
    monkeypatch.setitem(sys.modules, module, tracker)
    exec(recipe, {"ow": ow, "run": run})  # the page is ours
    assert tracker.numbers == ow.metrics_of(run)


@pytest.mark.parametrize("page", ["for-papers.md", "pipelines.md"])
def test_the_examples_of_a_page_run_and_print_what_it_shows(repository, run, page):
    pytest.importorskip("matplotlib").use("Agg")
    names, blocks = {}, BLOCK.findall((repository / "docs" / page).read_text(encoding="utf-8"))
    for code, expected in ((code, expected) for not_run, code, expected in blocks if not not_run):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)  # the page is ours
        wanted = ".*".join(map(re.escape, " ".join(expected.split()).split("...")))
        assert not expected or re.fullmatch(wanted, " ".join(printed.getvalue().split()), re.DOTALL), printed.getvalue()
    assert "run" in names


def test_the_page_on_pipelines_has_the_exit_codes_of_the_command(repository):
    from openworld.report.checked_run import EXIT_CODES

    page = (repository / "docs" / "pipelines.md").read_text(encoding="utf-8")
    assert {f"| {code} |" for code in EXIT_CODES.values()} <= {line[:5] for line in page.splitlines()}
