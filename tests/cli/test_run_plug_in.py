"""An evaluation of another package runs, resumes, is reported and listed; what is unknown is refused with the names."""

import json

import pytest
from in_process import refused, told

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
    "no_evaluation": (CODE.replace("EVALUATION = Evaluation", "EVALUATION = tuple  # "), "evaluate"),
    "no_part": (CODE.replace("tasks, count)", "tasks)"), "evaluate"),
    "another_name": (CODE.replace('Evaluation("letters"', 'Evaluation("words"'), "calls itself 'words'"),
    "nothing": (CODE.replace("EVALUATION =", "OTHER ="), "EVALUATION"),
}
RUN = ("run", "words.toml", "--out", "kept", "--device", "cpu", "--workers", "1")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A function that makes a package look installed, whose plug-in is the code of a module; there is a spec, too."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "words.toml").write_text('protocol = "letters"\nwords = ["open", "world"]\n')
    folder = tmp_path / "theirs-1.2.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.2\n")

    def install(module, code):
        (folder / "entry_points.txt").write_text(f"[openworld.evaluations]\nletters = {module}:EVALUATION\n")
        (tmp_path / f"{module}.py").write_text(code)
        return tmp_path

    return install


def test_it_runs_and_its_numbers_are_told_and_a_page_that_it_does_not_bring_is_refused(installed):
    place = installed("own_letters", CODE)
    for _ in range(2):  # begun, and gone on with
        assert "2 records" in told(place, *RUN)
    records = json.loads(told(place, "report", "kept", "--table", "json"))
    assert [each["metrics"]["letters"] for each in records] == [4, 5]
    assert "letters" in told(place, "list", "evaluations")
    for command in (("report", "kept"), ("report", "kept", "--figures", "pdf"), ("compare", "kept", "kept")):
        refused("--table json", *command, cwd=place)
    refused("json", "report", "kept", "--table", "text", cwd=place)
    (place / "words.toml").write_text('protocol = "leters"\nwords = ["open"]\n')
    refused("did you mean 'letters'", "run", "words.toml", cwd=place)
    refused("ood-detection", "run", "words.toml", cwd=place)


@pytest.mark.parametrize("case", LACKING)
def test_a_plug_in_that_lacks_a_part_is_refused_by_a_sentence(installed, case):
    code, words = LACKING[case]
    place = installed(f"own_{case}", code)
    refused(words, "run", "words.toml", cwd=place)
    refused("theirs 1.2", "run", "words.toml", cwd=place)
    assert "letters" in told(place, "list", "evaluations")  # in red, with the reason; nothing else suffers
