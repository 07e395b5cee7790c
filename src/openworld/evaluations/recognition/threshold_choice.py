"""The thresholds that a rule chooses in a finished run, as a report, and the commands that use them."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from openworld._console import Ending
from openworld._errors import unknown_name
from openworld.evaluations.recognition.operating_point import OperatingSpec, with_operating_points
from openworld.evaluations.recognition.outcome import outcomes
from openworld.evaluations.recognition.report import Decision, decision_results, decisions, story_of, styles
from openworld.evaluations.recognition.results import RecognitionResults, join
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.results import RunFolder


@dataclass(frozen=True, eq=False)
class ThresholdChoice:
    run: RunFolder
    recognition: RecognitionResults
    decisions: tuple[Decision, ...]

    def report_of_run(self) -> Report:
        return story_of(self.run, self.recognition)

    def commands(self, decision: Decision) -> list[str]:
        """Return what to type next for the preferred learner of a setting; none where it was not kept."""
        # One line a seed, since each learned something else.
        if decision.preferred is None:
            return []
        facts = ("learner", "seed", "shots", "task", "test_domain")
        kept = [record for record in self.run.records if "learner/learner.json" in record.attachments]
        units = {tuple(record.metrics.get(name) for name in facts): record.name for record in kept}
        best, setting, lines = decision.preferred, decision.setting.key, []
        for seed, baseness in best.baseness.items():
            unit = units.get((best.learner, seed, setting.shots, setting.task, setting.test_domain))
            if unit and baseness is not None:
                words = ["openworld", "predict", str(self.run.folder), "IMAGES", "--unit", unit, "--run-names"]
                lines.append(shlex.join([*words, "--threshold", f"{baseness!r}"]))
        return lines


def decision_report(choice: ThresholdChoice) -> Report:
    """Return a report with a table and a sentence for each setting, and what to type next."""
    sentences = tuple(decision.text for decision in choice.decisions)
    text = [*sentences[1:], *(line for decision in choice.decisions for line in _next_lines(choice, decision))]
    tables = tuple(decision.table for decision in choice.decisions)
    page = Page(
        title="Where to run it",
        subtitle=(str(choice.run.folder),),
        verdict=sentences,
        sections=(Section("Operating points", tables=tables),),
        styles=styles(choice.recognition),
    )
    made = {"run": str(choice.run.folder)}
    return Report(decision_results(choice.recognition), tables, page, text=tuple(text), made=made, found=choice)


def _next_lines(choice: ThresholdChoice, decision: Decision) -> Iterator[str]:
    """Yield which learner validation images prefer, and the commands that use its thresholds."""
    if decision.preferred is not None and len(decision.table.rows) > 1:
        best = decision.preferred.learner
        yield f"({best} is best by what the validation images say; --learner chooses another.)"
    yield from (f"  {line}" for line in choice.commands(decision))


def choose_thresholds(folder: RunFolder, rule: OperatingSpec, learner: str = "", page: Path | None = None) -> Report:
    """Return the report of the thresholds that a rule chooses, and write that of the run with them as a page."""
    found = outcomes(folder)
    names = dict.fromkeys(outcome.learner for outcome in found)
    if learner and learner not in names:
        raise unknown_name(f"learner of {folder.folder}:", learner, names)
    kept = [outcome for outcome in found if learner in ("", outcome.learner)]
    recognition = join(with_operating_points(kept, rule))
    report = decision_report(ThresholdChoice(folder, recognition, decisions(recognition)))
    if page is None:
        return report
    report.found.report_of_run().save_report(page)
    return replace(report, ending=Ending(f"Report: {page}"))
