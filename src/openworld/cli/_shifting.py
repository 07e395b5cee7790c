"""The work of `openworld shift`: from what a person names to degrees, and from these to text and files."""

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from openworld import __version__
from openworld._errors import OpenworldError
from openworld.cli import console

JSON, PAGE, TABLE, LAID = "shift.json", "report.html", "degrees", "laid.safetensors"


@dataclass(frozen=True)
class Words:
    """What tells meaning from looks: a kept decomposition, or files of names and sentences; None for the usual.

    taught_by: "texts", or "pictures" of the reference in the place of names and sentences.
    """

    laid: Path | None = None
    classnames: Path | None = None
    templates: Path | None = None
    taught_by: str = "texts"


@dataclass(frozen=True)
class Sides:
    """What is compared, as it was named, and how it is looked at."""

    reference: str
    tests: tuple[str, ...]
    backbone: str
    words: Words
    device: str = "auto"
    allow_corrupt: int = 0


@dataclass(frozen=True, eq=False)
class Done:
    """The result, the table of degrees by column, and the decomposition."""

    found: object
    table: dict[str, list]
    decomposition: object


def carry_out(sides: Sides, asked, out) -> Done:
    """Measure everything."""
    from openworld.applications.shift import remarks
    from openworld.applications.shift.examples import examples
    from openworld.applications.shift.findings import Compared, found, table
    from openworld.applications.shift.images import Reader, gather
    from openworld.applications.shift.measurement import measure
    from openworld.backbones.devices import find_device
    from openworld.evaluations.runtime import backbone

    device = find_device(sides.device)
    reference, tests = gather(sides.reference), _gathered(sides.tests)
    clip = backbone(sides.backbone, device)
    with telling(out.quiet) as told:
        clip, decomposition = _split(sides.words, clip, [reference, *tests], asked.seed, told)
        reader = Reader(clip, sides.allow_corrupt, None, told)
        with console.working():
            measured = measure(reference, tests, decomposition, asked, reader)
            compared = Compared(reference, tests, measured, decomposition.about, asked.seed)
            result = found(
                compared,
                reader,
                examples=tuple(examples(compared)),
                warnings=tuple(remarks.warnings(compared)),
                limits=tuple(remarks.limits(compared, clip)),
                made=_made(sides, clip, decomposition, asked),
            )
    return Done(result, table(compared), decomposition)


def cuts(file: Path | None) -> dict | None:
    """Levels by half as an earlier run cut them; None without a file."""
    from openworld.shift import HALVES, Levels

    if file is None:
        return None
    if not file.is_file():
        raise OpenworldError(f"there is no file {file}; give the {JSON} that --out kept.")
    try:
        axes = json.loads(file.read_text(encoding="utf-8"))["axes"]
        return {half: Levels(axes[half]["cuts"]) for half in HALVES}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OpenworldError(f"{file} holds no levels ({error}); give the {JSON} that --out kept.") from error


def require_room(folder: Path | None) -> None:
    """Refuse a file in the place of the folder, and the folder of a run, whose page would be lost; before any work."""
    if folder is None:
        return
    if folder.exists() and not folder.is_dir():
        raise OpenworldError(f"--out {folder} is a file; give a folder, which is made where it is missing.")
    if (folder / "run.json").exists() or (folder / "order.json").exists():
        raise OpenworldError(f"--out {folder} holds a run, or a set of made pictures; give another folder.")


def keep(done: Done, folder: Path) -> None:
    """Write page, table, JSON and decomposition."""
    import io

    import pyarrow
    from pyarrow import csv, parquet

    from openworld._csv import as_cell
    from openworld.applications.shift.page import build_shift
    from openworld.runs.atomic import write_file

    folder.mkdir(parents=True, exist_ok=True)
    cells = {name: list(map(as_cell, column)) for name, column in done.table.items()}
    for ending, write, columns in ((".parquet", parquet.write_table, done.table), (".csv", csv.write_csv, cells)):
        data = io.BytesIO()
        write(pyarrow.table(columns), data)
        write_file(folder / f"{TABLE}{ending}", data.getvalue())
    write_file(folder / JSON, as_json(done.found).encode())
    write_file(folder / LAID, done.decomposition.to_bytes())
    build_shift(folder, done.found)


def as_json(found) -> str:
    """Every number but the degrees of single pictures."""
    return json.dumps(found.to_dict(), indent=1, ensure_ascii=False) + "\n"


