"""What a run of recognition shows: numbers, tests, other mixes of images, where to run a learner, and its images.

The thresholds that a rule chooses in a finished run are a report of their own, with the commands that use them.
"""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from openworld.core.console import Ending
from openworld.core.errors import unknown_name
from openworld.evaluations.recognition.charts import albums, miss_hit
from openworld.evaluations.recognition.class_imbalance import MIXED, VARIANCES
from openworld.evaluations.recognition.comparison import compare_outcomes
from openworld.evaluations.recognition.operating_point import OperatingSpec, with_operating_points
from openworld.evaluations.recognition.operating_results import (
    LearnerOperatingPoint,
    preferred,
    sentence,
    thresholds_in_words,
    whether_it_holds,
    why_none,
)
from openworld.evaluations.recognition.outcome import outcomes
from openworld.evaluations.recognition.results import RecognitionResults, SettingResults, join
from openworld.evaluations.recognition_metrics import LOSSES, prediction_parts
from openworld.metrics import CLOSED_SET
from openworld.report.finished_runs import RunComparison
from openworld.report.layout import ENTITY, METRIC, Bars, Brief, Layout, Lines, Own, Pivot, Ranks, Scatter, Tests
from openworld.report.layout.parts import Part
from openworld.report.page import Page, Section
from openworld.report.provenance import unit_facts
from openworld.report.report import Report
from openworld.report.sentences import listed, span
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.report.table import Table
from openworld.results import METRICS, Results, RunFolder

SETTING = ("setting",)
BESIDE = ("setting", "task", "target", "domain", "shots", "ratio")
MAIN = (
    *("openworld_auc", "mean_rank", "harmonic_mean_of_means", "auroc", "base_accuracy", "new_accuracy"),
    *("tuned_parameters", "fit_seconds", "score_seconds"),
)
CLOSED = ("auroc", "base_accuracy", "fpr95_in_positive", "fpr95_out_positive", "aupr_in", "aupr_out", "aurc")
FURTHER = (
    *("harmonic_mean", "correct_auroc", "overall_accuracy", "aupr_in", "aupr_out", "fpr95_in_positive"),
    *("fpr95_out_positive", "expected_calibration_error", "aurc", *LOSSES, "latency"),
)
SIZES = ("groups", "fewest_training_images", "most_training_images", "friedman_p", "critical_difference")
RATES = ("miss", "hit", "false_alarm", "detected", "cost")
REACHED = ("threshold", "baseness_threshold", "miss", "hit", "cost", "least_miss", "most_hit")
COSTS = ("openworld_auc", "tuned_parameters", "fit_seconds", "score_seconds")
MIX, MIXES = "Other mixes of base and new images", ("openworld_auc", "overall_accuracy")
OF_MIXES = "Means over draws. A metric that tells learners apart stays level, while overall accuracy follows the mix."
KNOWN_FROM_DOMAINS = ("as given", "same domain", "other domain")  # splits that need no words of their own


def report(run: RunFolder) -> Report:
    all_pairs = isinstance(run.resolved, Mapping) and bool(run.resolved.get("all_pairs"))
    return story_of(run, join(outcomes(run), all_pairs=all_pairs))


def story_of(
    run: RunFolder, results: RecognitionResults, title: str = "", numbers: Results | None = None, **fields
) -> Report:
    """Return the report of a run by its results, which need not be as the records have them."""
    tasks = list(dict.fromkeys(setting.key.task for setting in results.settings))
    factor = run.resolved.get("imbalance_factor") if isinstance(run.resolved, Mapping) else None
    kept = f"one image in {factor:g}" if factor else "one image in several"
    shrunk = f"Forward: of every new class {kept} is kept; backward: of every base class {kept}."
    known = f"{listed(tasks)} in the open world" if len(tasks) <= 3 else f"{len(tasks)} tasks in the open world"
    first, *others = (_describe(setting) for setting in results.settings)
    brief = Brief(
        numbers or results.results(),
        next(iter(results.baselines), ""),
        subtitle=tuple(part for part in first if all(part in other for other in others)),
        facts=unit_facts(run.records),
        notes=dict.fromkeys(("settings", "numbers"), grouped(results)) | {"mixes": shrunk},
        words=_operating_words(results),
        sentences=tuple(_sentences(results)),
        styles=styles(results),
        source=results,
        run=run,
    )
    headline = CLOSED[0] if all(setting.closed_set for setting in results.settings) else MAIN[0]
    parts = (*_tables(results), *_charts(results))
    return Layout(title or known, headline, parts, SETTING, BESIDE).report(replace(brief, **fields))


def compare(first: Report, second: Report, metric: str) -> RunComparison:
    """Two runs, image by image; raises as `compare_outcomes`."""
    names = str(first.folder), str(second.folder)
    both = outcomes(first.records), outcomes(second.records)
    usual = "auroc" if any(outcome.test.closed_set for run in both for outcome in run) else "openworld_auc"
    return compare_outcomes(*both, metric or usual, names)


