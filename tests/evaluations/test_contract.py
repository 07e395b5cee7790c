"""Every evaluation keeps every promise of `openworld.testing.check_evaluation`; one without a small spec fails."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from typing import ClassVar

import pytest
from small_specs import SMALL, draw
from without_torch import without_torch

import openworld as ow
from openworld.evaluations import EVALUATIONS
from openworld.testing import EVALUATION_CHECKS, EvaluationRun, _evaluations, check_evaluation, run_evaluation

KILLED = ("decomposed-zero-shot", "recognition-by-shift", "ood-benchmark")
"""The evaluations whose process is killed: one in the fast suite, and in the slow one those with most stages."""
LOOKS = ("is_reported_the_same_again", "is_exported_in_every_form", "is_compared_with_itself")
"""Checks of a finished run that need no torch: they are made where it cannot be imported."""
LOOK = """
from pathlib import Path
from openworld.testing import EVALUATION_CHECKS, EvaluationRun
EVALUATION_CHECKS["{}"](EvaluationRun(Path("{}"), Path("{}"), ""))
"""


@pytest.fixture(scope="session")
def ran(tmp_path_factory):
    """A function that gives the small run of an evaluation, made once."""
    place, made = tmp_path_factory.mktemp("evaluations"), {}
    draw(place)

    def run(name):
        if name not in made:
            spec = place / f"{name}.toml"
            spec.write_text(SMALL[name])
            made[name] = run_evaluation(spec, place / name)
        return made[name]

    return run


def cases():
    for name in EVALUATIONS:
        for check in (check for check in EVALUATION_CHECKS if check not in LOOKS):
            kills = check == "survives_a_kill"
            if not kills or name in KILLED:
                yield pytest.param(name, check, marks=[pytest.mark.slow] if kills and name != KILLED[0] else [])


def test_every_evaluation_is_enrolled():
    assert set(SMALL) == set(EVALUATIONS)


@pytest.mark.parametrize(("name", "check"), list(cases()))
def test_it_keeps_its_promise(ran, name, check):
    EVALUATION_CHECKS[check](ran(name))


@pytest.mark.parametrize(
    ("name", "stages", "holds"),
    [
        # 2 seeds of 1 epoch; 4 classes of 3 shots; a target and a corruption of 2 severities of 16 test images
        ("accuracy-estimation", ("trained 2 epochs in", "ran models on 64 images in"), {"1 checkpoint": 2}),
        # 1 seed of 1 epoch; 4 names in 4 sentences
        ("ood-detection", ("trained 1 epochs in", "read 16 sentences in"), {"1 checkpoint": 1, "a decomposition": 1}),
    ],
)
def test_stages_are_told_and_kept(ran, name, stages, holds):
    done = ran(name)
    printed = " ".join(done.printed.split())
    assert all(stage in printed for stage in stages), printed
    sets = json.loads(done.ask("cache", "--cache", done.cache, "--json"))
    kept = [each["holds"] for each in sets["sets"]]
    assert not sets["foreign"] and {each: kept.count(each) for each in holds} == holds, kept


def test_finished_runs_are_looked_at_and_specs_refused_without_torch(ran, tmp_path):
    runs = {name: ran(name) for name in EVALUATIONS}
    lines = [LOOK.format(check, runs[name].spec, runs[name].folder) for name in runs for check in LOOKS]
    words = ("report {0} --out page.html", "compare {0} {0}", "report {0} --table latex", "cite {0}")
    commands = [each.format(runs["recognition"].folder) for each in words]
    (tmp_path / "misspelt.toml").write_text('protocol = "recogniton"')
    refused = ("run missing.toml", "run misspelt.toml")
    done = without_torch(tmp_path, [*commands, *refused], lines)
    assert {line: done[line] for line in lines if done[line][0]} == {}
    assert {command: done[command][2] for command in commands if done[command][0]} == {}
    assert [done[command][0] for command in refused] == [2, 2]


@pytest.mark.slow
@pytest.mark.parametrize("name", EVALUATIONS)
def test_its_tables_compile(ran, name, tmp_path):
    """Those of the report, and of chosen numbers in every way of writing them."""
    program = shutil.which("pdflatex") or shutil.which("tectonic")
    if program is None:
        pytest.skip("neither pdflatex nor tectonic is installed")
    run = ow.open_run(ran(name).folder)
    tables = [run.export("latex"), *(run.to_latex(show=show) for show in ("interval", "deviation", ""))]
    head = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
    (tmp_path / "tables.tex").write_text(head + "\n".join(tables) + "\\end{document}\n", encoding="ascii")
    strict = ["-halt-on-error", "-interaction=nonstopmode"] if program.endswith("pdflatex") else []
    done = subprocess.run([program, *strict, "tables.tex"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and (tmp_path / "tables.pdf").exists(), done.stdout[-2000:]


class Broken(EvaluationRun):
    """A run of which some commands say something else, or fail otherwise than with a sentence."""

    said: ClassVar[Mapping[str, str | Exception]] = {}

    def ask(self, *arguments):
        for part, answer in self.said.items():
            if part in " ".join(map(str, arguments)):
                if isinstance(answer, Exception):
                    raise answer
                return answer
        return super().ask(*arguments)


@pytest.mark.parametrize(
    ("said", "check", "why"),
    [
        ({"list evaluations": "another-evaluation"}, "is_listed", "does not name"),
        ({"--table csv": ""}, "is_exported_in_every_form", "not the table of the report"),
        ({"--table text": "nothing to report"}, "is_exported_in_every_form", "text shows no number"),
        ({"--table text": KeyError("foo")}, "is_exported_in_every_form", "KeyError"),
        ({"decide": KeyError("foo")}, "answers_or_refuses_every_command", "KeyError"),
        ({"run ": '{"value": NaN}'}, "started_again_computes_nothing", "NaN"),
        ({"changed.toml": "done"}, "refuses_what_it_does_not_know", "let through"),
    ],
)
def test_a_broken_promise_is_named(ran, monkeypatch, said, check, why):
    whole = ran("decomposed-zero-shot")
    monkeypatch.setattr(Broken, "said", said)
    monkeypatch.setattr(_evaluations, "run_evaluation", lambda *_: Broken(whole.spec, whole.folder, whole.printed))
    monkeypatch.setattr(_evaluations, "EVALUATION_CHECKS", {check: EVALUATION_CHECKS[check]})
    with pytest.raises(AssertionError, match=f"decomposed-zero-shot breaks a promise, {check}: .*{why}"):
        check_evaluation(whole.spec)


def test_what_does_not_run_is_said(tmp_path):
    (tmp_path / "small.toml").write_text('protocol = "no-such"')
    with pytest.raises(AssertionError, match="does not run: OpenworldError: unknown protocol 'no-such'"):
        check_evaluation(tmp_path / "small.toml")
