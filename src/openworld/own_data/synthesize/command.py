"""From what a person names to a plan of a set of images, from that to the images, and what is said of both.

A function of one's own is named package.module:function. As a painter it is called without arguments and returns a
`openworld.shifts.synthesis.Painter`; as a screen it is called with images and says which to keep.
"""

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from openworld.backbones.devices import find_device
from openworld.backbones.loading import load_once
from openworld.core.console import Ending
from openworld.core.errors import OpenworldError, failing, unknown_name
from openworld.core.functions import FORM, find_function
from openworld.core.progress import SILENT, Observer
from openworld.datasets import ImageSet
from openworld.datasets.names.class_names import class_names
from openworld.datasets.names.forms import normalise_class_name
from openworld.datasets.pooling import pooled
from openworld.own_data.images import labelled_images
from openworld.own_data.shift.decomposition import DecompositionSource, decomposition_for, distinct_names, lines_of
from openworld.own_data.shift.images import Reader, gather
from openworld.own_data.shift.measurement import START
from openworld.own_data.shift.verdict import unsure
from openworld.own_data.synthesize import plan as planning
from openworld.own_data.synthesize.plan import SynthesisOptions, keep_division, kept_division
from openworld.report.layout import Brief, Layout, Pivot
from openworld.report.report import Report
from openworld.report.shift_axes import AXES
from openworld.results import Metric, Result, Results, Value
from openworld.runs import digest
from openworld.shifts import HALVES, synthesis
from openworld.shifts.synthesis import GeneratedSet, Screen, SynthesisPlan, begin, generate
from openworld.shifts.synthesis.diffusion import TURBO
from openworld.shifts.synthesis.generating import require_own

PAINTERS = TURBO_PAINTER, RENDERED = "sdxl-turbo", "rendered"
_PUBLISHED = "syn-is:"
TABLES = {"syn-is": synthesis.prompt_styles, RENDERED: synthesis.rendered_styles}
"""Tables of styles by name: the paper's 51, and those that need no model."""
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


@dataclass(frozen=True, eq=False)
class PlannedSet:
    """A plan, and who would paint it where."""

    options: SynthesisOptions
    plan: SynthesisPlan
    painter: Any
    screen: Screen | None
    folder: Any  # a path; None of a plan alone

    def paint(self, observer: Observer = SILENT, *, batch: int | None = None) -> GeneratedSet:
        """Paint what is missing in the folder, `batch` images at a time, and return the finished set."""
        begin(self.plan, self.painter, self.folder, self.screen)
        progress = partial(observer.progress, "painting")
        with failing():
            return generate(self.plan, self.painter, self.folder, screen=self.screen, batch=batch, progress=progress)


def plan_set(
    reference: Sequence[Any],
    *,
    labels: str = "",
    styles: str = "",
    painter: str = TURBO_PAINTER,
    images: Sequence[str] = (),
    each: int = 100,
    device: str = "auto",
    allow_corrupt: int = 0,
    backbone: str = "embedded",
    laid: Path | None = None,
    templates: Path | None = None,
    neighbour: int = 10,
    levels: int = 8,
    least: int = 10,
    seed: int = 0,
    weights: str = "",
    side: int = 512,
    steps: int = 4,
    guidance: float = 0.0,
    screen: str = "",
    only_plan: bool = False,
    out: Path | None = None,
    observer: Observer = SILENT,
) -> PlannedSet:
    """Measure all prompts against the reference, and plan equally many images of every cell."""
    device, source = find_device(device), DecompositionSource(laid, None, templates)
    if out is None and not only_plan:
        raise OpenworldError("images need a place: give --out FOLDER, or --plan to make nothing.")
    require_own(out, (*reference, source.laid))
    images = tuple(map(str, images))
    diffusion = {"weights": weights or TURBO, "side": side, "steps": steps, "guidance": guidance, "device": device}
    screened = Screen(screen, find_function(screen)) if screen else None
    if not labels and painter != RENDERED:
        raise OpenworldError("give --labels: a text file with a name per line, or a data set of `openworld list`.")
    if labels:
        names = class_names(labels).names
    else:
        drawn = drawings(images)
        names = tuple(drawn.classnames[label] for label in sorted(set(drawn.labels.tolist())))  # that have an image
    options = SynthesisOptions(names, find_styles(styles, painter), each, neighbour, levels, least, seed)
    # A plan alone needs no weights, and has none fetched.
    loaded = not only_plan or painter != TURBO_PAINTER
    ready = find_painter(painter, options.prompts, images, diffusion) if loaded else None

    references, clip = tuple(map(gather, reference)), load_once(backbone, device)
    taught = distinct_names([*options.labels, *(name for images in references for name in images.classnames)])
    request = options.request(references, clip, _split(source, taught, options.seed))
    division = None if out is None else kept_division(out, request)
    if division is None:
        planning.require_readable(options, clip)
        decomposition = decomposition_for(source, clip, taught, options.seed, observer.progress)
        with failing():
            reader = Reader(clip, allow_corrupt, observer.progress)
            division = planning.divide(options, references, decomposition, reader)
        if out is not None:
            keep_division(out, options, request, division, decomposition)
    return PlannedSet(options, planning.plan(options, division, request), ready, screened, out)


