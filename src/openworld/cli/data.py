"""`openworld data`: what to download, what is on disk of it, and whether its class names are sound."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from openworld.cli import console
from openworld.cli._options import AsJson, DataFolder

data = typer.Typer(
    no_args_is_help=True, help="Data sets to download: which, are they whole, are their class names sound?"
)

_SHOWN = 8  # parts of a data set that are counted one by one


def plan(
    paper: Annotated[str, typer.Argument(help="openworldauc, openpl, frap or is-ood.")],
    root: DataFolder = None,
    table: Annotated[
        list[str] | None, typer.Option(help="Number of a table; repeat it. Default: all tables and figures.")
    ] = None,
    figure: Annotated[
        list[str] | None, typer.Option(help="Number of a figure, such as 3, 5 or 5a, or all; repeat it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what to download for a paper: from where, how large, into which folder, under which licence.

    ```sh
    openworld data plan openworldauc --table 2
    openworld data plan frap --root ~/data
    ```

    A table of the data sets comes first: their sizes, whether they are there, and which tables and figures need them.
    Below it stands for each that is not there where to get it and where to put it. With `--root`, or $OPENWORLD_DATA,
    that folder is looked at: "there" means that a data set's folder and lists are; `openworld data check NAME` looks at
    every image. Sizes and licences are those that publishers state; "see its page" where none is known for sure.
    Nothing is downloaded.
    """
    import os

    from openworld.datasets.published.downloaded import VARIABLE
    from openworld.reproduction.data_plan import data_plan

    named = root or os.environ.get(VARIABLE)
    found = data_plan(paper, table or (), named, figures=figure or ())
    if as_json:
        console.write(json.dumps(found.plain(), indent=1))
    else:
        _say_plan(found, named, console.output())


def _say_plan(found, root, out) -> None:
    """Print a plan: a table of data sets, where to get those that are missing, and how much that is."""
    from openworld.papers import PAPERS
    from openworld.report.render import terminal_table
    from openworld.report.table import Column, Row, Table
    from openworld.reproduction.data_plan import THERE
    from openworld.reproduction.plan import in_words
    from openworld.results import TEXT

    place = f" · data in {root}" if root else ""
    out.print(f"{PAPERS[found.paper]} · {in_words(found.tables, found.figures)}{place}", markup=False)
    rows = []
    same_files: dict[tuple, list[str]] = {}  # the tasks of BREEDS are one download
    for entry in found.datasets:
        download, mark = entry.download, "" if entry.needed else " *"
        use = in_words(entry.tables, entry.figures)
        rows.append(Row(download.name + mark, (download.size_in_words, entry.state or "not looked at", use)))
        if entry.state != THERE and download.files:
            facts = download.files, download.into, download.licence, entry.instead
            same_files.setdefault(facts, []).append(f"{download.name} ({entry.title})")
    columns = (Column(TEXT, "size"), Column(TEXT, "state"), Column(TEXT, "for"))
    out.print(terminal_table(Table("data", "", "", "data set", columns, tuple(rows), best="")))
    for (files, into, licence, instead), names in same_files.items():
        out.print(f"\n{', '.join(names)}{f' *, in the place of {instead}' if instead else ''}", markup=False)
        out.print(f"  into: {into}\n  licence: {licence}", markup=False)
        for file in files:
            out.print(f"  {file.what}: {file.address}", markup=False, soft_wrap=True)
    out.print("\n" + "\n".join(found.sentences), markup=False)


_NAMES = (
    "Of `openworld list datasets`; all: those in CoOp's layout; shifted: those of accuracy without labels; openood: "
    "OpenOOD's benchmarks."
)