def grouped(results: RecognitionResults) -> str:
    """Say what images that are not independent have in common; "" where every image stands alone."""
    settings = [setting for setting in results.settings if setting.first.group_name]
    if not settings:
        return ""
    counts = span([setting.first.test.n_groups for setting in settings])
    return f"In intervals and tests images of one {settings[0].first.group_name} count together ({counts})."


def styles(results: RecognitionResults) -> dict[str, SeriesStyle]:
    return series_styles(results.learners, results.baselines)


def _tables(results: RecognitionResults) -> Iterator[Part]:
    """Numbers, other mixes and operating points; of several settings first OpenworldAUC of all of them."""
    numbers = "The numbers"
    closed = all(setting.closed_set for setting in results.settings)
    if len(results.settings) > 1 and not closed:
        yield Pivot("settings", numbers, MAIN[:1], columns=SETTING)
    yield Pivot("numbers", numbers, CLOSED if closed else MAIN, per=SETTING, terminal=True)
    yield Pivot("further", numbers, FURTHER, per=SETTING, folded=True)
    yield Tests("pairs", "Every pair", MAIN[:2] + CLOSED[:1], per=(*SETTING, "mix", "over"), folded=True)
    mixes = tuple(key for key in reversed(MIXED) if key not in MIXES)
    variances = tuple(metric.key for metric in VARIANCES.values())
    yield Pivot("mixes", MIX, MIXES, columns=("mix",), per=SETTING, note=OF_MIXES)
    yield Pivot("further-mixes", MIX, mixes + variances, columns=("mix", METRIC), per=SETTING, folded=True)
    yield Pivot("ratios", MIX, MIXES + mixes, rows=(ENTITY, "new_share"), per=SETTING, folded=True)
    yield from (part for _, part in operating_parts(results))
    yield Pivot(
        "validation", "Where to run it", REACHED, per=(*SETTING, "rule", "part"), of={"part": "validation"}, folded=True
    )


def _charts(results: RecognitionResults) -> Iterator[Part]:
    """What can be seen, and last what all of it rests on."""
    yield Ranks("critical-difference", "Which ranks differ?", ("mean_rank",), per=SETTING)
    if len({setting.key.shots for setting in results.settings}) > 1:
        yield Lines("shots", "What do more images buy?", MAIN[:1], along="shots", per=("task", "target", "domain"))
    yield Bars(
        "points-lost",
        "Where the points are lost",
        (MAIN[0], *LOSSES),
        per=SETTING,
        stacked=True,
        note="The longest hatched part is what to work on first.",
    )
    yield Own("miss-hit", "Few misses, many hits?", draw=_miss_hit)
    yield Scatter(
        "trade-off",
        "Naming against noticing",
        ("auroc", "harmonic_mean"),
        per=SETTING,
        dots=("seed",),
        guide="products",
        note="A dot per seed; the thin lines join equal products of the two.",
    )
    yield Scatter(
        "costs",
        "What does it cost?",
        COSTS,
        per=SETTING,
        guide="frontier",
        folded=len(results.settings) > 1,
        note="Nothing that costs as little or less reaches above the thin steps.",
    )
    yield Lines(
        "ratio",
        "Does the mix matter?",
        ("openworld_auc", "overall_accuracy"),
        along="new_share",
        per=SETTING,
        show="deviation",
        note="Bands: one standard deviation of a single draw of the images.",
    )
    yield from prediction_parts(SETTING)
    rests = "What this rests on"
    yield Pivot("sides", rests, ("images", "classes"), rows=("setting", "side"), folded=True)
    yield Pivot("groups", rests, SIZES, rows=SETTING, folded=True)
    yield Own("images", "The images", draw=lambda brief: albums(brief.source))


def _miss_hit(brief: Brief) -> list:
    points = [point for setting in brief.source.settings for point in setting.operating_points]
    rule = points[0].rule if points else None
    front = [setting.best for setting in brief.source.settings]
    learners = {setting.title: setting.outcomes for setting in brief.source.settings}
    return [miss_hit(learners, brief.styles, results=brief.results, rule=rule, front=(brief.baseline, *front))]


def operating_parts(results: RecognitionResults) -> Iterator[tuple[SettingResults, Pivot]]:
    """Yield every setting that has operating points, with the table of them."""
    for number, setting in enumerate(results.settings, 1):
        test, chosen_on = setting.first.test, setting.first.validation
        if setting.operating_points and chosen_on is not None:
            note = (
                f"Thresholds are chosen on {chosen_on.n_base} base and {chosen_on.n_new} new validation images, rates "
                f"are of {test.n_base} base and {test.n_new} new test images. Missed: base, flagged or misnamed. Hit: "
                "new, flagged and named right."
            )
            yield (
                setting,
                Pivot(
                    f"operating-{number}",
                    "Where to run it",
                    RATES,
                    per=(*SETTING, "rule"),
                    of={"setting": setting.title},
                    beside=BESIDE,
                    note=note,
                    terminal=True,
                ),
            )


