"""What a run of OOD detection shows: who sees what is out of distribution, and how far off it must be; two runs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError, present
from openworld.ood.by_shift.charts import cell_images, marginal_figure
from openworld.ood.by_shift.metrics import (
    AGAINST,
    ALL,
    AUROC,
    CELL_METRICS,
    CELLS,
    COMMON,
    CONFIDENCE,
    COUNTS,
    DIFFERENCE,
    KEPT,
    MARGINAL,
    NO_SLOPE,
    PASSED,
    REMOVED,
    SCORE,
    SHARED,
    correlation_of,
    slope_of,
)
from openworld.ood.by_shift.results import DetectionRun, area_test, is_blind, read_results
from openworld.report.layout import ENTITY, Brief, Layout, Lines, Map, Mark, Own, Pivot, Tests
from openworld.report.report import Report
from openworld.report.sentences import HOLM, counted
from openworld.report.shift_axes import AXES, LEVELS, NEAR
from openworld.results import Pair, Results, RunFolder, correct_for_many, pair_results

WHOLE_ALONE = "only the AUROC against the whole pool is tested"
SLOPE = slope_of(AUROC)

SAME = ("pool", "test images")
"""What of a unit's inputs must be the same for two runs to be comparable."""

NUMBERS, FAR, SEEN = "The numbers", "How far off must it be?", "Where does a detector see it?"
SHARED_BY_ALL, EVERY = "How far off, on the cells that all levels share?", "AUROC in every cell"
INSIDE, HELD, LABELS = "What is in the cells?", "What levels and models hold", "How much is labelling?"
TAKEN, GENERATED = "Which other classes pass for known ones?", "Are generated images themselves detectable?"
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
OF_TAKEN = (
    "Images of other classes at the nearest semantic level that has any; pass: for a detector at the threshold that "
    "95 % of the in-distribution test images pass. Shown are the surest."
)
OF_GENERATED = "Real against generated images of one cell, in the cells with enough of both; 50: scored alike."
NOT_TESTED = "Means over the seeds; nothing is tested here."
OF_ORDER = Mark("†", "depends on the order of the images, since the detector remembers those that it scored")
OTHERS = tuple(metric for metric in CELL_METRICS.values() if metric is not AUROC)


def _layout(counting: str) -> Layout:
    """What is shown where the tables count the pool's images of in-distribution classes, or leave them out."""
    here, there = {"id_classes": counting}, {"id_classes": REMOVED if counting == KEPT else KEPT}
    auroc, slope, correlation = (AUROC.key,), (SLOPE.key,), (correlation_of(AUROC).key,)
    generated, rates, moves = (AGAINST.key,), tuple(metric.key for metric in OTHERS), ("axis", "cells")
    apart = (DIFFERENCE.key,)
    slopes = tuple(kind(metric).key for metric in OTHERS for kind in (slope_of, correlation_of))
    everywhere, common, both = here | {"cells": ALL}, here | {"cells": COMMON}, here | {"cells": SHARED}
    by_axis: Any = {"along": "level", "per": ("axis",)}
    by_level: Any = {"columns": ("level",), "folded": True}
    grid: Any = {
        "rows": "covariate_level",
        "columns": "semantic_level",
        "titles": (LEVELS["covariate"], LEVELS["semantic"]),
    }
    cells: Any = {"rows": ("covariate_level",), "columns": ("semantic_level",), "per": (ENTITY,)}
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
        Map(name="differences", title="Model against model", metrics=apart, of=here, note=NOT_TESTED, **grid),
        Map(name="counts", title=INSIDE, metrics=("images",), of=here, note=f"{NEAR}.", **grid),
        Own(name="cell-images", title=INSIDE, draw=lambda brief: [cell_images(brief.source)]),
        Map(name="counts-otherwise", title=INSIDE, metrics=("images",), of=there, folded=True, **grid),
        Own(name="marginal-images", title=TAKEN, draw=lambda brief: [marginal_figure(brief.source)]),
        Pivot(name="marginal", title=TAKEN, metrics=(CONFIDENCE.key, SCORE.key),
              rows=("class", "taken_for", "image"), per=(ENTITY,), beside=("known",)),
        Pivot(name="marginal-passed", title=TAKEN, metrics=(MARGINAL.key, PASSED.key), label="model",
              rows=(ENTITY, "semantic_level", "detector"), note=OF_TAKEN),
        Pivot(name="generated", title=GENERATED, metrics=generated, of=both, note=OF_GENERATED),
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
    return report_of(*read_results(run), run=run)


