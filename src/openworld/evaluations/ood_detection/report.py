"""What a run of OOD detection shows: who sees what is out of distribution, and how far off it must be; two runs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import fmean

import numpy as np

from openworld._errors import OpenworldError
from openworld.evaluations.ood_detection.charts import cell_differences, cell_images, marginal_figure, marginal_note
from openworld.evaluations.ood_detection.facts import ShiftFacts
from openworld.evaluations.ood_detection.leads import Contender, area_test
from openworld.evaluations.ood_detection.metrics import (
    AGAINST,
    ALL,
    AUROC,
    CELL_METRICS,
    CELLS,
    COMMON,
    CONFIDENCE,
    COUNTS,
    KEPT,
    KINDS,
    NO_SLOPE,
    REMOVED,
    SHARED,
    correlation_of,
    slope_of,
)
from openworld.evaluations.ood_detection.results import areas_of_cells, is_blind, read_results
from openworld.report.layout import ENTITY, Brief, Layout, Lines, Map, Mark, Own, Pivot, Tests
from openworld.report.report import Report
from openworld.report.sentences import HOLM, counted, few, listed
from openworld.report.shift_axes import AXES, LEVELS, NEAR
from openworld.results import Pair, Results, RunFolder, Value, correct_for_many, pair_results
from openworld.results.standing import CHANCE

WHOLE_ALONE = "only the AUROC against the whole pool is tested"
POINT = 0.01
SLOPE = slope_of(AUROC)

SAME = ("pool", "test pictures")
"""What of a unit's inputs must be the same for two runs to be comparable."""

NUMBERS, FAR, SEEN = "The numbers", "How far off must it be?", "Where does a detector see it?"
SHARED_BY_ALL, EVERY = "How far off, on the cells that all levels share?", "AUROC in every cell"
INSIDE, HELD, LABELS = "What is in the cells?", "What levels and models hold", "How much is labelling?"
MARGINAL, GENERATED = "Which other classes pass for known ones?", "Are generated images themselves detectable?"
RATES, KNOWN = "False alarms and precision", "With and without images of in-distribution classes"
OF_LEVELS = "Levels count from 0, the nearest to the training images; a level is the mean of its cells."
OF_SLOPES = (
    "Points per level, by least squares; their sizes are the sensitivities of IS-OOD. Common cells: only those of the "
    "other axis that all levels share; where these differ from all cells, the mix of cells makes the difference."
)
OF_RATES = (
    "Means over the cells. In positive: the share of images out of distribution that pass where 95 % of the "
    "in-distribution ones do; out positive (OpenOOD v1.5, IS-OOD): the share of in-distribution images flagged "
    "where 95 % of the others are. AUPRs depend on how many images a cell has, but for the last: as if half were in."
)
OF_CORRELATIONS = "Pearson's correlation."
OF_LABELS = (
    "AUROC against subsets with fewer images that may show what is in distribution. Far: the upper half of the "
    "semantic levels; IS-OOD's Table 8 does not say where its larger shift begins."
)
OF_ORDER = Mark("†", "depends on the order of the images, since the detector remembers those that it scored")
OTHERS = tuple(metric for metric in CELL_METRICS.values() if metric is not AUROC)


