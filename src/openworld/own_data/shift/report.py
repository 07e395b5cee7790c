"""What a measured shift says: a layout over its rows, the map of its cells, and images."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from openworld.own_data.shift.measurement import ImageDegrees
from openworld.own_data.shift.results import (
    CONCEPT,
    FAR,
    FAR_ALONE,
    IMAGES,
    MEDIAN,
    ORDERED,
    OWN_MEDIAN,
    START,
    STYLE,
    USUAL,
)
from openworld.own_data.shift.shift_map import ExampleImage, shift_examples, shift_map
from openworld.own_data.shift.verdict import sentences
from openworld.report.album import Album, AlbumImage, AlbumPart
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Own, Pivot
from openworld.report.report import Report
from openworld.results import Results

KINDS = {
    "semantic": "Farthest in meaning",
    "covariate": "Farthest in appearance",
    "near": "Nearest in both",
    "reference": "The reference",
}
GROUP: Any = {
    "rows": ("name",),
    "columns": (ENTITY, METRIC),
    "metrics": (IMAGES.key, FAR.key, MEDIAN.key),
    "terminal": True,
}


def _album(brief: Brief) -> Iterator[Album]:
    """Yield the farthest and the nearest images, and some of the reference."""
    parts = []
    for kind, heading in KINDS.items():
        examples = [example for example in brief.source[1] if example.kind == kind]
        degrees = [f"{one.semantic:.3f} · {one.covariate:.3f}" if kind != "reference" else "" for one in examples]
        images = (AlbumImage(one.address or None, one.name, text) for one, text in zip(examples, degrees, strict=True))
        parts += [AlbumPart(heading, tuple(images))] if examples else []
    about = (
        "Under each image its degrees in meaning and in appearance; of the reference some images at random. "
        "Every image's degrees are in degrees.csv."
    )
    if parts:
        yield Album("Images", about, tuple(parts))


LAYOUT = Layout(
    "How far are they from the reference?",
    "",
    (
        Pivot(
            name="axes",
            title="The numbers",
            metrics=(FAR.key, MEDIAN.key, USUAL.key, OWN_MEDIAN.key, FAR_ALONE.key, ORDERED.key),
        ),
        Own(name="shift-map", title="Where the images lie", draw=lambda brief: [shift_map(brief.source[0])]),
        Pivot(
            name="cells",
            title="Where the images lie",
            metrics=(IMAGES.key,),
            rows=("covariate_level",),
            columns=("semantic_level",),
            folded=True,
            terminal=True,
        ),
        Own(
            name="shift-examples", title="Images of every cell", draw=lambda brief: [shift_examples(*brief.source[:2])]
        ),
        Pivot(name="styles", title="Which styles are far", of={"group": STYLE}, label="style", **GROUP),
        Pivot(name="concepts", title="Which concepts are far", of={"group": CONCEPT}, label="concept", **GROUP),
        Own(name="limits", title="What this cannot tell", draw=lambda brief: brief.source[2]),
        Pivot(name="sets", title="Images that were read", rows=("set",)),
        Pivot(name="far", title="In which half images are far", rows=("far_in",)),
        Pivot(
            name="levels",
            title="Levels",
            metrics=(START.key, IMAGES.key),
            rows=("level",),
            columns=(ENTITY, METRIC),
            note="Level 0 is open below, the last one above.",
        ),
        Own(name="images", title="The images", draw=_album),
    ),
)


def report(
    measured: ImageDegrees,
    results: Results,
    examples: Sequence[ExampleImage],
    warnings: Sequence[str],
    limits: Sequence[str],
    made: Mapping[str, str],
) -> Report:
    """Return everything that is to be said of a measured shift."""
    tests = ", ".join(images.name for images in measured.tests)
    counts = f"{len(measured.row):,} images of {tests}", f"{measured.known:,} of {measured.reference.name}"
    brief = Brief(
        results,
        label="shift",
        subtitle=(*counts, measured.backbone),
        notes={
            "axes": f"A degree is the cosine distance to the nearest reference image number {measured.k}, in one half "
            "of the features. Far: above what 95 % of the reference's own images stay below.",
            "cells": f"Statistics of cells with fewer than {measured.grid.least} images are N/A.",
        },
        sentences=sentences(results, measured),
        warnings=tuple(f"Note: {warning}." for warning in warnings),
        source=(measured, examples, limits),
    )
    facts = {
        "backbone": measured.backbone,
        "k": measured.k,
        "least": measured.grid.least,
        "examples": [
            {key: value for key, value in asdict(example).items() if key != "address"} for example in examples
        ],
        "warnings": list(warnings),
        "limits": list(limits),
        "made": dict(made),
    }
    return LAYOUT.report(brief, made=made, found=measured, facts=facts)
