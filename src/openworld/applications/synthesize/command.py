"""From what a person names to a plan of a set of images, and from that to the images."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError, failing
from openworld._observer import SILENT, Observer
from openworld.applications.shift.decomposition import DecompositionSource, decomposition_for, distinct_names, lines_of
from openworld.applications.shift.images import Reader, gather
from openworld.applications.synthesize import plan as planning
from openworld.applications.synthesize.painters import (
    PainterSettings,
    find_painter,
    find_screen,
    find_styles,
    shown_labels,
)
from openworld.applications.synthesize.plan import SynthesisOptions, keep_division, kept_division
from openworld.backbones.devices import find_device
from openworld.backbones.loading import load_once
from openworld.datasets.names.class_names import class_names
from openworld.runs import digest
from openworld.shifts.synthesis import GeneratedSet, Screen, SynthesisPlan, begin, generate
from openworld.shifts.synthesis.set_files import require_own

BY_WEIGHTS = "sdxl-turbo"


@dataclass(frozen=True)
class SynthesisInputs:
    """What prompts are wanted, by name, and who paints them."""

    reference: tuple[str, ...]  # folders of images, or data sets as NAME/DOMAIN/PART
    labels: str = ""  # a file or names; "" for what suits the painter
    styles: str = ""
    backbone: str = "embedded"
    source: DecompositionSource = field(default_factory=DecompositionSource)
    device: str = "auto"
    allow_corrupt: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)  # each, k, levels, least, seed of `SynthesisOptions`
    painter: str = BY_WEIGHTS
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the painter
    screen: str = ""
    batch: int | None = None  # images at a time; None asks the painter
    only_plan: bool = False
    out: Path | None = None


@dataclass(frozen=True, eq=False)
class PlannedSet:
    """A plan, and who would paint it."""

    inputs: SynthesisInputs
    options: SynthesisOptions
    plan: SynthesisPlan
    painter: Any
    screen: Screen | None

    def paint(self, observer: Observer = SILENT) -> GeneratedSet:
        """Paint what is missing in the folder, and return the finished set."""
        begin(self.plan, self.painter, self.inputs.out, self.screen)
        settings = {"screen": self.screen, "batch": self.inputs.batch}
        with failing():
            return generate(
                self.plan, self.painter, self.inputs.out, **settings, progress=partial(observer.progress, "painting")
            )


def plan_set(inputs: SynthesisInputs, observer: Observer = SILENT) -> PlannedSet:
    """Measure all prompts against the reference, and plan equally many images of every cell."""
    device = find_device(inputs.device)
    if inputs.out is None and not inputs.only_plan:
        raise OpenworldError("images need a place: give --out FOLDER, or --plan to make nothing.")
    require_own(inputs.out, (*inputs.reference, inputs.source.laid))
    settings, screen = PainterSettings(**inputs.settings, device=device), find_screen(inputs.screen)
    if not inputs.labels and inputs.painter != "rendered":
        raise OpenworldError("give --labels: a text file with a name per line, or a data set of `openworld list`.")
    names = class_names(inputs.labels).names if inputs.labels else shown_labels(settings.drawings())
    options = SynthesisOptions(names, find_styles(inputs.styles, inputs.painter), **inputs.sizes)
    # A plan alone needs no weights, and has none fetched.
    loaded = not inputs.only_plan or inputs.painter != BY_WEIGHTS
    painter = find_painter(inputs.painter, settings, options.prompts) if loaded else None
    return PlannedSet(inputs, options, _plan(inputs, options, device, observer), painter, screen)


def _plan(inputs: SynthesisInputs, options: SynthesisOptions, device: str, observer: Observer) -> SynthesisPlan:
    """Return the plan, by the division that the folder keeps, or by one that is measured now."""
    references = tuple(map(gather, inputs.reference))
    clip = load_once(inputs.backbone, device)
    names = distinct_names([*options.labels, *(name for images in references for name in images.classnames)])
    request = options.request(references, clip, _split(inputs.source, names, options.seed))
    division = kept_division(inputs.out, request) if inputs.out is not None else None
    if division is None:
        planning.require_readable(options, clip)
        decomposition = decomposition_for(inputs.source, clip, names, options.seed, observer.progress)
        with failing():
            reader = Reader(clip, inputs.allow_corrupt, observer.progress)
            division = planning.divide(options, references, decomposition, reader)
        if inputs.out is not None:
            keep_division(inputs.out, options, request, division, decomposition)
    return planning.plan(options, division, request)


def _split(source: DecompositionSource, names: tuple[str, ...], seed: int) -> dict[str, Any]:
    """Return which decomposition: the bytes of a kept one, or what one is fitted to."""
    if source.laid is None:
        return {"method": "LAID", "names": digest(names), "templates": lines_of(source.templates), "seed": seed}
    try:
        return {"file": hashlib.sha256(source.laid.read_bytes()).hexdigest()}
    except OSError as error:
        raise OpenworldError(f"{source.laid} cannot be read ({error}); give a kept LAID.") from error