def check(
    names: Annotated[list[str], typer.Argument(help=_NAMES)],
    root: DataFolder = None,
    decode: Annotated[bool, typer.Option("--decode", help="Decode every image too; slow.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only what is wrong.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what is missing or wrong in downloaded data sets, and where to get it.

    It checks folders, split files, and that every image is there and not empty, and compares the counts with the
    published ones. Nothing is downloaded or changed. Exit code 0: all are complete; 1: something is wrong.

    The folders are those of CoOp (Zhou et al., 2022), such as `DIR/oxford_pets/images/` beside
    `DIR/oxford_pets/split_zhou_OxfordPets.json`; other data sets have a folder each.
    """
    from dataclasses import asdict

    from openworld.datasets import DATASETS, PUBLISHED, SHIFTED
    from openworld.datasets import check as inspect
    from openworld.datasets.checking import Inspection
    from openworld.datasets.published.openood import BENCHMARKS

    several = {"all": PUBLISHED, "shifted": SHIFTED, "openood": BENCHMARKS}
    wanted = dict.fromkeys(dataset for name in names for dataset in several.get(name, (name,)))
    along = {name for name in wanted if name in DATASETS and not DATASETS[name].download}
    whole = ("comes with openworld: there is nothing to download",)
    inspections = [
        Inspection(name, "", None, {}, (), whole, ()) if name in along else inspect(name, root, decoded=decode)
        for name in wanted
    ]
    if as_json:
        console.write(json.dumps([asdict(found) | {"ok": found.ok} for found in inspections], indent=1))
    else:
        for found in inspections:
            if not (found.ok and quiet):
                _say_inspection(found, console.output())
    if not all(found.ok for found in inspections):
        sys.exit(1)


def _say_inspection(found, out) -> None:
    """Print what was found of a data set; addresses only where something is wrong."""
    from openworld.datasets import PUBLISHED
    from openworld.datasets.published.catalogue import COOP_PAGE

    counts = ""
    if found.classes is not None:
        parts = ", ".join(f"{count:,} {part}" for part, count in found.pictures.items())
        if len(found.pictures) > _SHOWN:
            parts = f"{sum(found.pictures.values()):,} in {len(found.pictures)} conditions"
        counts = f"{found.classes} classes; images: {parts}."
    if found.ok:
        out.print(f"{found.name}: whole. {counts}", markup=False)
        for remark in found.remarks:
            out.print(f"  {remark}", markup=False)
        return
    out.print(f"{found.name}: not ready. {counts}".rstrip(), markup=False)
    for number, sentence in enumerate(found.wrong, start=1):
        out.print(f"  {number}. {sentence}", markup=False)
    layout = f" (layout: {COOP_PAGE})" if found.name in PUBLISHED else ""
    out.print(f"  Where to get it{layout}:", markup=False)
    for what, address in found.sources:
        out.print(f"    {what}: {address}", markup=False)


def audit(
    names: Annotated[list[str], typer.Argument(help="Data sets, or text files (.txt) with a class name per line.")],
    against: Annotated[
        list[str] | None,
        typer.Option(help="Another data set whose names must not clash with these; repeat it for several."),
    ] = None,
    base: Annotated[
        Path | None, typer.Option(help="Text file (.txt) of the base classes' names; default: the first half.")
    ] = None,
    new: Annotated[Path | None, typer.Option(help="Likewise of the new ones; classes in neither are left out.")] = None,
    root: DataFolder = None,
    backbone: Annotated[
        str,
        typer.Option(
            help="Whose tokenizer is to read the names (openworld list backbones); left out, tokens are not looked at."
        ),
    ] = "",
    template: Annotated[str, typer.Option(help="Sentence with {} for the name; default: the data set's.")] = "",
    wordnet: Annotated[
        Path | None, typer.Option(help="Folder of WordNet 3.0; default $WNSEARCHDIR, or where Debian puts it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what is wrong with class names, before any number is computed from them.

    Order, duplicates, near-duplicates (punctuation, plural, word order, one letter), synonyms, clashes of base and new
    classes and across data sets, and what the tokenizer of a backbone mangles. No image is looked at.

    An *error* is a class that cannot be told from another, or a sentence that cannot be read: exit code 1. A *warning*
    costs accuracy or misleads; a *note* is worth a look. Checks that were not made are named with the reason.

    Every `openworld run` does this first, of all its data sets, with the tokenizer of its backbone: it says the worst,
    keeps the whole in audit.json, shows it on the report page, and goes on.
    """
    from dataclasses import replace

    from openworld import backbones
    from openworld.datasets import ClassSplit
    from openworld.datasets.names.audit import audit
    from openworld.datasets.names.class_names import class_names
    from openworld.datasets.names.wordnet import find_wordnet
    from openworld.datasets.templates import PHOTO, TEMPLATES

    lists = [class_names(name, root) for name in names]
    if base or new:
        sides = [class_names(str(side)).names if side else () for side in (base, new)]
        for number, listed in enumerate(lists):
            split = ClassSplit.by_names(listed.names, *sides)
            chosen = split.base_names + split.new_names
            lists[number] = replace(listed, names=chosen, wordnet_ids=(), base_count=len(split.base))
    others = {other.dataset: other.names for other in (class_names(name, root) for name in against or [])}
    shared = {"wordnet": find_wordnet(wordnet), "tokenizer": backbones.load(backbone).tokenizer if backbone else None}
    audits = [
        audit(
            listed.names,
            listed.dataset,
            base_count=listed.base_count,
            by_order=listed.base_count is None,
            against={name: theirs for name, theirs in others.items() if name != listed.dataset},
            template=template or TEMPLATES.get(listed.dataset, PHOTO),
            **shared,
        )
        for listed in lists
    ]
    if as_json:
        console.write(json.dumps([checked.to_dict() for checked in audits], indent=1, ensure_ascii=False))
    else:
        for checked in audits:
            _say_audit(checked, console.output())
    if any(checked.counts["error"] for checked in audits):
        sys.exit(1)


def _say_audit(audit, out) -> None:
    out.print(audit.headline, style="bold", markup=False)
    styles = {"error": "red", "warning": "yellow", "note": "dim"}
    for finding in audit.findings:
        text = f"  {finding.severity:<8}{finding.kind:<15}{finding.sentence}"
        out.print(text, style=styles[finding.severity], markup=False)
    for check in audit.not_made:
        out.print(f"  not made: {check}", style="dim", markup=False)


def overlaps(
    names: Annotated[list[str], typer.Argument(help="Data sets, or text files (.txt) with a class name per line.")],
    base: Annotated[str, typer.Option(help="What learners are tuned on: the first half of its classes.")] = "imagenet",
    root: DataFolder = None,
    wordnet: Annotated[
        Path | None, typer.Option(help="Folder of WordNet 3.0; needed only for ids that are not ImageNet's.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write a CSV file per data set into this folder.")] = None,
    published: Annotated[
        bool, typer.Option("--published", help="By class names that come with openworld; no data set need be there.")
    ] = False,
) -> None:
    """Say which classes of other data sets learners were tuned on as well, so that they must not count as new.

    A class overlaps where its name (lower case, singular, no punctuation, no number at its end) is that of a base
    class, or another name that WordNet has for the base class. Classes without WordNet ids are compared by name alone.
    WordNet's names of ImageNet's classes come with openworld, so that nothing need be installed.

    The paper OpenworldAUC leaves such classes out of its test on other data sets, and does not say which. The names of
    its data sets come with openworld: `openworld data overlaps caltech101 sun397 --published`.
    """
    from openworld._errors import OpenworldError
    from openworld.datasets.names.class_names import class_names, listed_names
    from openworld.datasets.names.overlaps import as_csv, overlaps, overlaps_with
    from openworld.datasets.names.wordnet import find_wordnet
    from openworld.runs.atomic import write_file
    from openworld.runs.outputs import require_folder

    require_folder("--out", out)
    screen = console.output()

    def names_of(dataset: str):
        listed = listed_names(dataset) if published else class_names(dataset, root)
        if listed is None:
            raise OpenworldError(f"the class names of {dataset} do not come with openworld; leave --published out.")
        return listed

    source = names_of(base)
    known = source.base
    for name in names:
        listed = names_of(name)
        title = listed.dataset
        if wordnet:
            pairs = overlaps(listed.names, known.names, known.wordnet_ids, find_wordnet(wordnet))
        else:
            pairs = overlaps_with(listed.names, source)
        counts = f"{len(pairs)} of {len(listed.names)}"
        screen.print(f"{title}: {counts} classes are base classes of {base}", style="bold", markup=False)
        for pair in pairs:
            through = f", by way of {pair.wordnet_name!r}" if pair.wordnet_name else ""
            screen.print(f"  {pair.name} is {pair.base_name}{through}", markup=False)
        if out:
            write_file(out / f"{title}.csv", as_csv(pairs).encode())
    if out:
        screen.print(f"Lists: {out}/", markup=False)


for _command in (plan, check, audit, overlaps):
    data.command(_command.__name__)(console.reporting(_command))