def say(found, folder: Path | None, out) -> None:
    """Sentences, tables, warnings, and where things lie."""
    from openworld.applications.shift.wording import shift_sentences, terminal_cells, terminal_groups

    first, *rest = shift_sentences(found)
    out.print(first, style="bold", markup=False)
    for warning in found.warnings:
        out.print(f"Note: {warning}.", markup=False)
    for sentence in rest:
        out.print(sentence, markup=False)
    groups = terminal_groups(found.looks, "look", "covariate"), terminal_groups(found.concepts, "concept", "semantic")
    for told in (*groups, terminal_cells(found)):
        if told is not None:
            out.print()
            out.print(told)
    if folder is not None:
        out.print(f"Report: {folder / PAGE}   Degrees: {folder / TABLE}.csv, .parquet   LAID: {folder / LAID}")


def _gathered(tests: tuple[str, ...]) -> list:
    """The sets of pictures, under names that differ: folders of one name by that of the folder they lie in, too."""
    from openworld.applications.shift.images import gather

    places = [Path(one).resolve() if Path(one).exists() else one for one in tests]
    for place, one in enumerate(places):
        if one in places[:place]:
            raise OpenworldError(f"--test {tests[place]} is given twice; give each set of pictures once.")
    found = [gather(one) for one in tests]
    names = [one.name for one in found]
    return [
        replace(one, name="/".join(place.parts[-_depth(place, places) :]))
        if names.count(one.name) > 1 and isinstance(place, Path)
        else one
        for one, place in zip(found, places, strict=True)
    ]


def _depth(folder: Path, others: list) -> int:
    """How many last parts of a path tell it from the others'."""
    rest = [one.parts for one in others if isinstance(one, Path) and one != folder]
    return next(depth for depth in range(1, 99) if all(parts[-depth:] != folder.parts[-depth:] for parts in rest))


def _names(words: Words, sets: list) -> tuple[str, ...]:
    """Names that LAID learns from: those given, else those of all class folders."""
    from openworld.datasets.names.class_names import class_names
    from openworld.datasets.names.forms import normalise_class_name

    if words.classnames is not None:
        own = class_names(str(words.classnames)).names
    else:
        own = tuple(name for one in sets for name in one.classnames)
    return tuple({normalise_class_name(name): name for name in own}.values())


def _split(words: Words, clip, sets: list, seed: int, told) -> tuple:
    """What the pictures are encoded with, and its decomposition."""
    from openworld._errors import unknown_name
    from openworld.applications.shift import image_decomposition as seeing
    from openworld.shift import AppearanceEncoder, load_decomposition

    if words.taught_by not in seeing.TEACHERS:
        raise unknown_name("teacher of LAID", words.taught_by, seeing.TEACHERS)
    kept = words.laid and load_decomposition(words.laid).about.get("taught_by")
    if kept == seeing.PICTURES:
        clip = AppearanceEncoder(clip)
    elif words.laid is None and words.taught_by == seeing.PICTURES:
        clip = AppearanceEncoder(clip)
        return clip, seeing.fit_by_pictures(clip, sets[0], seed=seed, told=told)
    return clip, split_for(words, clip, _names(words, sets), seed, told)


def split_for(words: Words, clip, names: tuple[str, ...], seed: int, told):
    """The decomposition: read where one is kept, else fitted to the names."""
    from openworld.applications.shift.text_decomposition import fit_laid, read_laid

    if words.laid is not None:
        return read_laid(words.laid, clip)
    if not names:
        raise OpenworldError(
            "no picture lies in a class folder, so there are no class names for LAID to learn from: give a list with "
            "--classnames FILE, a name per line, or a fitted decomposition with --laid."
        )
    return fit_laid(clip, names, lines_of(words.templates), seed=seed, told=told)


def lines_of(file: Path | None) -> tuple[str, ...]:
    """The lines of a text file that hold anything; () without a file."""
    if file is None:
        return ()
    try:
        return tuple(line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise OpenworldError(f"{file} cannot be read ({error}); give a text file with a sentence per line.") from error


def _made(sides: Sides, clip, decomposition, asked) -> dict[str, str]:
    about = decomposition.about
    taught = f"{about.get('labels', '?')} things in {about.get('templates', '?')} looks"
    split = f"{about.get('method', 'unknown')} taught by {about.get('taught_by', 'texts')}: {taught}"
    right = about.get("validation") or about.get("training") or {}
    shares = ", ".join(f"{half} {100 * share:.1f} %" for half, share in right.items())
    return {
        "command": shlex.join(console.command()),
        "openworld": __version__,
        "backbone": f"{clip.name}, {clip.fingerprint[:16]}",
        "features split by": str(sides.words.laid or split),
        "held-out triplets in the right order": shares or "unknown",
        "neighbour": str(asked.k),
        "seed": str(asked.seed),
    }


@contextmanager
def telling(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on a terminal that says what is being done."""
    with console.bars(quiet) as progress:
        bar = progress.add_task("", total=None, rate="")

        def told(doing: str, done: int, total: int) -> None:
            progress.update(bar, description=doing, completed=done, total=total)

        yield told
