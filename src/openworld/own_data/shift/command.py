"""From what a person names to degrees, and from these to a report (a layout over its rows, a map, images) and files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from openworld import __version__
from openworld.backbones.devices import find_device
from openworld.core.console import Ending
from openworld.core.errors import OpenworldError, failing
from openworld.core.progress import SILENT, Observer
from openworld.datasets import ImageSet
from openworld.features import encode
from openworld.own_data.models import find_encoder
from openworld.own_data.shift.decomposition import EMBEDDED, DecompositionSource, fit_or_read
from openworld.own_data.shift.images import ImageCollection, Reader, gather
from openworld.own_data.shift.measurement import (
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
    ImageDegrees,
    degree_columns,
    measure,
    results_of,
)
from openworld.own_data.shift.shift_map import ExampleImage, examples, shift_examples, shift_map
from openworld.own_data.shift.verdict import limits, sentences, warnings
from openworld.report.album import Album, AlbumImage
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Own, Pivot
from openworld.report.report import Report
from openworld.report.shift_axes import AXES
from openworld.results import Results
from openworld.runs.outputs import SHIFT, require_folder
from openworld.shifts import Levels
from openworld.tables.embeddings import holds_embeddings
from openworld.tables.files import ScoreFile
from openworld.tables.parquet import table_bytes

JSON, TABLE, LAID = "shift.json", "degrees", "laid.safetensors"

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
        parts += [(heading, tuple(images))] if examples else []
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


def shift(
    reference: str | ImageSet | ScoreFile,
    test: Sequence[str | ImageSet | ScoreFile],
    *,
    backbone: Any = EMBEDDED,
    out: Path | None = None,
    device: str = "auto",
    allow_corrupt: int = 0,
    laid: Path | None = None,
    classnames: Path | Sequence[str] | None = None,
    templates: Path | None = None,
    taught_by: str = "texts",
    most_names: int = 200,
    neighbour: int = 10,
    levels: int = 8,
    levels_of: Path | None = None,
    least: int = 10,
    seed: int = 0,
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
) -> Report:
    """Measure images against a reference as `openworld.shift` does; `found` are `ImageDegrees`."""
    source = DecompositionSource(laid, classnames, templates, taught_by, most_names)
    how: dict[str, Any] = {"k": neighbour, "levels": levels, "least": least, "seed": seed}
    how["cuts"] = read_levels(levels_of)
    require_folder("--out", out, own=(SHIFT,), inputs=(reference, *test, backbone, laid))
    device = find_device(device)
    if isinstance(backbone, str) and backbone == EMBEDDED and holds_embeddings(reference, "class_embeddings"):
        backbone = reference  # embeddings of class names that came with those of the reference stand for a backbone
    references, collections = gather(reference, "reference"), _gather_all(test)
    clip = find_encoder(backbone, device)
    for collection in (references, *collections):
        if collection.images.embeddings is not None:
            encode(clip, collection.images)  # those of another model are refused before anything is learned
    clip, decomposition = fit_or_read(source, clip, [references, *collections], seed, observer.progress)
    reader = Reader(clip, allow_corrupt, observer.progress)
    about = decomposition.about
    taught = f"{about.get('labels', '?')} things in {about.get('templates', '?')} appearances"
    split = f"{about.get('method', 'unknown')} taught by {about.get('taught_by', 'texts')}: {taught}"
    right = about.get("validation") or about.get("training") or {}
    shares = ", ".join(f"{half} {100 * share:.1f} %" for half, share in right.items())
    facts = {
        "openworld": __version__,
        "backbone": f"{clip.name}, {clip.fingerprint[:16]}",
        "features split by": str(source.laid or split),
        "held-out triplets in the right order": shares or "unknown",
        "neighbour": str(neighbour),
        "seed": str(seed),
    }
    with failing():
        measured = measure(references, collections, decomposition, reader, **how)
        has_pixels = all(collection.images.embeddings is None for collection in (references, *collections))
        answer = report(
            measured,
            results_of(measured, reader),
            examples=tuple(examples(measured)) if has_pixels else (),
            warnings=tuple(warnings(measured)),
            limits=tuple(limits(measured, clip)),
            made={**(made or {}), **facts},
        )
    files = {JSON: answer.to_json().encode(), LAID: decomposition.to_bytes()}
    files |= {f"{TABLE}{ending}": table_bytes(ending, degree_columns(measured)) for ending in (".parquet", ".csv")}
    answer = replace(answer, files=files)
    if out is not None:
        answer.write(out)
    return replace(answer, ending=Ending.at(out, f"Degrees: {out}/{TABLE}.csv, .parquet   LAID: {out}/{LAID}"))


def read_levels(file: Path | None) -> dict[str, Levels] | None:
    """Return the levels by half that an earlier run cut and kept; None without a file."""
    if file is None:
        return None
    if not file.is_file():
        raise OpenworldError(f"there is no file {file}; give the {JSON} that --out kept.")
    try:
        results = Results.from_json(file.read_text(encoding="utf-8"))
        starts = {half: results.where(entity=word, metric=START.key).rows for half, word in AXES.items()}
        cuts: dict[str, Any] = {
            half: [row.value.value for row in rows if row.where["level"]] for half, rows in starts.items()
        }
        return {half: Levels(levels) for half, levels in cuts.items()}
    except (OSError, ValueError, LookupError, TypeError, OpenworldError) as error:
        raise OpenworldError(f"{file} holds no levels ({error}); give the {JSON} that --out kept.") from error


def _gather_all(tests: Sequence[str | ImageSet | ScoreFile]) -> list[ImageCollection]:
    """Return the test images, under names that differ: of folders of one name with those above."""
    folders = {
        at: Path(test).resolve() for at, test in enumerate(tests) if isinstance(test, str) and Path(test).exists()
    }
    places = [folders.get(at, test) for at, test in enumerate(tests)]
    for at, test in enumerate(tests):
        if isinstance(test, str) and places[at] in places[:at]:
            raise OpenworldError(f"--test {test} is given twice; give each set of images once.")
    titles, depth = ["test"] if len(tests) == 1 else [f"test {place}" for place in range(1, len(tests) + 1)], 1
    collections = list(map(gather, tests, titles))
    while len({folder.parts[-depth:] for folder in folders.values()}) < len(folders):
        depth += 1
    names = [collection.name for collection in collections]
    for at, folder in folders.items():
        if names.count(names[at]) > 1:
            collections[at] = replace(collections[at], name="/".join(folder.parts[-depth:]))
    return collections


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