def _layout(counting: str) -> Layout:
    """What is shown where the tables count the pool's images of in-distribution classes, or leave them out."""
    here, there = {"id_classes": counting}, {"id_classes": REMOVED if counting == KEPT else KEPT}
    auroc, slope, correlation = (AUROC.key,), (SLOPE.key,), (correlation_of(AUROC).key,)
    generated, rates, moves = (AGAINST.key,), tuple(metric.key for metric in OTHERS), ("axis", "cells")
    slopes = tuple(kind(metric).key for metric in OTHERS for kind in (slope_of, correlation_of))
    everywhere, common, both = here | {"cells": ALL}, here | {"cells": COMMON}, here | {"cells": SHARED}
    by_axis, by_level = {"along": "level", "per": ("axis",)}, {"columns": ("level",), "folded": True}
    grid = {"rows": "covariate_level", "columns": "semantic_level", "titles": (LEVELS["covariate"], LEVELS["semantic"])}
    cells = {"rows": ("covariate_level",), "columns": ("semantic_level",), "per": (ENTITY,)}
    parts = (
        Pivot(name="main", title=NUMBERS, metrics=(*auroc, *COUNTS), note="AUROC against the whole pool."),
        Pivot(name="slopes", title=FAR, metrics=slope, columns=moves, of=here, note=OF_SLOPES, terminal=True),
        Pivot(name="correlations", title=FAR, metrics=correlation, columns=moves, of=here, note=OF_CORRELATIONS),
        Lines(name="levels", title=FAR, metrics=auroc, of=everywhere, **by_axis),
        Pivot(name="by-level", title=FAR, metrics=auroc, per=moves, of=here, note=OF_LEVELS, **by_level),
        Tests(name="slope-tests", title=FAR, metrics=slope, rows=("axis",), folded=True),
        Lines(name="levels-common", title=SHARED_BY_ALL, metrics=auroc, of=common, **by_axis),
        Map(name="cells", title=SEEN, metrics=auroc, of=here, note=f"{NEAR}.", **grid),
        Pivot(name="cells-of", title=EVERY, metrics=auroc, of=here, **cells),
        Own(name="differences", title="Model against model", draw=cell_differences),
        Map(name="counts", title=INSIDE, metrics=("images",), of=here, note=f"{NEAR}.", **grid),
        Own(name="cell-images", title=INSIDE, draw=lambda brief: [cell_images(brief.source)]),
        Map(name="counts-otherwise", title=INSIDE, metrics=("images",), of=there, folded=True, **grid),
        Own(name="marginal-images", title=MARGINAL, draw=lambda brief: [marginal_figure(brief.source)]),
        Pivot(name="marginal", title=MARGINAL, metrics=(CONFIDENCE.key,), rows=("class", "taken_for", "image"),
              per=(ENTITY,)),
        Pivot(name="generated", title=GENERATED, metrics=generated, of=both),
        Pivot(name="generated-and-real", title=GENERATED, metrics=auroc, columns=("images",), of=here),
        Lines(name="generated-by-level", title=GENERATED, metrics=generated, of=both, **by_axis),
        Pivot(name="generated-of-levels", title=GENERATED, metrics=generated, per=("axis",), of=both, **by_level),
        Pivot(name="metrics", title=RATES, metrics=rates, of=everywhere, note=OF_RATES),
        Pivot(name="slopes-of-rates", title=RATES, metrics=slopes, columns=moves, of=here, folded=True),
        Lines(name="levels-of-rates", title=RATES, metrics=rates, along="level", per=moves, of=here, folded=True),
        Pivot(name="rates-by-level", title=RATES, metrics=rates, per=moves, of=here, **by_level),
        Map(name="cells-of-rates", title=RATES, metrics=rates, of=here, folded=True, **grid),
        Pivot(name="known", title=KNOWN, metrics=auroc, columns=("id_classes",), of={"cells": ALL}),
        Pivot(name="slopes-otherwise", title=KNOWN, metrics=(*slope, *correlation), columns=moves, of=there),
        Pivot(name="otherwise-by-level", title=KNOWN, metrics=auroc, per=moves, of=there, **by_level),
        Map(name="cells-otherwise", title=KNOWN, metrics=auroc, of=there, folded=True, **grid),
        Pivot(name="labelling", title=LABELS, metrics=auroc, columns=("images",), note=OF_LABELS),
        Pivot(name="subsets", title=LABELS, metrics=("images",), rows=("images",), label="images", folded=True),
        Pivot(name="sides", title=HELD, metrics=("images",), rows=("side",), folded=True),
        Pivot(name="models", title=HELD, metrics=("accuracy",), label="model", folded=True),
        Pivot(name="present", title=HELD, metrics=("present_cells",), rows=("id_classes",), folded=True),
        Pivot(name="levels-hold", title=HELD, metrics=("degree_from", "images", "present_cells"), rows=("level",),
              per=("id_classes", "axis"), folded=True),
    )  # fmt: skip
    return Layout("How far off, and is it seen?", AUROC.key, parts)


LAYOUTS = {counting: _layout(counting) for counting in (KEPT, REMOVED)}


def report(run: RunFolder) -> Report:
    """Return the report of a run."""
    results, facts = read_results(run)
    return report_of(results, facts, run=run)


def report_of(results: Results, facts: ShiftFacts, run: RunFolder | None = None, **fields) -> Report:
    """Return the report of a run, or of scores that came without a model; further fields are those of `Report`."""
    brief = Brief(
        results,
        label="detector",
        subtitle=tuple(_subtitle(facts)),
        facts=tuple(_provenance(facts)) if facts.has_models else (),
        notes={
            "main": _counted(facts),
            "counts": f"Cells with fewer than {facts.least} images are N/A.",
            "marginal": marginal_note(facts),
            "generated": _generated(results),
        },
        marks={each.title: OF_ORDER for each in facts.detectors if each.sequential},
        sentences=tuple(_sentences(results, facts)),
        source=facts,
        run=run,
    )
    return LAYOUTS[facts.counting].report(brief, **fields)