def report_of(results: Results, units: DetectionRun, run: RunFolder | None = None, **fields) -> Report:
    """Return the report of a run, or of scores that came without a model; further fields are those of `Report`."""
    brief = Brief(
        results,
        label="detector",
        subtitle=tuple(_subtitle(units)),
        facts=tuple(_provenance(units)) if units.has_models else (),
        notes={"main": _counted(units), "counts": f"Cells with fewer than {units.spec['least']} images are N/A."},
        marks={each.title: OF_ORDER for each in units.detectors if each.sequential},
        sentences=tuple(_sentences(results, units)),
        source=units,
        run=run,
    )
    return LAYOUTS[units.counting].report(brief, **fields)


def _sentences(results: Results, run: DetectionRun) -> Iterator[str]:
    """Say whether shift raises the AUROC, in how many cells nobody sees it, and where levels come from."""
    if not run.present.any():
        yield (
            f"No cell holds {run.spec['least']} images, so nothing can be said of shift by cell; give a larger pool, "
            "fewer levels, or a lower `least`."
        )
        return
    for axis in AXES:
        yield _axis_sentence(results, run, axis)
    blind = [[is_blind(row.value) for row in rows] for rows in run.areas_of_cells(results).values()]
    everywhere, present = int(np.all(blind, axis=0).sum()), int(run.present.sum())
    if everywhere:
        yield f"In {everywhere} of {present} cells every detector is blind: it is not shown to be above 50."
    measured = bool(len(results.where(metric="degree_from")))
    yield "Levels cut this pool's own degrees." if measured else "Levels are those that were given."


def _axis_sentence(results: Results, run: DetectionRun, axis: str) -> str:
    """Whether shift along an axis raises or lowers AUROCs."""
    tests = [test for test in results.comparisons if test.other == NO_SLOPE and test.where["axis"] == axis]
    first, other = f"{axis.capitalize()} shift ({AXES[axis]})", "column" if axis == "covariate" else "row"
    slopes = [test.difference for test in tests if test.difference is not None]
    if len(slopes) < len(tests):
        return f"{first}: fewer than two levels have a cell, so nothing can be said."
    differing = [slope for test, slope in zip(tests, slopes, strict=True) if test.differs]
    up, down = (sum(sign * slope > 0 for slope in differing) for sign in (1, -1))
    moved = [f"{verb} the AUROC of {count}" for verb, count in (("raises", up), ("lowers", down)) if count]
    moves = " and ".join(moved) if moved else "is not shown to move the AUROC of any"
    size = SLOPE.write(fmean(slopes))
    text = f"{first} {moves} of {counted(len(tests), 'detector')} ({HOLM}); on average {size} points per level."
    if tests[0].where["cells"] == COMMON:
        return text
    return f"{text} No {other} is present at all levels, so the mix of cells may make this trend."


def _counted(run: DetectionRun) -> str:
    """Which cells and which images the numbers count."""
    present, known = run.present, run.size(images="all images") - run.size(images="other classes")
    cells = (
        f"N/A cells (fewer than {run.spec['least']} images: {int((~present).sum())} of {present.size}) count nowhere"
    )
    kept = "counted" if run.counting == KEPT else "left out"
    images = f"the pool's {known:,} images of in-distribution classes are {kept}" if known else ""
    counts = "Best, blind and below chance: in how many cells; blind: not shown to be above 50 over images."
    return f"{'; '.join(filter(None, (cells, images)))}. {counts}"


