"""What a run of recognition by shift says: its tables, the verdict, levels, cells and estimates; two runs of a pool."""

from collections.abc import Iterator
from dataclasses import replace

from openworld.evaluations.recognition_by_shift.figures import (
    TRUTH,
    cell_figure,
    estimate_figure,
    level_figure,
    open_world_figure,
)
from openworld.evaluations.recognition_by_shift.record import PARTS
from openworld.evaluations.recognition_by_shift.results import (
    AUC,
    BY_LEVEL,
    FIELDS,
    LEVEL_START,
    SAME,
    RecognitionShiftFacts,
    RecognitionShiftResults,
)
from openworld.evaluations.recognition_by_shift.tables import (
    error_table,
    learner_table,
    level_table,
    open_world_error_table,
    open_world_table,
    trend_table,
)
from openworld.evaluations.recognition_by_shift.verdict import verdict
from openworld.evaluations.shots import shots_in_words, training_images
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.series_style import series_styles
from openworld.report.shift_axes import AXES
from openworld.report.table import Table
from openworld.results import Pair, RunFolder, pair_results


def story(run: RunFolder) -> Report:
    """The story of a run."""
    results = RecognitionShiftResults.read(run)
    facts = results.facts
    truth = [TRUTH] if facts.estimators else []
    styles = series_styles(
        [*facts.learners, *truth, *facts.estimators, *facts.open_world_estimators],
        [*filter(None, [facts.baseline]), *truth],
    )
    main = tuple(level_table(results, view, axis) for view, axis in BY_LEVEL)
    errors = tuple(error_table(results, axis) for axis in AXES) if facts.estimators else ()
    further = Section("Every other number", tables=tuple(_further(results)))
    sections = [Section("The numbers", tables=main, folded=(further,))]
    figures = [level_figure(results, view, axis, styles) for view, axis in BY_LEVEL]
    figures += [cell_figure(results, view) for view in FIELDS]
    sections += [Section(figure.title, figures=(figure,)) for figure in figures]
    if facts.estimators:
        tables = (*errors, learner_table(results))
        estimates = (estimate_figure(results, styles),)
        sections.append(Section("How accurate, without labels?", tuple(_warnings(facts)), tables, estimates))
    if facts.open_world_estimators:
        tables, figures = (
            (open_world_table(results), open_world_error_table(results)),
            (open_world_figure(results, styles),),
        )
        sections.append(Section("How good in an open world, without labels?", (), tables, figures))
    page = Page(
        title="How far off until it fails?",
        subtitle=tuple(_subtitle(facts)),
        verdict=verdict(results),
        sections=tuple(sections),
        styles=styles,
        series="Learners and estimators" if facts.estimators else "Learners",
        facts=tuple(_provenance(facts)),
    )
    return Report(results.rows, (*main, *errors), page, papers=(*main, trend_table(results), *errors), run_folder=run)


def compare(first: Report, second: Report, metric: str) -> tuple[Pair, ...]:
    """Numbers over all images, and by level where both runs start their levels at the same degrees; no cells."""
    both = first.results, second.results
    ours, theirs = (list(results.where(metric=LEVEL_START.key)) for results in both)
    left_out = {"semantic_level"} if ours == theirs else {"semantic_level", "level"}
    kept = (replace(results, rows=tuple(row for row in results if not left_out & row.where.keys())) for results in both)
    return pair_results(*kept, metric)


def _further(results: RecognitionShiftResults) -> Iterator[Table]:
    yield trend_table(results)
    for view, axis in BY_LEVEL:
        for part in PARTS:
            if part != AUC.key and (part != "base_accuracy" or view == SAME):
                yield level_table(results, view, axis, part)


def _warnings(facts: RecognitionShiftFacts) -> Iterator[str]:
    """A sentence per estimator that warned, with its first warning."""
    for name in facts.estimators:
        records = [record for records in facts.records.values() for record in records]
        estimates = [record.estimation.estimates[name] for record in records]
        warning = next((estimate.warning for estimate in estimates if estimate.warning), None)
        if warning:
            cells = sum(estimate.warned for estimate in estimates)
            yield f"{name} warned in {cells:,} cells of all learners and seeds; first: {warning}."


def _subtitle(facts: RecognitionShiftFacts) -> Iterator[str]:
    first = facts.first
    named = ([source.get("dataset"), source.get("domain")] for source in first.sources)
    sources = (", ".join(filter(None, parts)) for parts in named)
    yield f"tuned on {' + '.join(sources)}"
    yield f"{first.n_base_classes} base + {first.n_new_classes} new classes"
    if first.left_out:
        yield f"{len(first.left_out)} left out"
    records = [{"training_images": record.training_images} for runs in facts.records.values() for record in runs]
    yield shots_in_words(first.shots, training_images(records)) or "all images"
    yield f"seed{'s' * (len(facts.seeds) > 1)} {' '.join(map(str, facts.seeds))}"
    yield first.backbone


def _provenance(facts: RecognitionShiftFacts) -> Iterator[tuple[str, str]]:
    yield "seeds", " ".join(map(str, facts.seeds))
    yield "records", str(sum(map(len, facts.records.values())))
    yield "styles in the pool", ", ".join(facts.first.pool.styles)
