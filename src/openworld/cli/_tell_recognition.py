"""What the command line says of recognition: a table per setting, where the points go, and paired tests of two runs."""

from pathlib import Path

from openworld._errors import OpenworldError
from openworld.cli import console
from openworld.evaluations.recognition.exports import FORMS as RECOGNITION_FORMS
from openworld.evaluations.recognition.exports import export as export_tables
from openworld.evaluations.recognition.outcome import load as load_outcomes
from openworld.evaluations.recognition.page import build as build_page
from openworld.evaluations.recognition.terminal import losses_line, terminal_table

MORE = "Again with your own data: openworld run --help"


load, build = load_outcomes, build_page


def say(run, out) -> None:
    """Every table with where the points of its best learner go; headed by its title where there are several."""
    for table in run.summary.tables:
        if len(run.summary.tables) > 1:
            out.print(f"\n{table.title}", style="bold", markup=False)
        say_table(table, [table.best], out)
        say_operating(table, out)


def say_table(table, rows, out) -> None:
    """A table, and for some of its rows where the points go, or why that cannot be said."""
    out.print(terminal_table(table))
    for row in rows:
        out.print(_why_none(row) if row.openworld_auc is None else losses_line(row), markup=False)


def say_operating(table, out) -> None:
    """Where the learners are run, if the run has chosen that: a table, and of the preferred one a sentence."""
    from openworld.evaluations.recognition.operating_summary import all_run_at, preferred, sentence, why_none
    from openworld.evaluations.recognition.operating_tables import terminal_operating

    found = all_run_at(table)
    if found:
        best = preferred(found)
        out.print()
        out.print(terminal_operating(table))
        out.print(why_none(found) if best is None else sentence(best), markup=False)


def say_mixtures(run, out) -> None:
    """Learners with one half of the classes shrunk."""
    for table, drawn in zip(run.summary.tables, _mixtures(run.summary), strict=True):
        out.print(f"\n{table.title}", style="bold", markup=False)
        out.print(drawn)


TABLES = {"text": say, "mixtures": say_mixtures}


FORMS = (*RECOGNITION_FORMS, "mixtures-csv")


def export(run, form: str) -> str:
    """The tables, or with "mixtures-csv" those of other mixes."""
    from openworld.evaluations.recognition.imbalance_tables import mixes_csv

    if form != "mixtures-csv":
        return export_tables(run.summary, form)
    _mixtures(run.summary)
    return mixes_csv(run.summary.tables)


def compare(first: Path, second: Path, of: str, out, *, as_json: bool) -> None:
    """Learners of two runs, paired picture by picture."""
    from dataclasses import asdict

    from openworld.evaluations.recognition.pairing import compare_runs
    from openworld.report.data_files import json_text
    from openworld.results.settings_diff import differing_settings

    names = str(first), str(second)
    runs = load_outcomes(first), load_outcomes(second)
    found = compare_runs(runs[0].outcomes, runs[1].outcomes, of or "openworld_auc", names)
    known = {field for field, _, _ in found.changed} | {"dataset"}
    asked = [one for one in differing_settings(*runs) if one[0] not in known]
    if as_json:
        rows = [asdict(pair) | {"verdict": pair.verdict} for pair in found.pairs]
        console.write(json_text(asdict(found) | {"pairs": rows, "asked_differently": asked}))
        return
    for field, before, after in [*found.changed, *asked]:
        out.print(f"{field.replace('_', ' ')}: {before} → {after}", markup=False)
    out.print(_pairs(found, names))
    for sentence in found.unpaired:
        out.print(f"Not compared: {sentence}.", style="dim", markup=False)


def _why_none(row) -> str:
    reasons = {outcome.metrics["openworld_auc"]["reason"]: None for outcome in row.outcomes}
    return f"{row.learner} has no OpenworldAUC: {'; '.join(filter(None, reasons))}."


def _mixtures(summary) -> list:
    from openworld.evaluations.recognition.imbalance_tables import terminal_mixes

    drawn = [terminal_mixes(table) for table in summary.tables]
    if None in drawn:
        raise OpenworldError("these records hold no other mixes of base and new images; only a run of ours draws them.")
    return drawn


def _pairs(found, names: tuple[str, str]):
    from openworld import _terminal as terminal
    from openworld.report.text import percent, signed

    heads = (terminal.name(), *map(terminal.Head, ("first", "second", "difference")))
    rows = []
    for pair in found.pairs:
        difference = "–" if pair.test.difference is None else signed(pair.test.difference)
        if pair.interval:
            difference += f" [{signed(pair.interval[0])} {signed(pair.interval[1])}]"
        rows.append((pair.title, percent(pair.first), percent(pair.second), difference, pair.verdict))
    return terminal.TerminalTable((*heads, terminal.words("second against first")), rows, _caption(found, names))


def _caption(found, names: tuple[str, str]) -> str:
    from openworld.report.sentences import span

    images, groups = span([pair.images for pair in found.pairs]), span([pair.groups for pair in found.pairs])
    clustered = f" in {groups} groups" if groups != images else ""
    counts = [len(pair.seeds) for pair in found.pairs]
    seeds = f"mean of {span(counts)} seed" if max(counts) == 1 else f"means of {span(counts)} seeds"
    tested = sum(pair.test.p is not None for pair in found.pairs)
    corrected = f"; p after Holm over {tested} tests" if tested > 1 else ""
    return (
        f"First: {names[0]}. Second: {names[1]}. {found.of}, percent; {seeds}; [95 % over images, "
        f"n = {images}{clustered}, given the seeds]{corrected}."
    )
