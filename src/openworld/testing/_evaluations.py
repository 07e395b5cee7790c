"""What every evaluation promises, checked through the command line on a small run of it.

`check_evaluation` does the run; each check asks one thing of what is there. A command may refuse with an
`OpenworldError`, which tells a person what to do; any other failure is a promise not kept.
"""

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openworld.core.errors import OpenworldError
from openworld.results import Results
from openworld.runs import RunStore
from openworld.testing._promises import by_name, check_all

FORMS = ("csv", "json", "markdown", "latex")
"""What `openworld report --table` makes of every run, beside what the terminal shows."""
_KILLED_AFTER_ONE_RECORD = """
import os, signal
from openworld.runs import RunStore
write = RunStore.write
def write_and_die(*arguments, **options):
    write(*arguments, **options)
    os.kill(os.getpid(), signal.SIGKILL)
RunStore.write = write_and_die
from openworld.cli.app import app
app()
"""


@dataclass(frozen=True)
class EvaluationRun:
    """A small run that has ended.

    Args:
        spec: a TOML file; folders that it names are relative to its own.
        folder: of the run's records; what it keeps in the cache lies in `cache` beside it.
        printed: what the terminal showed.
    """

    spec: Path
    folder: Path
    printed: str

    @property
    def name(self) -> str:
        """The evaluation, as specs call it."""
        return tomllib.loads(self.spec.read_text(encoding="utf-8")).get("protocol", "recognition")

    @property
    def cache(self) -> Path:
        """Where encoded images and trained models are kept."""
        return self.folder.parent / "cache"

    def ask(self, *arguments: object) -> str:
        """Return what a command prints, given in the folder of the spec; what it raises is let through."""
        return _ask(self.spec.parent, *arguments)

    def go_on(self, folder: Path) -> str:
        """Start the run of the spec in a folder, or go on with it there."""
        return self.ask("run", self.spec, *_options(folder, self.cache))

    def results(self, folder: Path | None = None) -> dict[str, bytes]:
        """Every file of the units that must not depend on how the run went."""
        units = (folder or self.folder) / "units"
        files = (path for path in sorted(units.rglob("*")) if path.is_file() and path.name != "timing.json")
        return {path.relative_to(units).as_posix(): path.read_bytes() for path in files}


def run_evaluation(spec: Path | str, place: Path | str) -> EvaluationRun:
    """Run a spec to its end.

    Args:
        spec: a TOML file of a tiny run with two units at least: some images, one epoch, few methods.
        place: an empty folder, for `run` and `cache`.

    Raises:
        OpenworldError: what the run was refused for.
    """
    spec, place = Path(spec).resolve(), Path(place).resolve()
    return EvaluationRun(spec, place / "run", _ask(spec.parent, "run", spec, *_options(place / "run", place / "cache")))


def check_evaluation(spec: Path | str) -> None:
    """Run a spec and every check; raises AssertionError for the first promise that is not kept.

    Args:
        spec: as for `run_evaluation`; the evaluation is the one that it names.
    """
    with tempfile.TemporaryDirectory() as place:
        try:
            ran = run_evaluation(spec, place)
        except Exception as error:  # any failure of an evaluation is a promise not kept
            raise AssertionError(f"{spec} does not run: {type(error).__name__}: {error}") from error
        check_all(EVALUATION_CHECKS, ran.name, ran)


def is_listed(ran: EvaluationRun) -> None:
    """`openworld list` names it."""
    assert ran.name in ran.ask("list", "evaluations"), f"openworld list evaluations does not name {ran.name}"


def ends_with_records_and_a_page(ran: EvaluationRun) -> None:
    """Every unit has a record that verifies; the terminal shows numbers and where page and records lie."""
    store = RunStore(ran.folder)
    records, planned = store.records(), store.planned()
    assert len(records) == len(planned) >= 2, f"{len(records)} records of {len(planned)} units; two at least are needed"
    assert not store.damaged(), f"records are damaged: {store.damaged()}"
    page = ran.folder / "report.html"
    assert page.is_file() and str(page) in ran.printed, "the terminal does not say where the page lies"
    assert any(character.isdigit() for character in ran.printed.partition("Report: ")[0]), "no number is shown"
    assert json.loads((ran.folder / "audit.json").read_bytes()), "class names were not looked at"


def started_again_computes_nothing(ran: EvaluationRun) -> None:
    """All records are there: nothing is trained, encoded or written, even with an empty cache."""
    before = {path: path.stat().st_mtime_ns for path in ran.folder.rglob("record.json")}
    empty = ran.folder.parent / "empty"
    output = ran.ask("run", ran.spec, *_options(ran.folder, empty), "--json")
    assert not empty.exists(), "something was put into the cache"
    assert {path: path.stat().st_mtime_ns for path in ran.folder.rglob("record.json")} == before, "a record is new"
    assert _finite(output), "--json shows nothing"