def _operating_words(results: RecognitionResults) -> dict[str, dict[str, dict[str, str]]]:
    """The columns of words of operating points: the thresholds of every seed, and whether the rule holds on test."""
    return {
        part.name: {
            "threshold": {point.learner: thresholds_in_words(point) for point in setting.operating_points},
            "as required?": {point.learner: whether_it_holds(point) for point in setting.operating_points},
        }
        for setting, part in operating_parts(results)
    }


@dataclass(frozen=True)
class Decision:
    """The operating points of one setting: their table, and what the learner does that validation images prefer."""

    setting: SettingResults
    table: Table
    preferred: LearnerOperatingPoint | None  # None where no learner has a threshold for every seed
    text: str


def decisions(results: RecognitionResults) -> tuple[Decision, ...]:
    """Return the operating points of every setting that has some."""
    brief = Brief(decision_results(results), words=_operating_words(results))
    lines = []
    for setting, part in operating_parts(results):
        best = preferred(setting.operating_points)
        text = why_none(setting.operating_points) if best is None else sentence(best)
        lines.append(Decision(setting, next(part.tables(brief)), best, text))
    return tuple(lines)


def decision_results(results: RecognitionResults) -> Results:
    whole = results.results()
    return replace(whole, rows=tuple(row for row in whole if "rule" in row.where), comparisons=())


def _sentences(results: RecognitionResults) -> Iterator[str]:
    """Of one setting where the best loses its points; of each where to run it."""
    if len(results.settings) == 1:
        setting, best = results.settings[0], results.settings[0].best
        values = {metric.title: value.value for name, metric in LOSSES.items() if (value := setting.find(best, name))}
        losses = {title: loss for title, loss in values.items() if loss is not None}
        area, reached = METRICS["openworld_auc"], setting.auc(best)
        if setting.closed_set:
            yield f"There is no OpenworldAUC, since {CLOSED_SET}."
        elif losses and reached is not None:
            worst = max(losses, key=losses.__getitem__)
            yield (
                f"Of the {area.write(1 - reached)} points that {best} misses, the largest part is lost to "
                f"{worst} ({area.write(losses[worst])})."
            )
    lines = decisions(results)
    for decision in lines[:4]:
        text = f"{decision.setting.title}: {decision.text}" if len(lines) > 1 else decision.text
        yield f"Chosen on validation images, {text}" if decision.preferred else text


def _describe(setting: SettingResults) -> list[str]:
    key, facts, seeds = setting.key, setting.first.facts, max(map(setting.seeds, setting.learners), key=len)
    left_out = facts.get("left_out", ())
    parts = {
        key.domains: bool(key.domains),
        f"{key.split} split": key.split not in KNOWN_FROM_DOMAINS,
        f"{facts['n_base_classes']} base + {facts['n_new_classes']} new classes": facts["n_base_classes"] > 1,
        f"{len(left_out)} left out": bool(left_out) and not key.target,
        setting.shots: bool(setting.shots),
        f"{'seeds' if len(seeds) > 1 else 'seed'} {' '.join(map(str, seeds))}": True,
        key.backbone: True,
    }
    return [part for part, holds in parts.items() if holds]


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
        learners = [record for record in self.run.records if "learner/learner.json" in record.attachments]
        units = {tuple(record.metrics.get(name) for name in facts): record.name for record in learners}
        best, setting, lines = decision.preferred, decision.setting.key, []
        for seed, baseness in best.baseness.items():
            unit = units.get((best.learner, seed, setting.shots, setting.task, setting.test_domain))
            if unit and baseness is not None:
                words = ["openworld", "predict", str(self.run.folder), "IMAGES", "--unit", unit, "--run-names"]
                lines.append(shlex.join([*words, "--threshold", f"{baseness!r}"]))
        return lines


def choose_thresholds(folder: RunFolder, rule: OperatingSpec, learner: str = "", page: Path | None = None) -> Report:
    """Return the report of the thresholds that a rule chooses, and write that of the run with them as a page."""
    all_outcomes = outcomes(folder)
    names = dict.fromkeys(outcome.learner for outcome in all_outcomes)
    if learner and learner not in names:
        raise unknown_name(f"learner of {folder.folder}:", learner, names)
    kept = [outcome for outcome in all_outcomes if learner in ("", outcome.learner)]
    recognition = join(with_operating_points(kept, rule))
    choice = ThresholdChoice(folder, recognition, decisions(recognition))

    sentences = tuple(decision.text for decision in choice.decisions)
    tables = tuple(decision.table for decision in choice.decisions)
    text = [*sentences[1:]]
    for decision in choice.decisions:
        if decision.preferred is not None and len(decision.table.rows) > 1:
            best = decision.preferred.learner
            text.append(f"({best} is best by what the validation images say; --learner chooses another.)")
        text += [f"  {line}" for line in choice.commands(decision)]
    sections = (Section("Operating points", tables=tables),)
    shown = Page("Where to run it", (str(folder.folder),), sentences, sections, styles(recognition))
    made = {"run": str(folder.folder)}
    report = Report(decision_results(recognition), tables, shown, text=tuple(text), made=made, found=choice)
    if page is None:
        return report
    choice.report_of_run().save_report(page)
    return replace(report, ending=Ending(f"Report: {page}"))
