"""What an OOD-detection run says: its tables and figures under the questions that they answer; two runs of a pool."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from openworld._errors import OpenworldError
from openworld.evaluations.ood_detection.facts import Detector, ShiftFacts
from openworld.evaluations.ood_detection.figures import cell_counts, cell_differences, heat_maps, level_curves
from openworld.evaluations.ood_detection.leads import Contender, area_test
from openworld.evaluations.ood_detection.record import SUBSETS
from openworld.evaluations.ood_detection.results import CELLS, results
from openworld.evaluations.ood_detection.tables import (
    TREND_METRICS,
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
from openworld.report.sentences import counted
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.report.shift_axes import AXES
from openworld.report.story import Story
from openworld.results import Pair, Results, RunFolder, correct_for_many, pair_results

WHOLE_ALONE = "only the AUROC against the whole pool is tested"
SAME = ("pool", "test pictures")
"""What of a unit's inputs must be the same for two runs to be comparable."""


def story(run: RunFolder) -> Story:
    """The story of a run."""
    found, facts = results(run)
    styles, table, sentences = series_styles(facts.labels), main_table(found, facts), verdict(found, facts)
    trends = tuple(trend_table(found, facts, metric) for metric in TREND_METRICS)
    further = Section("Every other number", tables=(level_table(found, facts), model_table(found, facts)))
    page = Page(
        title="How far off, and is it seen?",
        subtitle=tuple(_subtitle(facts)),
        verdict=sentences,
        sections=(
            Section("The numbers", tables=(table, *trends), folded=(further,)),
            *_sections(found, facts, styles),
        ),
        styles=styles,
        series="Detectors",
        facts=tuple(_provenance(facts)),
    )
    papers = (table, trends[0], *cell_tables(found, facts))
    return Story(run, found, (table,), page, text=sentences[:-1], papers=papers)


def compare(first: Story, second: Story, metric: str) -> tuple[Pair, ...]:
    """The AUROC of detectors of one name and model against the whole pool, paired image by image.

    Models of other names are paired where each run has a single one. With the AUROC come the mean over the cells and
    the slopes on common cells; other metrics are paired by seed.

    Raises:
        OpenworldError: other images, other cells, or no detector that both have.
    """
    before, after = (ShiftFacts.read(one.run) for one in (first, second))
    _require_same(before, after, (first.run.folder, second.run.folder))
    ours, theirs = first.results, second.results
    alone = len(before.models) == len(after.models) == 1
    if alone:
        theirs = _of_model(theirs, after.models[0], before.models[0])
    if metric not in ("", "auroc"):
        return pair_results(ours, theirs, metric)
    both = [(one, other) for one in before.detectors for other in after.detectors if _alike(one, other, alone)]
    if not both:
        raise OpenworldError(
            f"{first.run.folder} and {second.run.folder} have no detector of the same name and model in common."
        )
    tests = correct_for_many(area_test(Contender(after, other), Contender(before, one)) for one, other in both)
    pairs = [_pair((first.results, before), (second.results, after), *one) for one in zip(both, tests, strict=True)]
    means, slopes = ({"id_classes": before.counting, "cells": cells} for cells in CELLS)
    for pair in pair_results(_at(ours, "auroc", means), _at(theirs, "auroc", means)):
        pairs.append(replace(pair, comparison=replace(pair.comparison, p=None, reason=WHOLE_ALONE)))
    for axis in AXES:
        pairs += pair_results(*(_at(found, "auroc_slope", slopes | {"axis": axis}) for found in (ours, theirs)))
    return tuple(pairs)


def _sections(found: Results, facts: ShiftFacts, styles: Mapping[str, SeriesStyle]) -> Iterator[Section]:
    """Figures and tables under the questions that they answer."""
    for axis in AXES:
        curves = level_curves(found, facts, axis, styles)
        yield Section(f"Does {axis} shift raise the AUROC?", (axis_sentence(found, facts, axis),), figures=curves)
    for figure in (heat_maps(found, facts), cell_differences(found, facts), cell_counts(facts)):
        if figure is not None:
            yield Section(figure.title, figures=(figure,))
    yield Section("False alarms and precision", tables=(metric_table(found, facts),))
    known, size = facts.first.pool.known, facts.first.pool.n
    text = (
        f"{known:,} of the pool's {size:,} images are of in-distribution classes: out of distribution by their place "
        "in the pool, not by their label. With them a detector that sees classes looks worse than it is; without them "
        "nothing says what shift alone does to known classes."
    )
    if known:
        heading = "With and without in-distribution classes"
        yield Section(heading, (text,), tables=(known_class_table(found, facts),))
    yield Section("How much is labelling?", tables=(labelling_table(found, facts),))


def _subtitle(facts: ShiftFacts) -> Iterator[str]:
    first, (rows, columns) = facts.first, facts.shape
    if first.source.sources:
        yield ", ".join(dict.fromkeys(source["dataset"] for source in first.source.sources))
    yield f"{first.source.classes} classes known"
    yield counted(len(facts.models), "model")
    yield counted(len(facts.labels), "detector")
    yield f"{rows} × {columns} cells of {first.pool.n:,} images"
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


def _alike(one: Detector, other: Detector, alone: bool) -> bool:
    return one.label == other.label and (alone or one.model == other.model)


def _pair(first: tuple[Results, ShiftFacts], second: tuple[Results, ShiftFacts], detectors, test) -> Pair:
    values = (
        results.result(one.label, "auroc", model=one.model, images=SUBSETS[facts.whole])
        for (results, facts), one in zip((first, second), detectors, strict=True)
    )
    return Pair(*values, test)


def _of_model(found: Results, model: str, name: str) -> Results:
    """The results with a model under another name."""
    renamed = (
        replace(row, where={**row.where, "model": name}) if row.where.get("model") == model else row for row in found
    )
    return replace(found, rows=tuple(renamed))


def _at(found: Results, metric: str, place: Mapping[str, str]) -> Results:
    """The results of a metric at a place that says no more than this and the model."""
    rows = (row for row in found if row.metric.key == metric and {**row.where, "model": ""} == {**place, "model": ""})
    return replace(found, rows=tuple(rows), comparisons=())