def goes_on_to_the_same_bytes(ran: EvaluationRun) -> None:
    """A run that lacks a part of its records, one of them damaged, makes them again to the last byte."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(ran.folder, Path(place) / "run"))
        _, damaged, *gone = sorted(folder.glob("units/*/record.json"))
        damaged.write_bytes(b"{}")
        for record in gone[::2]:
            shutil.rmtree(record.parent)
        ran.go_on(folder)
        assert ran.results(folder) == ran.results(), "the records differ from those of a run in one go"


def survives_a_kill(ran: EvaluationRun) -> None:
    """Killed for good after its first record, it goes on from there to the same bytes; starts a process."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        command = ["run", ran.spec, *_options(folder, ran.cache)]
        done = subprocess.run(
            [sys.executable, "-c", _KILLED_AFTER_ONE_RECORD, *map(str, command)],
            cwd=ran.spec.parent,
            capture_output=True,
            env=os.environ | {"HF_HUB_OFFLINE": "1"},
        )
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
        (first,) = folder.glob("units/*/timing.json")
        spent = first.read_bytes()
        ran.go_on(folder)
        assert first.read_bytes() == spent, "what was done before the kill was done again"
        assert ran.results(folder) == ran.results(), "the records differ from those of a run in one go"
        left = {path.name for path in folder.glob(".*")} - {".locks", ".writing"}
        assert not left and not list(folder.glob(".writing/*")), "the kill left something behind"


def is_reported_the_same_again(ran: EvaluationRun) -> None:
    """The page made from the records alone has the same bytes, and loads nothing."""
    again = ran.folder.parent / "again.html"
    ran.ask("report", ran.folder, "--out", again)
    page = again.read_bytes()
    assert page == (ran.folder / "report.html").read_bytes(), "made again, the page differs"
    assert b"default-src 'none'" in page, "the page may load something"


def is_exported_in_every_form(ran: EvaluationRun) -> None:
    """Every form has its numbers; CSV has rows of one length, JSON no NaN; the command shows and writes them."""
    from openworld.evaluations.finished_runs import read_report

    report, file = read_report(ran.folder), ran.folder.parent / "table.csv"
    texts: dict[str, Any] = {"text": ran.ask("report", ran.folder, "--table", "text")} | {
        form: report.export(form) for form in FORMS
    }
    for form, text in texts.items():
        assert any(character.isdigit() for character in text), f"{form} shows no number"
    rows = list(csv.reader(io.StringIO(texts["csv"])))
    assert len(rows) > 1 and len(set(map(len, rows))) == 1, "CSV has rows of several lengths, or none"
    assert _finite(texts["json"]), "JSON is empty"
    file.unlink(missing_ok=True)
    ran.ask("report", ran.folder, "--table", "csv", "--out", file)
    written = file.read_text(encoding="utf-8") if file.exists() else ""
    assert written.strip() == texts["csv"].strip(), "the file of csv is not the table of the report"
    assert _refusal(ran, "report", ran.folder, "--table", "no such form"), "an unknown form is let through"


def keeps_its_results_as_rows(ran: EvaluationRun) -> None:
    """`results.parquet` in the folder holds tidy rows, of which `openworld.results.Results` loses nothing."""
    results = Results.from_parquet(ran.folder / "results.parquet")
    assert len(results), "results.parquet holds no result"
    assert Results.from_json(results.to_json()) == results, "results change on their way through JSON"


def is_compared_with_itself(ran: EvaluationRun) -> None:
    """Two runs of it are compared, in words and as JSON."""
    from openworld.api.finished_runs import compare

    report = compare(ran.folder, ran.folder)
    assert "second − first" in repr(report), "no difference is shown"
    assert _finite(report.to_json()), "the comparison as JSON is empty"


def answers_or_refuses_every_command(ran: EvaluationRun) -> None:
    """Commands for finished runs that may not suit it say so in a sentence."""
    _refusal(ran, "decide", ran.folder, "--miss-rate", "0.5")
    _refusal(ran, "predict", ran.folder, ran.folder / "no such image")


def refuses_what_it_does_not_know(ran: EvaluationRun) -> None:
    """An unknown key, and no seed, are refused before a folder is made."""
    text = ran.spec.read_text(encoding="utf-8")
    head, _, tail = text.partition("\nseeds = ")
    for changed in (f"no_such_key = 1\n{text}", f"{head}\nseeds = []\n{tail.partition(chr(10))[2]}"):
        spec, folder = ran.folder.parent / "changed.toml", ran.folder.parent / "refused"
        spec.write_text(changed, encoding="utf-8")
        refused = _refusal(ran, "run", spec, *_options(folder, ran.cache))
        assert refused and not folder.exists(), f"this is let through: {changed[:200]}"


EVALUATION_CHECKS: Mapping[str, Callable[[EvaluationRun], None]] = by_name(
    is_listed,
    ends_with_records_and_a_page,
    started_again_computes_nothing,
    goes_on_to_the_same_bytes,
    survives_a_kill,
    is_reported_the_same_again,
    is_exported_in_every_form,
    keeps_its_results_as_rows,
    is_compared_with_itself,
    answers_or_refuses_every_command,
    refuses_what_it_does_not_know,
)
"""Name -> check; to be run one by one, for instance as parameters of a pytest test."""


def _options(folder: Path, cache: Path) -> tuple[str, ...]:
    return ("--out", str(folder), "--cache", str(cache), "--workers", "1", "--device", "cpu")


def _ask(place: Path, *arguments: object) -> str:
    """What a command prints, with every error let through as it was raised."""
    from openworld.cli.app import app
    from openworld.cli.in_process import invoke

    with chdir(place):
        done = invoke(app, ["--debug", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, f"openworld {' '.join(map(str, arguments))} ends with {done.exit_code}: {done.output}"
    return done.stdout


def _refusal(ran: EvaluationRun, *arguments: object) -> str:
    """The sentence with which a command refuses, or "" where it does not."""
    try:
        ran.ask(*arguments)
    except OpenworldError as error:
        assert str(error), "a refusal without a sentence"
        return str(error)
    return ""


def _finite(text: str) -> object:
    """What JSON holds; NaN and infinities, which JSON has not, raise."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"JSON holds {constant}")

    return json.loads(text, parse_constant=refuse)
