"""IS-OOD's figures: what is in the cells, maps and curves of three metrics, and marginal images.

Each is drawn twice in the paper, of ImageNet-21K and of the generated images of Syn-IS. Maps hold no number that the
paper prints as text; what it prints of the curves, their slopes in Tables 1, 2 and 4 to 7, stands beside ours.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from openworld.ood.by_shift.charts import cell_images, marginal_figure
from openworld.ood.by_shift.metrics import AGAINST, ALL, slope_of
from openworld.ood.by_shift.results import DetectionRun, read_results
from openworld.papers import TABLES, published_numbers
from openworld.report.figure import Figure
from openworld.report.layout import Brief, Lines, Map
from openworld.report.series_style import series_styles
from openworld.report.shift_axes import AXES, LEVELS, NEAR
from openworld.reproduction.isood import generated_runs
from openworld.reproduction.planned_runs import PaperFigure, Runs, by_number
from openworld.results import METRICS, Results, RunFolder

PAPER = "is-ood"
ABSENT = {"3": "it is a drawing of LAID and holds no results"}

REAL, GENERATED = "ImageNet-21K", "Syn-IS"
STAND_INS = {REAL: "Drawings stand in", GENERATED: "Redrawn drawings, the rendered twin, stand in"}
IMAGE_ROOM = 1_500_000  # bytes that the images of a figure of cells may take together
NO_NUMBERS = "No cell has a number, so that nothing can be drawn."
TOO_FEW = "No cell has enough real and enough generated images, so that nothing is known at equal degree."
NO_IMAGES = "These runs keep no such images: embeddings have none."
APART = (
    "the published lists divide ImageNet-21K by its images and Syn-IS by its prompts, so that no degree of one is a "
    "degree of the other; run a spec of ood-detection whose pool holds both, with generated = true for images that are"
)

DRAWN = {
    ("auroc", "AUROC"): {REAL: (("5", "10"), "6", "1"), GENERATED: (("7", "11"), "8", "2")},
    ("fpr_out_positive", "FPR@95"): {REAL: (("12",), "13", "4"), GENERATED: (("14",), "15", "5")},
    ("aupr_in", "AUPR"): {REAL: (("16",), "17", "6"), GENERATED: (("18",), "19", "7")},
}
"""Metric, as the paper names it, and data -> the figures of its maps, that of its curves, the table of their slopes.

Of the AUROC the main text has a part of the detectors and the appendix all.
"""
CELLS = Map(
    name="cells",
    title="",
    rows="covariate_level",
    columns="semantic_level",
    titles=(LEVELS["covariate"], LEVELS["semantic"]),
    note=f"{NEAR}.",
)
CURVES = Lines(name="levels", title="", along="level", per=("axis", "cells"))

Read = tuple[Results, DetectionRun]  # a finished run


def draw_part(read: Read, part: Map | Lines, metric: str, *, absent: str = NO_NUMBERS) -> Figure:
    """Return a metric as a part of a layout draws it, of the images that the run's tables count."""
    results, units = read
    counted = {} if "id_classes" in part.per else {"id_classes": units.counting}
    styles = {} if isinstance(part, Map) else series_styles([each.title for each in units.detectors])
    drawn = replace(part, metrics=(metric,), of=counted).figure(Brief(results, label="detector"), styles)
    return drawn or Figure("", "", (absent,), ())


def draw_curves(read: Read, metric: str, title: str, table: str) -> Figure:
    """Return a metric by semantic and by covariate level, over all cells as in the paper, and over common ones."""
    results, units = read
    figure = draw_part(read, CURVES, metric)
    caption = [*figure.caption]
    for axis in AXES:
        printed = {
            number.method: number.value
            for number in published_numbers(PAPER, table)
            if number.setting == f"{axis} shift" and number.metric.startswith("sensitivity")
        }
        place, known = {"id_classes": units.counting, "axis": axis, "cells": ALL}, []
        for detector in units.detectors:
            slope = results.value(detector.title, slope_of(METRICS[metric]).key, **place).value
            if slope is not None and detector.label in printed:
                known.append(f"{detector.title} {100 * abs(slope):.2f} ({printed[detector.label]:.2f})")
        about = f"Sensitivity of the {title} to {axis} shift, ours (printed in Table {table}), points per level"
        caption.append(f"{about}: {', '.join(known)}.")
    return replace(figure, caption=tuple(caption))


def draw_generated(read: Read) -> Figure:
    """Return the AUROC of real against generated images by semantic level."""
    part = replace(CURVES, per=("id_classes", "axis", "cells"))
    return draw_part(read, part, AGAINST.key, absent=TOO_FEW)


def _images(read: Read) -> Figure:
    return cell_images(read[1], IMAGE_ROOM, small=False) or Figure("", "", (NO_IMAGES,), ())


def _marginal(read: Read) -> Figure:
    return marginal_figure(read[1]) or Figure("", "", (NO_IMAGES,), ())


def _drawn(runs: Runs, draw: Callable[[Read], Figure], data: str = "") -> Figure:
    figure = draw(runs[0].read(read_run))
    stand_in = (f"{STAND_INS[data]} for {data}.",) if data and not runs[0].datasets else ()
    return replace(figure, caption=(*figure.caption, *stand_in))


def read_run(folder: Path) -> Read:
    return read_results(RunFolder.read(folder))


def _figures() -> Iterator[PaperFigure]:
    def of(number: str, title: str, draw: Callable[[Read], Figure], data: str) -> PaperFigure:
        table = TABLES[PAPER][next(iter(DRAWN.values()))[data][-1]]
        return PaperFigure(number, f"{title}, {data}", partial(_drawn, draw=draw, data=data), (table,))

    yield of("1", "images of the cells", _images, REAL)
    yield of("2", "images of other classes that pass for known ones", _marginal, REAL)
    yield of("4", "images of the cells", _images, GENERATED)
    yield of("9", "images per cell", partial(draw_part, part=CELLS, metric="images"), REAL)
    yield of("20", "predictions and confidence of such images", _marginal, REAL)
    for (metric, title), by_data in DRAWN.items():
        for data, (maps, curves, table) in by_data.items():
            for number in maps:
                yield of(number, f"{title} in every cell", partial(draw_part, part=CELLS, metric=metric), data)
            drawn = partial(draw_curves, metric=metric, title=title, table=table)
            yield of(curves, f"{title} by level of shift", drawn, data)
    yield PaperFigure(
        "generated",
        "real against generated images at equal degree (section 3.2)",
        partial(_drawn, draw=draw_generated),
        runs=generated_runs,
        refused=lambda setup: "" if setup.embedded else APART,
    )


FIGURES = by_number(_figures())
"""Number -> the figure, and a check of what section 3.2 assumes of generated images.

Each is drawn from the run of the table that prints the AUROC's trends on its data.
"""
