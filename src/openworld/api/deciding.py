"""Choose the threshold below which an image is flagged as new: what `openworld decide` does."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from openworld._errors import unknown_name
from openworld._types import checked
from openworld.evaluations.recognition.operating_point import OperatingSpec, with_operating_points
from openworld.evaluations.recognition.outcome import outcomes
from openworld.evaluations.recognition.report import Decision, decision_results, decisions, story_of, styles
from openworld.evaluations.recognition.results import RecognitionResults, join
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.results import RunFolder


@dataclass(frozen=True, eq=False)
class ThresholdChoice:
    """The thresholds that a rule chooses in a finished run."""

    run: RunFolder
    recognition: RecognitionResults
    decisions: tuple[Decision, ...]

    def report_of_run(self) -> Report:
        """Return the report of the run with the decision in it."""
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
    """Return a report with a table and a sentence for each setting."""
    sentences = tuple(decision.text for decision in choice.decisions)
    tables = tuple(decision.table for decision in choice.decisions)
    page = Page(
        title="Where to run it",
        subtitle=(str(choice.run.folder),),
        verdict=sentences,
        sections=(Section("Operating points", tables=tables),),
        styles=styles(choice.recognition),
    )
    made = {"run": str(choice.run.folder)}
    return Report(decision_results(choice.recognition), tables, page, made=made, found=choice)


@checked
def decide(
    run: Report | Path | str,
    *,
    miss_rate: float | None = None,
    hit_rate: float | None = None,
    cost_miss: float | None = None,
    cost_unhit: float | None = None,
    cost_kept: float | None = None,
    cost_hit: float | None = None,
    new_share: float | None = None,
    learner: str = "",
) -> Report:
    """Choose the threshold by one rule on the run's validation images, and measure it on its test images.

    Args:
        run: a finished run of recognition, or its folder.
        miss_rate: flag as many as this share of base images missed allows.
        hit_rate: flag as few as this share of new images hit allows.
        cost_miss, cost_unhit, cost_kept, cost_hit: what a base image costs that is flagged or misnamed, a new one that
            is not flagged or misnamed, a base image kept and named right, a new one flagged and named right.
        new_share: of the images where it will run; None for that of the run.
        learner: only this one; "" for all.

    Returns:
        A report: `.found.decisions` has each table and learner, `.found.commands(decision)` what to type next,
        and `.found.report_of_run()` is the report of the run with the decision in it.

    Raises:
        OpenworldError: no rule or two, a run without validation images, an unknown learner.
    """
    costs = {"base_missed": cost_miss, "new_unhit": cost_unhit, "base_kept": cost_kept, "new_hit": cost_hit}
    rule = OperatingSpec(miss_rate=miss_rate, hit_rate=hit_rate, new_share=new_share, **costs)
    folder = run.records if isinstance(run, Report) else RunFolder.read(run)
    found = outcomes(folder)
    names = dict.fromkeys(outcome.learner for outcome in found)
    if learner and learner not in names:
        raise unknown_name(f"learner of {folder.folder}:", learner, names)
    kept = [outcome for outcome in found if learner in ("", outcome.learner)]
    recognition = join(with_operating_points(kept, rule))
    return decision_report(ThresholdChoice(folder, recognition, decisions(recognition)))