def compare(first: Report, second: Report, metric: str) -> tuple[Pair, ...]:
    """Return detectors of one name and model paired: AUROC against the whole pool image by image, the rest by seed."""
    # Models of other names are paired where each run has a single one.
    folders = [present(side.run_folder, "the folder of a run") for side in (first, second)]
    before, after = map(DetectionRun.read, folders)
    images = [{name: side.units[0].record.unit.inputs.get(name) for name in SAME} for side in (before, after)]
    same_cells = np.array_equal(before.counts, after.counts) and before.counting == after.counting
    if images[0] != images[1] or not same_cells:
        raise OpenworldError(
            f"{folders[1].folder} judges other images, or other cells, than {folders[0].folder}: their "
            "difference would be one of images too. Give runs of one pool, one id_part, one division and one id_kept."
        )
    alone = len(before.models) == len(after.models) == 1
    sides = []
    for side, run in ((first, before), (second, after)):
        detectors = {each.label if alone else f"{each.label} of {each.model}": each for each in run.detectors}
        names = {each.title: name for name, each in detectors.items()}
        rows = tuple(replace(row, entity=names.get(row.entity, row.entity)) for row in side.results)
        sides.append((detectors, replace(side.results, rows=rows)))
    (old, ours), (new, theirs) = sides
    if metric not in ("", "auroc"):
        return pair_results(ours, theirs, metric)
    if not old.keys() & new.keys():
        raise OpenworldError(f"{first.folder} and {second.folder} have no detector of the same name in common.")
    whole = pair_results(_at(ours, "auroc", {}), _at(theirs, "auroc", {}))
    tests = correct_for_many(area_test(new[pair.first.entity], old[pair.first.entity]) for pair in whole)
    pairs = [replace(pair, comparison=test) for pair, test in zip(whole, tests, strict=True)]
    means, slopes = ({"id_classes": before.counting, "cells": cells} for cells in CELLS)
    for pair in pair_results(_at(ours, "auroc", means), _at(theirs, "auroc", means)):
        pairs.append(replace(pair, comparison=replace(pair.comparison, p=None, reason=WHOLE_ALONE)))
    for axis in AXES:
        place = slopes | {"axis": axis}
        pairs += pair_results(_at(ours, "auroc_slope", place), _at(theirs, "auroc_slope", place))
    return tuple(pairs)


def _subtitle(run: DetectionRun) -> Iterator[str]:
    if run.has_models:
        first = run.units[0].facts
        yield ", ".join(dict.fromkeys(source["dataset"] for source in run.spec["sources"]))
        yield f"{first['classes']} classes known"
        if first["left_out"]:
            yield f"{first['left_out']} left out"
        yield counted(len(run.models), "model")
    yield counted(len({each.label for each in run.detectors}), "detector")
    rows, columns = run.counts.shape
    yield f"{rows} × {columns} cells of {run.size(images='all images'):,} images"
    if run.has_models:
        yield counted(len({unit.facts["seed"] for unit in run.units}), "seed")


def _provenance(run: DetectionRun) -> Iterator[tuple[str, str]]:
    for model, units in run.models.items():
        yield f"seeds, {model}", " ".join(str(unit.facts["seed"]) for unit in units)
    if not run.spec["cells"]:
        split = run.spec["decomposition"]
        yield " and ".join(AXES.values()), f"{split['method']} on {split['backbone']}, seed {split['seed']}"
        yield "shift degree", f"distance to the nearest training image number {run.spec['k']}"
    yield from run.provenance()


def _at(results: Results, metric: str, place: Mapping[str, str]) -> Results:
    """The results of a metric at exactly a place."""
    rows = (row for row in results.where(metric=metric, **place) if row.where.keys() == place.keys())
    return replace(results, rows=tuple(rows), comparisons=())
