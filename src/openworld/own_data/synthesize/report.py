"""What is said of a plan and of a finished set: a layout over the counts of every cell, and sentences."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.console import Ending
from openworld.core.progress import SILENT, Observer
from openworld.own_data.shift.results import START
from openworld.own_data.shift.verdict import unsure
from openworld.own_data.synthesize.command import PlannedSet, plan_set
from openworld.report.layout import Brief, Layout, Pivot
from openworld.report.report import Report
from openworld.report.shift_axes import AXES
from openworld.results import Metric, Result, Results, Value
from openworld.shifts import HALVES
from openworld.shifts.synthesis import GeneratedSet

IMAGES = Metric("planned_images", "images", "count", 0, 0, (0.0, None))
UNIQUE = Metric("unique_prompts", "different prompts drawn", "count", 0, 0, (0.0, None))
CANDIDATES = Metric("candidate_prompts", "prompts there are", "count", 0, 0, (0.0, None))
REPEATS = Metric("most_repeats", "images of the commonest prompt", "count", 0, 0, (0.0, None))
LAYOUT = Layout(
    "A set of images by shift",
    "",
    tuple(
        Pivot(
            name=metric.key.replace("_", "-"),
            title="Prompts of every cell",
            metrics=(metric.key,),
            rows=("covariate_level",),
            columns=("semantic_level",),
            folded=metric == REPEATS,
            terminal=metric == CANDIDATES,
        )
        for metric in (UNIQUE, CANDIDATES, REPEATS)
    ),
)


def synthesize(
    reference: Sequence[Any],
    out: Path | None = None,
    *,
    plan: bool = False,
    batch: int = 0,
    quiet: bool = False,
    observer: Observer = SILENT,
    **options: Any,
) -> Report:
    """Plan a set of images as `plan_set` does, paint it unless only the `plan` is wanted, and report it."""
    # No warnings of packages that nothing here needs, while other people's packages load, and no bars in a log.
    for package in ("DIFFUSERS", "TRANSFORMERS"):
        os.environ.setdefault(f"{package}_VERBOSITY", "error")
    if quiet or not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    planned = plan_set(reference, out=out, only_plan=plan, observer=observer, **options)
    if plan:
        return report(planned)
    made, folder = planned.paint(observer, batch=batch or None), planned.folder
    refused = f"; the screen refused {made.refused:,} more" if made.refused else ""
    lines = (
        f"\n{len(made):,} images in {out}{refused}.",
        f"Manifest: {folder / 'manifest.json'}   Table: {folder / 'images.parquet'}",
        f'As a test set, in a spec of ood-detection: cells = {{ generated = "{out}" }}',
    )
    return replace(report(planned, made), ending=Ending("\n".join(lines)))


def report(planned: PlannedSet, made: GeneratedSet | None = None) -> Report:
    """Return what a plan says: how many prompts every cell has, which have none, where levels begin; what was made."""
    plan, options, cells = planned.plan, planned.options, len(planned.plan) // planned.plan.count
    first = (
        f"{len(plan.prompts):,} prompts: {len(options.labels):,} labels in {len(options.styles)} styles. "
        f"{cells} of {plan.shape[0] * plan.shape[1]} cells have {options.least} or more: {cells} x {plan.count:,} = "
        f"{len(plan):,} images of {plan.report()['unique_prompts']:,} different prompts."
    )
    results = Results("synthesize", tuple(_rows(planned)))
    notes = {UNIQUE.key.replace("_", "-"): "Levels from 0 (near), of appearance downwards, of meaning to the right."}
    facts: dict[str, Any] = {"held_out_right": dict(plan.origin["held_out_right"])}
    if made is not None:
        facts["made"] = {"images": len(made), "refused": made.refused, "fingerprint": made.images.fingerprint}
    brief = Brief(results, sentences=(first, *_plan_notes(planned)), notes=notes)
    return LAYOUT.report(brief, found=planned, facts=facts)


def _rows(planned: PlannedSet) -> Iterator[Result]:
    plan = planned.plan
    yield Result("", IMAGES, Value(len(plan)))
    yield Result("", UNIQUE, Value(plan.report()["unique_prompts"]))
    for metric, counts in ((UNIQUE, plan.unique), (CANDIDATES, plan.candidates), (REPEATS, plan.repeats)):
        for (row, column), count in np.ndenumerate(counts):
            yield Result("", metric, Value(int(count)), {"covariate_level": row, "semantic_level": column})
    for half in HALVES:
        for level, start in enumerate((0.0, *plan.origin["cuts"][half])):
            yield Result(AXES[half], START, Value(start), {"level": level})


def _plan_notes(planned: PlannedSet) -> Iterator[str]:
    """Yield which cells have no images, and what to know before trusting the levels."""
    plan = planned.plan
    cells, filled = plan.shape[0] * plan.shape[1], len(plan) // plan.count
    if plan.report()["left_out"]:
        yield f"N/A: {cells - filled} of {cells} cells, with fewer than {planned.options.least} prompts."
    for half, other, share in unsure(plan.origin["held_out_right"]):
        yield (
            f"Note: of the texts kept back to try it, the half for {AXES[half]} puts {100 * share:.0f} % in the right "
            f"order, so what is far in {other} moves its levels too; look at the images of each level."
        )
