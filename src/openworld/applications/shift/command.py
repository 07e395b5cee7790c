"""From what a person names to degrees, and from these to a report and files."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from openworld import __version__
from openworld._csv import as_cell
from openworld._embeddings import holds_embeddings
from openworld._errors import OpenworldError, failing
from openworld._observer import SILENT, Observer
from openworld.applications.own_models import own_encoder
from openworld.applications.shift.decomposition import DecompositionSource, fit_or_read
from openworld.applications.shift.images import ImageCollection, Reader, gather
from openworld.applications.shift.measurement import ComparedSets, ShiftOptions, degree_columns, measure
from openworld.applications.shift.report import report
from openworld.applications.shift.results import START, results_of
from openworld.applications.shift.shift_map import examples
from openworld.applications.shift.verdict import limits, warnings
from openworld.backbones.devices import find_device
from openworld.report.report import Report
from openworld.report.shift_axes import AXES
from openworld.results import Results
from openworld.runs.outputs import SHIFT, require_folder
from openworld.shifts import Levels

JSON, TABLE, LAID = "shift.json", "degrees", "laid.safetensors"
USUAL = ShiftOptions()


@dataclass(frozen=True)
class ShiftInputs:
    """What is compared, as it was named: folders, data sets, files of embeddings, or collections."""

    reference: str | ImageCollection
    tests: tuple[str | ImageCollection, ...]
    backbone: Any = "embedded"  # its name, or an object as `own_models` says
    source: DecompositionSource = field(default_factory=DecompositionSource)  # what tells meaning from appearance
    device: str = "auto"
    allow_corrupt: int = 0  # unreadable images that may be left out
    out: Path | None = None  # where page, degrees, numbers and decomposition are kept; None to keep nothing


def measure_shift(
    inputs: ShiftInputs,
    options: ShiftOptions = USUAL,
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
) -> Report:
    """Measure how far images are from a reference, in meaning and in appearance; `found` are `ImageDegrees`."""
    given = (inputs.reference, *inputs.tests, inputs.backbone, inputs.source.laid)
    require_folder("--out", inputs.out, own=(SHIFT,), inputs=given)
    device = find_device(inputs.device)
    reference, tests = gather(inputs.reference), _gather_all(inputs.tests)
    with_classes = isinstance(inputs.reference, str) and holds_embeddings(inputs.reference, "class_embeddings")
    usual = inputs.backbone == ShiftInputs.backbone
    # embeddings of class names that came with those of the reference stand for a backbone
    clip = own_encoder(inputs.reference if with_classes and usual else inputs.backbone, device)
    clip, decomposition = fit_or_read(inputs.source, clip, [reference, *tests], options.seed, observer.progress)
    reader = Reader(clip, inputs.allow_corrupt, observer.progress)
    with failing():
        pictured = all(collection.images.embeddings is None for collection in (reference, *tests))
        measured = measure(reference, tests, decomposition, options, reader)
        compared = ComparedSets(reference, tests, measured, clip.name, decomposition.about, options.seed)
        answer = report(
            compared,
            results_of(compared, reader),
            examples=tuple(examples(compared)) if pictured else (),
            warnings=tuple(warnings(compared)),
            limits=tuple(limits(compared, clip)),
            made={**(made or {}), **_facts(inputs, clip, decomposition, options)},
        )
    kept = {JSON: answer.to_json().encode(), LAID: decomposition.to_bytes(), **_degree_files(degree_columns(compared))}
    answer = replace(answer, files=kept)
    if inputs.out is not None:
        answer.write(inputs.out)
    return answer


def read_levels(file: Path | None) -> dict[str, Levels] | None:
    """Return the levels by half that an earlier run cut and kept; None without a file."""
    if file is None:
        return None
    if not file.is_file():
        raise OpenworldError(f"there is no file {file}; give the {JSON} that --out kept.")
    try:
        results = Results.from_json(file.read_text(encoding="utf-8"))
        starts = {half: results.where(entity=word, metric=START.key).rows for half, word in AXES.items()}
        return {half: Levels([row.value.value for row in rows if row.where["level"]]) for half, rows in starts.items()}
    except (OSError, ValueError, LookupError, TypeError, OpenworldError) as error:
        raise OpenworldError(f"{file} holds no levels ({error}); give the {JSON} that --out kept.") from error


def _degree_files(columns: Mapping[str, list]) -> dict[str, bytes]:
    """Return the degrees of every image as Parquet and CSV."""
    import pyarrow
    from pyarrow import csv, parquet

    cells = {name: list(map(as_cell, column)) for name, column in columns.items()}
    files = {}
    for ending, write, content in ((".parquet", parquet.write_table, columns), (".csv", csv.write_csv, cells)):
        data = io.BytesIO()
        write(pyarrow.table(content), data)
        files[f"{TABLE}{ending}"] = data.getvalue()
    return files


def _gather_all(tests: Sequence[str | ImageCollection]) -> list[ImageCollection]:
    """Return the test images, under names that differ: of folders of one name with the folder above."""
    named = [isinstance(test, str) for test in tests]
    places = [
        Path(test).resolve() if own and Path(test).exists() else test for test, own in zip(tests, named, strict=True)
    ]
    for at, place in enumerate(places):
        if named[at] and place in places[:at]:
            raise OpenworldError(f"--test {tests[at]} is given twice; give each set of images once.")
    collections = [gather(test) for test in tests]
    names = [collection.name for collection in collections]
    return [
        replace(collection, name="/".join(place.parts[-_depth(place, places) :]))
        if names.count(collection.name) > 1 and isinstance(place, Path)
        else collection
        for collection, place in zip(collections, places, strict=True)
    ]


def _depth(folder: Path, others: Sequence[Path | str]) -> int:
    """Return how many last parts of a path tell it from the others'."""
    rest = [other.parts for other in others if isinstance(other, Path) and other != folder]
    return next(depth for depth in range(1, 99) if all(parts[-depth:] != folder.parts[-depth:] for parts in rest))


def _facts(inputs: ShiftInputs, clip, decomposition, options: ShiftOptions) -> dict[str, str]:
    about = decomposition.about
    taught = f"{about.get('labels', '?')} things in {about.get('templates', '?')} appearances"
    split = f"{about.get('method', 'unknown')} taught by {about.get('taught_by', 'texts')}: {taught}"
    right = about.get("validation") or about.get("training") or {}
    shares = ", ".join(f"{half} {100 * share:.1f} %" for half, share in right.items())
    return {
        "openworld": __version__,
        "backbone": f"{clip.name}, {clip.fingerprint[:16]}",
        "features split by": str(inputs.source.laid or split),
        "held-out triplets in the right order": shares or "unknown",
        "neighbour": str(options.k),
        "seed": str(options.seed),
    }
