"""From what a person names to degrees, and from these to a report and files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from openworld import __version__
from openworld.backbones.devices import find_device
from openworld.core.console import Ending
from openworld.core.errors import OpenworldError, failing
from openworld.core.progress import SILENT, Observer
from openworld.datasets import ImageSet
from openworld.own_data.models import find_encoder
from openworld.own_data.shift.decomposition import EMBEDDED, DecompositionSource, fit_or_read
from openworld.own_data.shift.images import ImageCollection, Reader, gather
from openworld.own_data.shift.measurement import ShiftOptions, degree_columns, measure
from openworld.own_data.shift.report import report
from openworld.own_data.shift.results import START, results_of
from openworld.own_data.shift.shift_map import examples
from openworld.own_data.shift.verdict import limits, warnings
from openworld.report.report import Report
from openworld.report.shift_axes import AXES
from openworld.results import Results
from openworld.runs.outputs import SHIFT, require_folder
from openworld.shifts import Levels
from openworld.tables.embeddings import holds_embeddings
from openworld.tables.files import ScoreFile
from openworld.tables.writing import table_bytes

JSON, TABLE, LAID = "shift.json", "degrees", "laid.safetensors"


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
    options = ShiftOptions(neighbour, levels, least, seed, read_levels(levels_of))
    require_folder("--out", out, own=(SHIFT,), inputs=(reference, *test, backbone, laid))
    device = find_device(device)
    if isinstance(backbone, str) and backbone == EMBEDDED and holds_embeddings(reference, "class_embeddings"):
        backbone = reference  # embeddings of class names that came with those of the reference stand for a backbone
    references, collections = gather(reference, "reference"), _gather_all(test)
    clip = find_encoder(backbone, device)
    clip, decomposition = fit_or_read(source, clip, [references, *collections], options.seed, observer.progress)
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
        "neighbour": str(options.k),
        "seed": str(options.seed),
    }
    with failing():
        measured = measure(references, collections, decomposition, options, reader)
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