def _split(source: DecompositionSource, names: tuple[str, ...], seed: int) -> dict[str, Any]:
    """Return which decomposition: the bytes of a kept one, or what one is fitted to."""
    if source.laid is None:
        return {"method": "LAID", "names": digest(names), "templates": lines_of(source.templates), "seed": seed}
    try:
        return {"file": hashlib.sha256(source.laid.read_bytes()).hexdigest()}
    except OSError as error:
        raise OpenworldError(f"{source.laid} cannot be read ({error}); give a kept LAID.") from error


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


def drawings(images: Sequence[str]) -> ImageSet:
    """Return all images that are redrawn, as one image set by all their names."""
    if not images:
        raise OpenworldError("the renderer redraws images, and none are named; give --images FOLDER.")
    sets = [labelled_images(where) for where in images]
    names = {normalise_class_name(name): name for each in sets for name in each.classnames}
    alike = [
        replace(each, classnames=tuple(names[normalise_class_name(name)] for name in each.classnames)) for each in sets
    ]
    return pooled(alike, tuple(names.values()))


def find_styles(name: str, painter: str) -> tuple[synthesis.PromptStyle, ...]:
    """Return a table of styles by name or file; "syn-is:FILE.json" has the sentences of SDXL's templates."""
    name = name or (RENDERED if painter == RENDERED else "syn-is")
    if name in TABLES:
        return TABLES[name]()
    published = name.removeprefix(_PUBLISHED)
    if not Path(published).is_file():
        raise unknown_name("table of styles", name, (*TABLES, "FILE.toml", "FILE.json", f"{_PUBLISHED}FILE.json"))
    if published != name:
        return synthesis.published_styles(published)
    return synthesis.prompt_styles(name)


def find_painter(
    name: str, prompts: synthesis.Prompts, images: Sequence[str], diffusion: Mapping[str, Any]
) -> synthesis.Painter:
    """Return the painter of that name, ready to paint these prompts, by redrawing `images` or by `diffusion`."""
    if ":" in name:
        return _own_painter(name)
    if name not in PAINTERS:
        raise unknown_name("painter", name, (*PAINTERS, FORM))
    if name == TURBO_PAINTER:
        return synthesis.sdxl_turbo(**diffusion)
    painter = synthesis.RenderedPainter(drawings(images))
    painter.require(prompts)
    return painter


def _own_painter(name: str) -> synthesis.Painter:
    function = find_function(name)
    try:
        painter = function()
    except (Exception, SystemExit) as error:  # somebody's code may fail in any way; the failure is named
        raise OpenworldError(f"{name} gives no painter ({type(error).__name__}: {error}).") from error
    lacking = [part for part in ("about", "fitting", "paint") if not hasattr(painter, part)]
    if lacking:
        raise OpenworldError(
            f"{name} returns a {type(painter).__name__} without {' and '.join(lacking)}; expected a painter, as "
            "openworld.shifts.synthesis.Painter describes it."
        )
    return painter
