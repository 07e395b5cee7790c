"""From what a person names to a plan of a set of images, and from that to the images."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from openworld.backbones.devices import find_device
from openworld.backbones.loading import load_once
from openworld.core.errors import OpenworldError, failing
from openworld.core.functions import find_function
from openworld.core.progress import SILENT, Observer
from openworld.datasets.names.class_names import class_names
from openworld.own_data.shift.decomposition import DecompositionSource, decomposition_for, distinct_names, lines_of
from openworld.own_data.shift.images import Reader, gather
from openworld.own_data.synthesize import plan as planning
from openworld.own_data.synthesize.painters import (
    RENDERED,
    TURBO,
    TURBO_PAINTER,
    PainterSettings,
    find_painter,
    find_styles,
)
from openworld.own_data.synthesize.plan import SynthesisOptions, keep_division, kept_division
from openworld.runs import digest
from openworld.shifts.synthesis import GeneratedSet, Screen, SynthesisPlan, begin, generate
from openworld.shifts.synthesis.generating import require_own


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
    about = PainterSettings(tuple(map(str, images)), weights or TURBO, side, steps, guidance, device)
    screened = Screen(screen, find_function(screen)) if screen else None
    if not labels and painter != RENDERED:
        raise OpenworldError("give --labels: a text file with a name per line, or a data set of `openworld list`.")
    if labels:
        names = class_names(labels).names
    else:
        drawn = about.drawings()
        names = tuple(drawn.classnames[label] for label in sorted(set(drawn.labels.tolist())))  # that have an image
    options = SynthesisOptions(names, find_styles(styles, painter), each, neighbour, levels, least, seed)
    # A plan alone needs no weights, and has none fetched.
    loaded = not only_plan or painter != TURBO_PAINTER
    ready = find_painter(painter, about, options.prompts) if loaded else None

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
