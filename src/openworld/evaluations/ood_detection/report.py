"""What an OOD-detection run says: its tables and figures under the questions that they answer; two runs of a pool."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from openworld._errors import OpenworldError
from openworld.evaluations.ood_detection.cell_contents import cell_counts, cell_images
from openworld.evaluations.ood_detection.drawn_metrics import FURTHER
from openworld.evaluations.ood_detection.facts import ShiftFacts
from openworld.evaluations.ood_detection.figures import level_figures
from openworld.evaluations.ood_detection.generated_report import generated_section
from openworld.evaluations.ood_detection.leads import Contender, area_test
from openworld.evaluations.ood_detection.maps import cell_differences, heat_maps
from openworld.evaluations.ood_detection.marginal_report import marginal_section
from openworld.evaluations.ood_detection.measurements import CELLS, TREND_METRICS
from openworld.evaluations.ood_detection.record import SUBSETS
from openworld.evaluations.ood_detection.results import DetectionResults
from openworld.evaluations.ood_detection.tables import (
    cell_tables,
    known_class_table,
    labelling_table,
    level_table,
    main_table,
    metric_table,
    model_table,
    trend_table,
)
from openworld.evaluations.ood_detection.verdict import axis_sentence, seeds_text, verdict
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.report.shift_axes import AXES
from openworld.report.table import Table
from openworld.results import Pair, Results, RunFolder, correct_for_many, pair_results

WHOLE_ALONE = "only the AUROC against the whole pool is tested"
CROWD = 24
"""Detectors beyond which a page has no room for a second and a third metric."""

SAME = ("pool", "test pictures")
"""What of a unit's inputs must be the same for two runs to be comparable."""


def story(run: RunFolder) -> Report:
    """The story of a run."""
    results = DetectionResults.read(run)
    page, tables = page_of(results), papers_of(results)
    return Report(results.rows, tables[:1], page, page.verdict[1:-1], papers=tables, run_folder=run)


def papers_of(results: DetectionResults) -> tuple[Table, ...]:
    """Return the tables of a paper, the main one first."""
    return main_table(results), trend_table(results, next(iter(TREND_METRICS))), *cell_tables(results)


def page_of(results: DetectionResults) -> Page:
    """Return the page of a run, or of scores that came without a model."""
    styles, facts = series_styles(results.facts.labels), results.facts
    trends = tuple(trend_table(results, metric) for metric in TREND_METRICS)
    models = (model_table(results),) if facts.has_models else ()
    further = Section("Every other number", tables=(level_table(results), *models))
    return Page(
        title="How far off, and is it seen?",
        subtitle=tuple(_subtitle(facts)),
        verdict=verdict(results),
        sections=(
            Section("The numbers", tables=(main_table(results), *trends), folded=(further,)),
            *_sections(results, styles),
        ),
        styles=styles,
        series="Detectors",
        facts=tuple(_provenance(facts)) if facts.has_models else (),
    )


def compare(first: Report, second: Report, metric: str) -> tuple[Pair, ...]:
    """The AUROC of detectors of one name and model against the whole pool, paired image by image.

    Models of other names are paired where each run has a single one. With the AUROC come the mean over the cells and
    the slopes on common cells; other metrics are paired by seed.

    Raises:
        OpenworldError: other images, other cells, or no detector that both have.
    """
    before, after = (ShiftFacts.read(side.run_folder) for side in (first, second))
    _require_same(before, after, (first.run_folder.folder, second.run_folder.folder))
    ours, theirs = first.results, second.results
    alone = len(before.models) == len(after.models) == 1
    if alone:
        theirs = _of_model(theirs, after.models[0], before.models[0])
    if metric not in ("", "auroc"):
        return pair_results(ours, theirs, metric)
    detectors = [(old, new) for old in before.detectors for new in after.detectors
                 if old.label == new.label and (alone or old.model == new.model)]  # fmt: skip
    if not detectors:
        raise OpenworldError(
            f"{first.folder} and {second.folder} have no detector of the same name and model in common."
        )
    tests = correct_for_many(area_test(Contender(after, new), Contender(before, old)) for old, new in detectors)
    pairs, images = [], {"images": SUBSETS[before.whole]}
    for (old, new), test in zip(detectors, tests, strict=True):
        values = (
            side.results.result(detector.label, "auroc", model=detector.model, **images)
            for side, detector in ((first, old), (second, new))
        )
        pairs.append(Pair(*values, test))
    means, slopes = ({"id_classes": before.counting, "cells": cells} for cells in CELLS)
    for pair in pair_results(_at(ours, "auroc", means), _at(theirs, "auroc", means)):
        pairs.append(replace(pair, comparison=replace(pair.comparison, p=None, reason=WHOLE_ALONE)))
    for axis in AXES:
        pairs += pair_results(*(_at(rows, "auroc_slope", slopes | {"axis": axis}) for rows in (ours, theirs)))
    return tuple(pairs)


