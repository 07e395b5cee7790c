"""The work of `openworld estimate`: from what a person names to tables of scores, and from a judgement to text."""

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from openworld import __version__
from openworld._errors import OpenworldError
from openworld.cli import console

JSON, PAGE, SCORES = "estimate.json", "report.html", "scores"


@dataclass(frozen=True)
class Models:
    """Who looks at pictures, by name. classnames: a text file, or None. architectures: functions that build them."""

    model: str = ""
    classnames: Path | None = None
    template: str = ""
    reference: str = ""
    partners: tuple[str, ...] = ()
    device: str = "auto"
    architectures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Files:
    """What else belongs to files of scores: other models' files, and the column of time stamps."""

    source_partners: tuple[Path, ...] = ()
    target_partners: tuple[Path, ...] = ()
    times: str = ""


@dataclass(frozen=True)
class Sides:
    """What is compared, as it was named; where all of it is kept, or None; and labelled shifts to learn from."""

    source: Sequence[str]
    target: Sequence[str]
    models: Models
    files: Files
    out: Path | None = None
    labelled: Sequence = ()


def carry_out(sides: Sides, asked, out):
    """The judgement; page, plot and JSON of it where they are to be kept."""
    from openworld.applications.estimate.judgement import judge
    from openworld.report.class_names import FILE as AUDIT

    if sides.out is not None:
        (sides.out / AUDIT).unlink(missing_ok=True)  # of an earlier call, maybe on other class names
    with ExitStack() as scratch:
        made = {"command": " ".join(console.command()), "openworld": __version__, "seed": str(asked.seed)}
        source, target, labelled = _tables(sides, scratch, made, out, asked.seed)
        with _told(out.quiet) as progress:
            judged = judge(source, target, asked, progress, labelled=labelled)
    judged = replace(judged, made=made)
    if sides.out is not None:
        keep(judged, sides.out)
    return judged


def keep(judged, folder: Path) -> None:
    """Write page, plots and JSON."""
    from openworld.applications.estimate.page import PLOTS, build_judgement, plots
    from openworld.runs.atomic import write_file

    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / JSON, as_json(judged).encode())
    drawn = plots(judged)
    for name in PLOTS:
        if name in drawn:
            write_file(folder / name, drawn[name].encode())
        else:  # of an earlier call, and not of this judgement
            (folder / name).unlink(missing_ok=True)
    build_judgement(folder, judged)


def as_json(judged) -> str:
    """Every number."""
    from openworld.runs import to_json

    told = to_json(judged) | {"alerts": list(judged.alerts), "untold": list(judged.untold)}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def say(judged, folder: Path | None, out) -> None:
    """Number, table, sentences, warnings, and where things lie."""
    from openworld.applications.estimate.terminal import (
        method_warnings,
        terminal_classes,
        terminal_methods,
        terminal_stretches,
    )
    from openworld.applications.estimate.wording import sentences

    first, *rest = sentences(judged)
    out.print(first, style="bold", markup=False)
    out.print(terminal_methods(judged))
    for sentence in rest:
        out.print(sentence, markup=False)
    for told in (terminal_stretches(judged), terminal_classes(judged)):
        if told is not None:
            out.print()
            out.print(told)
    out.print()
    for line in (*method_warnings(judged), *(f"Note: {warning}." for warning in judged.warnings)):
        out.print(line, style="dim", markup=False)
    if folder is not None:
        out.print(f"Report: {folder / PAGE}   Numbers: {folder / JSON}   Plots: {folder}/*.svg", markup=False)


def _tables(sides: Sides, scratch: ExitStack, made: dict[str, str], out, seed: int):
    """Tables of source, target and labelled shifts; where they are pictures, models look at them first."""
    from openworld.applications.estimate.images import is_pictures
    from openworld.applications.estimate.labelled_shifts import CORRUPTIONS, LabelledTable
    from openworld.applications.estimate.tables import open_table
    from openworld.cli._looking import look_at, refuse_models

    files, names = sides.files, _names(sides.models.classnames)
    if files.source_partners and len(files.source_partners) != len(files.target_partners):
        raise OpenworldError(
            "--source-partner and --target-partner go in pairs, in the same order; GDE can do without --source-partner."
        )
    sources, targets, labelled = list(sides.source), list(sides.target), list(sides.labelled)
    places = [*sources, *targets, *(one.place for one in labelled)]
    if any(one == CORRUPTIONS or is_pictures(one) for one in places):
        sources, targets, labelled = look_at(sides, names, _scores_folder(sides.out, scratch), made, out, seed)
    else:
        refuse_models(sides.models)
    for path in map(Path, (*sources, *targets, *(one.place for one in labelled if not one.artificial))):
        if path.is_file():
            made[path.name] = f"SHA-256 {_digest(path)}"
    source = open_table(sources, classnames=names, partners=files.source_partners)
    others = {"partners": files.target_partners, "times": files.times}
    target = open_table(targets, classnames=names or source.layout.classnames, **others)
    shifts = []
    for one in labelled:
        table = open_table([Path(one.place)], classnames=names or source.layout.classnames)
        shifts.append(LabelledTable(one.family, replace(table, title=one.title), one.artificial))
    return replace(source, title=_title(sides.source)), replace(target, title=_title(sides.target)), shifts


def _title(given: Sequence[str]) -> str:
    """What a side is called: as it was named, without the folders above it."""
    first = Path(given[0]).name if Path(given[0]).exists() else given[0]
    return first if len(given) == 1 else f"{first} and {len(given) - 1} more"


def _scores_folder(out: Path | None, scratch: ExitStack) -> Path:
    """Where scores of pictures are written: they are kept where the rest is kept."""
    folder = Path(scratch.enter_context(tempfile.TemporaryDirectory())) if out is None else out / SCORES
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _names(file: Path | None) -> tuple[str, ...] | None:
    from openworld.datasets.names.class_names import class_names

    return None if file is None else class_names(str(file)).names


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _told(quiet: bool) -> Iterator[Callable[[str, int], None]]:
    """A line on a terminal that says what is being done and how far it is."""
    with console.bars(quiet) as progress:
        bar = progress.add_task("", total=None, rate="")

        def told(doing: str, done: int) -> None:
            progress.update(bar, description=doing, completed=done)

        yield told
