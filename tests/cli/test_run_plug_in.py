"""An evaluation of another package runs, resumes, is reported and listed; what is unknown is refused with the names."""

import json

import pytest

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner

CODE = '''
"""How many letters words have."""
from dataclasses import dataclass
from typing import Literal
from openworld.evaluations.evaluation import Evaluation, Spec, entry_of
from openworld.runs import UnitResult


@dataclass(frozen=True)
class Letters(Spec):
    """Count letters."""

    words: tuple[str, ...]
    protocol: Literal["letters"] = "letters"
    name = entry_of("words")


def tasks(spec):
    return [spec.only(word=word) for word in spec.words]


def count(task, machine):
    return UnitResult(metrics={"protocol": "letters", "letters": len(task.name)})


EVALUATION = Evaluation("letters", Letters, tasks, count)
'''
LACKING = {
    "no Evaluation": (CODE.replace("EVALUATION = Evaluation", "EVALUATION = tuple  # "), "evaluate"),
    "no part": (CODE.replace("tasks, count)", "tasks)"), "evaluate"),
    "another name": (CODE.replace('Evaluation("letters"', 'Evaluation("words"'), "calls itself 'words'"),
    "nothing": (CODE.replace("EVALUATION =", "OTHER ="), "EVALUATION"),
}


@pytest.fixture
def openworld(tmp_path, monkeypatch):
    folder = tmp_path / "theirs-1.2.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.2\n")
    (folder / "entry_points.txt").write_text("[openworld.evaluations]\nletters = own_letters:EVALUATION\n")
    (tmp_path / "own_letters.py").write_text(CODE)
    (tmp_path / "words.toml").write_text('protocol = "letters"\nwords = ["open", "world"]\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, arguments)


def test_it_runs_and_its_numbers_are_told(openworld):
    for _ in range(2):  # begun, and gone on with
        done = openworld("run", "words.toml", "--out", "kept", "--device", "cpu", "--workers", "1")
        assert done.exit_code == 0 and "2 records" in done.output, done.output
    told = json.loads(openworld("report", "kept", "--table", "json").output)
    assert [one["metrics"]["letters"] for one in told] == [4, 5]
    assert "letters" in openworld("list", "evaluations").output


def test_a_page_that_it_does_not_bring_is_refused(openworld):
    openworld("run", "words.toml", "--out", "kept", "--device", "cpu", "--workers", "1")
    for command in (("report", "kept"), ("report", "kept", "--figures", "pdf"), ("compare", "kept", "kept")):
        refused = openworld(*command)
        assert refused.exit_code == 2 and "--table json" in refused.output, refused.output
    refused = openworld("report", "kept", "--table", "text")
    assert refused.exit_code == 2 and "json" in refused.output


def test_an_unknown_one_is_refused_with_those_that_there_are(openworld, tmp_path):
    (tmp_path / "words.toml").write_text('protocol = "leters"\nwords = ["open"]\n')
    refused = openworld("run", "words.toml")
    assert refused.exit_code == 2 and "letters" in refused.output and "ood-detection" in refused.output


@pytest.mark.parametrize("case", LACKING)
def test_one_that_lacks_a_part_is_refused_by_a_sentence(openworld, tmp_path, case):
    code, lacking = LACKING[case]
    place = tmp_path / f"own_{case.replace(' ', '_')}.py"
    place.write_text(code)
    entry = f"[openworld.evaluations]\nletters = {place.stem}:EVALUATION\n"
    (tmp_path / "theirs-1.2.dist-info" / "entry_points.txt").write_text(entry)
    refused = openworld("run", "words.toml")
    assert refused.exit_code == 2 and "theirs 1.2" in refused.output and lacking in refused.output
    assert "letters" in openworld("list", "evaluations").output  # in red, with the reason; nothing else suffers