def _sections(results: DetectionResults, styles: Mapping[str, SeriesStyle]) -> Iterator[Section]:
    """Figures and tables under the questions that they answer."""
    for axis in AXES:
        figures = level_figures(results, axis, styles)
        yield Section(f"Does {axis} shift raise the AUROC?", (axis_sentence(results, axis),), figures=figures)
    for figure in (heat_maps(results), cell_differences(results)):
        if figure is not None:
            yield Section(figure.title, figures=(figure,))
    contents = filter(None, (cell_counts(results.facts), cell_images(results.facts)))
    yield Section("What is in the cells?", figures=tuple(contents))
    if marginal := marginal_section(results.facts):
        yield marginal
    if generated := generated_section(results, styles):
        yield generated
    yield _further_section(results, styles)
    pool = results.facts.first.pool
    text = (
        f"{pool.known:,} of the pool's {pool.n:,} images are of in-distribution classes: out of distribution by their "
        "place in the pool, not by their label. With them a detector that sees classes appears worse than it is; "
        "without them nothing says what shift alone does to known classes."
    )
    if pool.known:
        yield Section("With and without in-distribution classes", (text,), tables=(known_class_table(results),))
    yield Section("How much is labelling?", tables=(labelling_table(results),))


def _further_section(results: DetectionResults, styles: Mapping[str, SeriesStyle]) -> Section:
    """Every metric as a mean; FPR@95 and AUPR by level and by cell, unless the page has no room for the detectors."""
    heading, tables = "False alarms and precision", (metric_table(results),)
    count = len(results.facts.detectors)
    if count > CROWD:
        text = f"FPR@95 and AUPR are drawn of up to {CROWD} detectors; of these {count} they are in results.parquet."
        return Section(heading, (text,), tables)
    drawings = {
        drawn.title: (
            *(figure for axis in AXES for figure in level_figures(results, axis, styles, drawn)),
            heat_maps(results, drawn),
        )
        for drawn in FURTHER
    }
    folded = (Section(f"{title} by level and by cell", figures=figures) for title, figures in drawings.items())
    return Section(heading, tables=tables, folded=tuple(folded))


def _subtitle(facts: ShiftFacts) -> Iterator[str]:
    first, (rows, columns) = facts.first, facts.shape
    if first.source.sources:
        yield ", ".join(dict.fromkeys(source["dataset"] for source in first.source.sources))
    if facts.has_models:
        yield f"{first.source.classes} classes known"
    if first.left_out:
        yield f"{len(first.left_out)} left out"
    if facts.has_models:
        yield counted(len(facts.models), "model")
    yield counted(len(facts.labels), "detector")
    yield f"{rows} × {columns} cells of {first.pool.n:,} images"
    if facts.has_models:
        yield seeds_text(facts)


def _provenance(facts: ShiftFacts) -> Iterator[tuple[str, str]]:
    """What records say of how the run was made, beside its spec."""
    first = facts.first
    yield "seeds", seeds_text(facts)
    yield "records", str(len(facts.records))
    if first.decomposition:
        split = first.decomposition
        yield " and ".join(AXES.values()), f"{split['method']} on {split['backbone']}, seed {split['seed']}"
        yield "shift degree", f"distance to the nearest training image number {first.neighbour}"
    for record in facts.records:
        if record.learner:
            training, settings = record.learner.sentences()
            yield f"training, {record.model}, seed {record.seed}", training
            yield f"settings, {record.model}, seed {record.seed}", settings
    for model in facts.models:
        for warning in dict.fromkeys(text for record in facts.of(model) for text in record.warnings):
            yield f"warning, {model}", warning


def _require_same(first: ShiftFacts, second: ShiftFacts, names) -> None:
    images = [{name: facts.outputs[0].unit.inputs.get(name) for name in SAME} for facts in (first, second)]
    same_cells = first.first.counts == second.first.counts and first.counting == second.counting
    if images[0] != images[1] or not same_cells:
        raise OpenworldError(
            f"{names[1]} judges other images, or other cells, than {names[0]}: their difference would be one of images "
            "too. Give runs of one pool, one id_part, one division and one id_kept."
        )


def _of_model(results: Results, model: str, name: str) -> Results:
    """The results with a model under another name."""
    rows = (replace(row, where=row.where | {"model": name}) if row.where.get("model") == model else row
            for row in results)  # fmt: skip
    return replace(results, rows=tuple(rows))


def _at(results: Results, metric: str, place: Mapping[str, str]) -> Results:
    """The results of a metric at a place that says no more than this and the model."""
    rows = (row for row in results.where(metric=metric, **place) if row.where.keys() == {"model", *place})
    return replace(results, rows=tuple(rows), comparisons=())
