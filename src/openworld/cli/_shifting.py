"""The work of `openworld shift`: from what a person names to degrees, and from these to text and files."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from openworld import __version__
from openworld._errors import OpenworldError
from openworld.cli import console

JSON, PAGE, TABLE, LAID = "shift.json", "report.html", "degrees", "laid.safetensors"


@dataclass(frozen=True)
class Words:
    """What tells meaning from looks: a kept decomposition, or files of names and sentences; None for the usual."""

    laid: Path | None = None
    classnames: Path | None = None
    templates: Path | None = None


@dataclass(frozen=True)
class Sides:
    """What is compared, as it was named, and how it is looked at."""

    reference: str
    tests: tuple[str, ...]
    backbone: str
    words: Words
    device: str = "cpu"
    allow_corrupt: int = 0


@dataclass(frozen=True, eq=False)
class Done:
    """The result, the table of degrees by column, and the decomposition."""

    found: object
    table: dict[str, list]
    decomposition: object


def carry_out(sides: Sides, asked, out) -> Done:
    """Measure everything."""
    from openworld.protocols._judging_models import SHORT
    from openworld.protocols._shift_found import Compared, found, table
    from openworld.protocols._shift_pictures import Reader, gather
    from openworld.protocols._workbench import backbone, require_device
    from openworld.protocols.measuring_shift import measure

    require_device(sides.device)
    reference, tests = gather(sides.reference), _apart([gather(one) for one in sides.tests])
    clip = backbone(SHORT.get(sides.backbone, sides.backbone), sides.device)
    with _told(out.quiet) as told:
        names = _names(sides.words, [reference, *tests])
        decomposition = _decomposition(sides.words, clip, names, asked.seed, told)
        reader = Reader(clip, sides.allow_corrupt, None, told)
        with console.working():
            measured = measure(reference, tests, decomposition, asked, reader)
            compared = Compared(reference, tests, measured, decomposition.about.get("validation") or {})
            result = found(compared, asked, reader, _made(sides, clip, decomposition, asked))
    return Done(result, table(compared), decomposition)


def keep(done: Done, folder: Path) -> None:
    """Write page, table, JSON and decomposition."""
    import io

    import pyarrow
    from pyarrow import csv, parquet

    from openworld.report.shifts.found_page import build_shift
    from openworld.runs.atomic import write_file

    folder.mkdir(parents=True, exist_ok=True)
    columns = pyarrow.table(done.table)
    for ending, write in ((".parquet", parquet.write_table), (".csv", csv.write_csv)):
        data = io.BytesIO()
        write(columns, data)
        write_file(folder / f"{TABLE}{ending}", data.getvalue())
    write_file(folder / JSON, as_json(done.found).encode())
    write_file(folder / LAID, done.decomposition.to_bytes())
    build_shift(folder, done.found)


def as_json(found) -> str:
    """Every number but the degrees of single pictures."""
    return json.dumps(found.to_dict(), indent=1, ensure_ascii=False) + "\n"


def say(found, folder: Path | None, out) -> None:
    """Sentences, tables, warnings, and where things lie."""
    from openworld.report.shifts.found_words import shift_sentences, terminal_cells, terminal_groups

    first, *rest = shift_sentences(found)
    out.print(first, style="bold", markup=False)
    for sentence in rest:
        out.print(sentence, markup=False)
    groups = terminal_groups(found.looks, "look", "covariate"), terminal_groups(found.concepts, "concept", "semantic")
    for told in (*groups, terminal_cells(found)):
        if told is not None:
            out.print()
            out.print(told)
    for warning in found.warnings:
        out.print(f"Note: {warning}.", style="dim", markup=False)
    if folder is not None:
        out.print(f"Report: {folder / PAGE}   Degrees: {folder / TABLE}.csv, .parquet   LAID: {folder / LAID}")


def _apart(tests: list) -> list:
    """The same sets under names that differ."""
    from dataclasses import replace

    seen: dict[str, int] = {}
    for place, one in enumerate(tests):
        seen[one.name] = seen.get(one.name, 0) + 1
        if seen[one.name] > 1:
            tests[place] = replace(one, name=f"{one.name} ({seen[one.name]})")
    return tests


def _names(words: Words, sets: list) -> tuple[str, ...]:
    """Names that LAID learns from: those given, else those of all class folders."""
    from openworld.datasets.class_names import class_names

    if words.classnames is not None:
        own = class_names(str(words.classnames)).names
    else:
        own = tuple(name for one in sets for name in one.classnames)
    return tuple({name.casefold(): name for name in own}.values())


def _decomposition(words: Words, clip, names: tuple[str, ...], seed: int, told):
    from openworld.protocols._shift_texts import fit_laid, read_laid

    if words.laid is not None:
        return read_laid(words.laid, clip)
    if not names:
        raise OpenworldError(
            "no picture lies in a class folder, so there are no class names for LAID to learn from: give a list with "
            "--classnames FILE, a name per line, or a fitted decomposition with --laid."
        )
    return fit_laid(clip, names, _lines(words.templates), seed=seed, told=told)


def _lines(file: Path | None) -> tuple[str, ...]:
    if file is None:
        return ()
    try:
        return tuple(line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise OpenworldError(f"{file} cannot be read ({error}); give a text file with a sentence per line.") from error


def _made(sides: Sides, clip, decomposition, asked) -> dict[str, str]:
    about = decomposition.about
    split = f"{about.get('method', 'unknown')} of {about.get('labels', '?')} names, {about.get('templates', '?')} looks"
    right = about.get("validation") or about.get("training") or {}
    shares = ", ".join(f"{half} {100 * share:.1f} %" for half, share in right.items())
    return {
        "command": " ".join(console.command()),
        "openworld": __version__,
        "backbone": f"{clip.name}, {clip.fingerprint[:16]}",
        "features split by": str(sides.words.laid or split),
        "triplets of texts in the right order": shares or "unknown",
        "neighbour": str(asked.k),
        "seed": str(asked.seed),
    }


@contextmanager
def _told(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on a terminal that says what is being done."""
    with console.bars(quiet) as progress:
        bar = progress.add_task("", total=None, rate="")

        def told(doing: str, done: int, total: int) -> None:
            progress.update(bar, description=doing, completed=done, total=total)

        yield told
