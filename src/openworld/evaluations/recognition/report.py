"""What a run of recognition says: tables and verdict, figures, other mixes, operating points, images."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from openworld.evaluations.recognition.album import albums
from openworld.evaluations.recognition.data_sets import table_of
from openworld.evaluations.recognition.figures import FIGURES
from openworld.evaluations.recognition.operating_results import LearnerOperatingPoint, preferred, sentence, why_none
from openworld.evaluations.recognition.outcome import Outcome, outcomes
from openworld.evaluations.recognition.pairing import compare_outcomes
from openworld.evaluations.recognition.results import RecognitionResults, SettingResults, join
from openworld.evaluations.recognition.tables import (
    further_table,
    imbalance_table,
    main_table,
    operating_table,
    overview_table,
    variation_table,
)
from openworld.evaluations.recognition.verdict import losses_line, verdict
from openworld.report.figure import Figure
from openworld.report.page import Page, Section
from openworld.report.provenance import spent
from openworld.report.report import Report
from openworld.report.run_comparison import RunComparison
from openworld.report.sentences import listed
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.report.table import Table
from openworld.results import Results, RunFolder

KNOWN_FROM_DOMAINS = ("as given", "same domain", "other domain")
"""Splits that need no words of their own."""


def story(run: RunFolder) -> Report:
    """The story of a run of recognition, or of predictions that were scored."""
    all_pairs = isinstance(run.resolved, Mapping) and bool(run.resolved.get("all_pairs"))
    return story_of(run, join(outcomes(run), all_pairs=all_pairs))


def story_of(run: RunFolder, results: RecognitionResults) -> Report:
    """The story of a run by its results, which need not be as the records have them."""
    mains, mixes, chosen = main_tables(results), _mixes(results), decisions(results)
    page = Page(
        title=_title(results),
        subtitle=tuple(_subtitle(results)),
        verdict=verdict(results),
        sections=tuple(_sections(results, mains, mixes, chosen)),
        styles=styles(results),
        facts=tuple(_durations(results)),
    )
    tables = (*_overview(results), *mains, *(decision.table for decision in chosen))
    text = (*page.verdict, *_losses(results), *_sentences(chosen))
    return Report(
        results.results(), tables, page, text[1:], papers=(*tables, *(pair[0] for pair in mixes)), run_folder=run
    )


def compare(first: Report, second: Report, metric: str) -> RunComparison:
    """Two runs, image by image; raises as `compare_outcomes`."""
    names = str(first.run_folder.folder), str(second.run_folder.folder)
    both = outcomes(first.run_folder), outcomes(second.run_folder)
    usual = "auroc" if any(outcome.record.closed_set for run in both for outcome in run) else "openworld_auc"
    return compare_outcomes(*both, metric or usual, names)


@dataclass(frozen=True)
class Decision:
    """The operating points of one setting: their table, and what the learner does that validation images prefer.

    Args:
        setting: which.
        table: of all learners.
        preferred: None where no learner has a threshold for every seed; `text` then says why.
        text: a sentence.
    """

    setting: SettingResults
    table: Table
    preferred: LearnerOperatingPoint | None
    text: str


def decisions(results: RecognitionResults) -> tuple[Decision, ...]:
    """The operating points of every setting that has some."""
    return tuple(
        _decision(setting, f"operating-{place}")
        for place, setting in enumerate(results.settings, 1)
        if setting.operating_points
    )


def _decision(setting: SettingResults, name: str) -> Decision:
    best = preferred(setting.operating_points)
    text = why_none(setting.operating_points) if best is None else sentence(best)
    return Decision(setting, operating_table(setting, name), best, text)


def decision_results(results: RecognitionResults) -> Results:
    """Every number of the operating points."""
    whole = results.results()
    return replace(whole, rows=tuple(row for row in whole if "rule" in row.where), comparisons=())


def main_tables(results: RecognitionResults) -> tuple[Table, ...]:
    """The table of every setting."""
    return tuple(main_table(setting, f"table-{place}") for place, setting in enumerate(results.settings, 1))


def figures(results: RecognitionResults) -> tuple[Figure, ...]:
    """Every figure that the run has numbers for."""
    chosen = styles(results)
    drawn = (figure(results.settings, chosen) for figure in FIGURES)
    return tuple(figure for figure in drawn if figure is not None)


def styles(results: RecognitionResults) -> dict[str, SeriesStyle]:
    """The style of every learner, on the whole page."""
    return series_styles(results.learners, results.baselines)


def _overview(results: RecognitionResults) -> tuple[Table, ...]:
    if results.over_datasets:
        opponent = next(iter(results.baselines), None)
        places = enumerate(results.over_datasets)
        return tuple(table_of(means, opponent, f"overview{place or ''}") for place, means in places)
    return (overview_table(results),) if len(results.settings) > 1 else ()


def _mixes(results: RecognitionResults) -> list[tuple[Table, ...]]:
    """Of every setting whose records hold them, the table of both directions and that of all ratios."""
    pairs = (
        (imbalance_table(setting, f"imbalance-{place}"), variation_table(setting, f"all-ratios-{place}"))
        for place, setting in enumerate(results.settings, 1)
    )
    return [tuple(filter(None, pair)) for pair in pairs if pair[0] is not None]


def _losses(results: RecognitionResults) -> Iterator[str]:
    """Where the points go, setting by setting."""
    for setting in results.settings:
        if setting.closed_set:  # the verdict says why there is no such number
            continue
        several = f"{setting.title} · " if len(results.settings) > 1 else ""
        for learner in (setting.best,) if setting.trained else setting.learners:
            if line := losses_line(setting, learner):
                yield f"{several}{line}"


def _sentences(chosen: Sequence[Decision]) -> list[str]:
    """The sentences of operating points, told apart where there are several."""
    several = len(chosen) > 1
    return [f"{decision.setting.title} · {decision.text}" if several else decision.text for decision in chosen]


def _sections(
    results: RecognitionResults, mains: Sequence[Table], mixes: Sequence[Sequence[Table]], chosen: Sequence[Decision]
) -> Iterator[Section]:
    """The numbers, of one setting at once, of several an overview and each on demand; what follows from them."""
    overview = _overview(results)
    folded = [Section(table.title, tables=(table,)) for table in mains if overview]
    further = (further_table(setting, f"further-{place}") for place, setting in enumerate(results.settings, 1))
    folded.append(Section("Every other number", tables=tuple(further)))
    if mixes:
        heading = "Other mixes of base and new images: one half shrunk, and all ratios"
        folded.append(Section(heading, tables=tuple(table for pair in mixes for table in pair)))
    yield Section("The numbers", tables=overview or tuple(mains), folded=tuple(folded))
    if chosen:
        best = "Chosen as the best on validation images, and measured on test images: "
        texts = zip(chosen, _sentences(chosen), strict=True)
        lines = (text if decision.preferred is None else f"{best}{text}" for decision, text in texts)
        yield Section("Where to run it", tuple(lines), tuple(decision.table for decision in chosen))
    for figure in figures(results):
        yield Section(figure.title, figures=(figure,))
    if images := albums(results):
        yield Section("The images", albums=tuple(images))


def _title(results: RecognitionResults) -> str:
    tasks = list(dict.fromkeys(setting.key.task for setting in results.settings))
    return f"{listed(tasks)} in the open world" if len(tasks) <= 3 else f"{len(tasks)} tasks in the open world"


def _subtitle(results: RecognitionResults) -> list[str]:
    """What, on what, with what: all that the settings have in common."""
    first, *others = (_describe(setting) for setting in results.settings)
    return [part for part in first if all(part in other for other in others)]


def _describe(setting: SettingResults) -> list[str]:
    key, seeds, record = setting.key, setting.most_seeds, setting.first.record
    parts = {
        key.domains: bool(key.domains),
        f"{key.split} split": key.split not in KNOWN_FROM_DOMAINS,
        f"{record.n_base_classes} base + {record.n_new_classes} new classes": record.n_base_classes > 1,
        f"{len(record.left_out)} left out": bool(record.left_out) and not key.target,
        setting.shots: bool(setting.shots),
        f"seed{'s' * (len(seeds) > 1)} {' '.join(map(str, seeds))}": True,
        key.backbone: True,
    }
    return [part for part, holds in parts.items() if holds]


def _durations(results: RecognitionResults) -> Iterator[tuple[str, str]]:
    """Seeds, the number of records, and how long each learner took."""
    yield "seeds", " ".join(map(str, sorted({outcome.record.seed for outcome in results.outcomes})))
    yield "records", str(sum(outcome.has_own_fit for outcome in results.outcomes))
    for learner in results.learners:
        of_learner = [outcome for outcome in results.outcomes if outcome.record.learner == learner]
        if text := spent([outcome.record.epochs for outcome in of_learner], map(_seconds, of_learner)):
            yield learner, text


def _seconds(outcome: Outcome) -> dict[str, float]:
    """The seconds of every stage, those of a fit only once."""
    return {stage: value for stage, value in outcome.seconds.items() if stage != "fit" or outcome.has_own_fit}