def _sentences(results: Results, facts: ShiftFacts) -> Iterator[str]:
    """Say whether shift raises the AUROC, in how many cells nobody sees it, and where levels come from."""
    if not facts.present.any():
        yield (
            f"No cell holds {facts.least} images, so nothing can be said of shift by cell; give a larger pool, fewer "
            "levels, or a lower `least`."
        )
        return
    for axis in AXES:
        yield _axis_sentence(results, facts, axis)
    blind = [[is_blind(row.value) for row in rows] for rows in areas_of_cells(results, facts).values()]
    everywhere, present = int(np.all(blind, axis=0).sum()), int(facts.present.sum())
    if everywhere:
        yield f"In {everywhere} of {present} cells every detector is blind: it is not shown to be above 50."
    measured = bool(len(results.where(metric="degree_from")))
    yield "Levels cut this pool's own degrees." if measured else "Levels are those that were given."


def _axis_sentence(results: Results, facts: ShiftFacts, axis: str) -> str:
    """Whether shift along an axis raises or lowers AUROCs, and whether the mix of cells makes that."""
    tests = [test for test in results.comparisons if test.other == NO_SLOPE and test.where["axis"] == axis]
    first, other = f"{axis.capitalize()} shift ({AXES[axis]})", "column" if axis == "covariate" else "row"
    if any(test.difference is None for test in tests):
        return f"{first}: fewer than two levels have a cell, so nothing can be said."
    up, down = (sum(test.differs and sign * test.difference > 0 for test in tests) for sign in (1, -1))
    moved = [f"{verb} the AUROC of {count}" for verb, count in (("raises", up), ("lowers", down)) if count]
    moves = " and ".join(moved) if moved else "is not shown to move the AUROC of any"
    size = SLOPE.write(fmean(test.difference for test in tests))
    text = f"{first} {moves} of {counted(len(tests), 'detector')} ({HOLM}); on average {size} points per level."
    if tests[0].where["cells"] != COMMON:
        return f"{text} No {other} is present at all levels, so the mix of cells may make this trend."
    place = {"id_classes": facts.counting, "axis": axis, "cells": ALL}
    everything = [results.value(test.entity, SLOPE.key, **place) for test in tests]
    mixed = sum(is_mixed(value, test.difference) for value, test in zip(everything, tests, strict=True))
    if not mixed:
        return text
    return (
        f"{text} Over all cells it would be {SLOPE.write(fmean(value.value for value in everything))}, for {mixed} of "
        f"{counted(len(tests), 'detector')} a trend that the mix of cells makes, since some levels lack cells."
    )


def is_mixed(everything: Value, common: float | None) -> bool:
    """Whether the mix of cells makes a slope: it turns, or changes by a point per level, on the common levels."""
    slope = everything.value
    if None in (slope, common):
        return False
    apart = abs(slope - common)
    return apart >= POINT or (slope * common < 0 and apart >= POINT / 2)


def _generated(results: Results) -> str:
    """How many detectors score generated images otherwise than real ones at equal degree."""
    rows = [row for row in results.where(metric=AGAINST.key) if "level" not in row.where]
    ends = [row.value.over() for row in rows]
    lower, higher = (
        sum(end is not None and end.low > CHANCE for end in ends),
        sum(end is not None and end.high < CHANCE for end in ends),
    )
    return (
        f"Real against generated images of one cell, in the cells with enough of both ({' and '.join(KINDS)}): "
        f"{lower} of {counted(len(rows), 'detector')} give generated images lower scores, {higher} higher."
    )


def _counted(facts: ShiftFacts) -> str:
    """Which cells and which images the numbers count."""
    present, known = facts.present, facts.size(images="all images") - facts.size(images="other classes")
    cells = f"N/A cells (fewer than {facts.least} images: {int((~present).sum())} of {present.size}) count nowhere"
    kept = "counted" if facts.counting == KEPT else "left out"
    images = f"the pool's {known:,} images of in-distribution classes are {kept}" if known else ""
    counts = "Best, blind and below chance: in how many cells; blind: not shown to be above 50 over images."
    return f"{'; '.join(filter(None, (cells, images)))}. {counts}"


def compare(first: Report, second: Report, metric: str) -> tuple[Pair, ...]:
    """Return detectors of one name and model paired: AUROC against the whole pool image by image, the rest by seed."""
    # Models of other names are paired where each run has a single one.
    before, after = (ShiftFacts.read(side.run_folder) for side in (first, second))
    _require_same(before, after, (first.run_folder.folder, second.run_folder.folder))
    alone = len(before.models) == len(after.models) == 1
    ours, theirs = (_by_detector(*side, alone=alone) for side in ((first.results, before), (second.results, after)))
    if metric not in ("", "auroc"):
        return pair_results(ours, theirs, metric)
    detectors = [(old, new) for old in before.detectors for new in after.detectors
                 if old.label == new.label and (alone or old.model == new.model)]  # fmt: skip
    if not detectors:
        raise OpenworldError(f"{first.folder} and {second.folder} have no detector of the same name in common.")
    tests = correct_for_many(area_test(Contender(after, new), Contender(before, old)) for old, new in detectors)
    pairs = []
    for (old, new), test in zip(detectors, tests, strict=True):
        values = first.results.result(old.title, "auroc"), second.results.result(new.title, "auroc")
        pairs.append(Pair(*values, test))
    means, slopes = ({"id_classes": before.counting, "cells": cells} for cells in CELLS)
    for pair in pair_results(_at(ours, "auroc", means), _at(theirs, "auroc", means)):
        pairs.append(replace(pair, comparison=replace(pair.comparison, p=None, reason=WHOLE_ALONE)))
    for axis in AXES:
        pairs += pair_results(*(_at(rows, "auroc_slope", slopes | {"axis": axis}) for rows in (ours, theirs)))
    return tuple(pairs)


def _subtitle(facts: ShiftFacts) -> Iterator[str]:
    first, (rows, columns) = facts.first, facts.counts.shape
    if first.sources:
        yield ", ".join(dict.fromkeys(source["dataset"] for source in first.sources))
    if facts.has_models:
        yield f"{first.classes} classes known"
    if first.left_out:
        yield f"{len(first.left_out)} left out"
    if facts.has_models:
        yield counted(len(facts.models), "model")
    yield counted(len({each.label for each in facts.detectors}), "detector")
    yield f"{rows} × {columns} cells of {facts.size(images='all images'):,} images"
    if facts.has_models:
        yield _seeds(facts)


def _provenance(facts: ShiftFacts) -> Iterator[tuple[str, str]]:
    """What records say of how the run was made, beside its spec."""
    first = facts.first
    yield "seeds", _seeds(facts)
    yield "records", str(len(facts.units))
    if first.decomposition:
        split = first.decomposition
        yield " and ".join(AXES.values()), f"{split['method']} on {split['backbone']}, seed {split['seed']}"
        yield "shift degree", f"distance to the nearest training image number {first.neighbour}"
    for record in (unit.record for unit in facts.units):
        if record.learner:
            training, settings = record.learner.sentences()
            yield f"training, {record.model}, seed {record.seed}", training
            yield f"settings, {record.model}, seed {record.seed}", settings
    for model in facts.models:
        for warning in dict.fromkeys(text for unit in facts.of(model) for text in unit.record.warnings):
            yield f"warning, {model}", warning


def _require_same(first: ShiftFacts, second: ShiftFacts, names) -> None:
    images = [{name: facts.units[0].stored.unit.inputs.get(name) for name in SAME} for facts in (first, second)]
    same_cells = np.array_equal(first.counts, second.counts) and first.counting == second.counting
    if images[0] != images[1] or not same_cells:
        raise OpenworldError(
            f"{names[1]} judges other images, or other cells, than {names[0]}: their difference would be one of images "
            "too. Give runs of one pool, one id_part, one division and one id_kept."
        )


def _by_detector(results: Results, facts: ShiftFacts, *, alone: bool) -> Results:
    """The results under the names of detectors, with those of their models unless each run has a single one."""
    names = {each.title: each.label if alone else f"{each.label} of {each.model}" for each in facts.detectors}
    return replace(results, rows=tuple(replace(row, entity=names.get(row.entity, row.entity)) for row in results))


def _at(results: Results, metric: str, place: Mapping[str, str]) -> Results:
    """The results of a metric at exactly a place."""
    rows = (row for row in results.where(metric=metric, **place) if row.where.keys() == place.keys())
    return replace(results, rows=tuple(rows), comparisons=())


def _seeds(facts: ShiftFacts) -> str:
    """Seeds of every model, those that are alike together."""
    by_count: dict[int, list[str]] = {}
    for model in facts.models:
        by_count.setdefault(len(facts.of(model)), []).append(model)
    parts = {counted(count, "seed"): few(models, "models") for count, models in by_count.items()}
    return listed([f"{seeds} of {models}" for seeds, models in parts.items()] if len(parts) > 1 else list(parts))
