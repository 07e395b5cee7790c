"""Data sets to download: which, are they whole, are their class names sound: `openworld data`."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from openworld.api.answers import TextReport, line
from openworld.api.arguments import OutputFolder
from openworld.core.console import Ending
from openworld.core.errors import OpenworldError
from openworld.core.types import checked

_SHOWN = 8  # parts of a data set that are counted one by one


@checked
def plan(
    paper: str, *, root: Path | str | None = None, table: Sequence[str | int] = (), figure: Sequence[str | int] = ()
) -> TextReport:
    """Say what to download for a paper: from where, how large, into which folder, under which licence.

    ```
    openworld data plan openworldauc --table 2
    openworld data plan frap --root ~/data
    ```

    A table of the data sets comes first: their sizes, whether they are there, and which tables and figures need them.
    Below it stands for each that is not there where to get it and where to put it. With `--root`, or $OPENWORLD_DATA,
    that folder is looked at: "there" means that a data set's folder and lists are; `openworld data check NAME` looks at
    every image. Sizes and licences are those that publishers state; "see its page" where none is known for sure.
    Nothing is downloaded.

    Args:
        paper: openworldauc, openpl, frap or is-ood.
        root: folder of all downloaded data sets; default: $OPENWORLD_DATA.
        table: number of a table; default: all tables and figures.
        figure: number of a figure, such as 3, 5 or 5a, or all.

    Returns:
        The data sets, and where to get those that are not there.

    Raises:
        OpenworldError: an unknown paper, table or figure.
    """
    from openworld.datasets.published.catalogue import VARIABLE
    from openworld.reproduction.data_plan import data_plan

    folder = os.environ.get(VARIABLE) if root is None else root
    found = data_plan(paper, tuple(map(str, table)), folder, figures=tuple(map(str, figure)))
    return TextReport(tuple(_plan_parts(found, folder)), found)


def _plan_parts(found: Mapping[str, Any], root: Path | str | None) -> Iterator[Any]:
    """Yield a table of data sets, where to get those that are missing, and how much that is."""
    from openworld.datasets.published.catalogue import cards
    from openworld.papers import PAPERS
    from openworld.report.render import terminal_table
    from openworld.report.table import Column, Row, Table
    from openworld.reproduction.data_plan import THERE, sentences
    from openworld.reproduction.plan import in_words
    from openworld.results import TEXT

    place = f" · data in {root}" if root else ""
    yield f"{PAPERS[found['paper']]} · {in_words(found['tables'], found['figures'])}{place}"
    rows = []
    same_files: dict[tuple, list[str]] = {}  # the tasks of BREEDS are one download
    for entry in found["datasets"]:
        card, mark = cards()[entry["name"]], "" if entry["needed"] else " *"
        use = in_words(entry["tables"], entry["figures"])
        rows.append(Row(card.name + mark, (card.size_in_words, entry["state"] or "not looked at", use)))
        if entry["state"] != THERE and card.files:
            facts = card.files, card.into, card.licence, entry["instead_of"]
            same_files.setdefault(facts, []).append(f"{card.name} ({card.title})")
    columns = (Column(TEXT, "size"), Column(TEXT, "state"), Column(TEXT, "for"))
    yield terminal_table(Table("data", "", "", "data set", columns, tuple(rows), best=""))
    for (files, into, licence, instead), names in same_files.items():
        yield f"\n{', '.join(names)}{f' *, in the place of {instead}' if instead else ''}"
        yield f"  into: {into}\n  licence: {licence}"
        yield from (line(f"  {file.what}: {file.address}", whole=True) for file in files)
    yield "\n" + "\n".join(sentences(found))


@checked
def check(
    names: Sequence[str], *, root: Path | str | None = None, decode: bool = False, quiet: bool = False
) -> TextReport:
    """Say what is missing or wrong in downloaded data sets, and where to get it.

    It checks folders, split files, and that every image is there and not empty, and compares the counts with the
    published ones. Nothing is downloaded or changed. Exit code 0: all are complete; 1: something is wrong.

    The folders are those of CoOp (Zhou et al., 2022), such as `DIR/oxford_pets/images/` beside
    `DIR/oxford_pets/split_zhou_OxfordPets.json`; other data sets have a folder each.

    Args:
        names: data sets of `openworld list datasets`, or all: those in CoOp's layout; shifted: those of accuracy
            without labels; openood: OpenOOD's benchmarks.
        root: folder of all downloaded data sets; default: $OPENWORLD_DATA.
        decode: decode every image too; slow.
        quiet: print only what is wrong.

    Returns:
        What was found of each.

    Raises:
        OpenworldError: an unknown data set, or no folder.
    """
    from openworld.datasets import DATASETS, PUBLISHED, SHIFTED
    from openworld.datasets import check as inspect
    from openworld.datasets.checking import Inspection
    from openworld.datasets.published.catalogue import BENCHMARKS

    several = {"all": PUBLISHED, "shifted": SHIFTED, "openood": BENCHMARKS}
    wanted = dict.fromkeys(dataset for name in names for dataset in several.get(name, (name,)))
    along = {name for name in wanted if name in DATASETS and not DATASETS[name].download}
    whole = ("comes with openworld: there is nothing to download",)
    inspections = [
        Inspection(name, "", None, {}, (), whole, ()) if name in along else inspect(name, root, decoded=decode)
        for name in wanted
    ]
    lines = tuple(
        text for inspection in inspections if not (inspection.ok and quiet) for text in _inspection_lines(inspection)
    )
    plain = [asdict(inspection) | {"ok": inspection.ok} for inspection in inspections]
    return TextReport(lines, plain, Ending(exit_code=0 if all(inspection.ok for inspection in inspections) else 1))


def _inspection_lines(found: Any) -> Iterator[str]:
    """Yield what was found of a data set; addresses only where something is wrong."""
    from openworld.datasets import PUBLISHED
    from openworld.datasets.published.catalogue import COOP_PAGE

    counts = ""
    if found.classes is not None:
        parts = ", ".join(f"{count:,} {part}" for part, count in found.counts.items())
        if len(found.counts) > _SHOWN:
            parts = f"{sum(found.counts.values()):,} in {len(found.counts)} conditions"
        counts = f"{found.classes} classes; images: {parts}."
    if found.ok:
        yield f"{found.name}: whole. {counts}"
        yield from (f"  {remark}" for remark in found.remarks)
        return
    yield f"{found.name}: not ready. {counts}".rstrip()
    yield from (f"  {number}. {sentence}" for number, sentence in enumerate(found.wrong, start=1))
    yield f"  Where to get it{f' (layout: {COOP_PAGE})' if found.name in PUBLISHED else ''}:"
    yield from (f"    {what}: {address}" for what, address in found.sources)


@checked
def audit(
    names: Sequence[str],
    *,
    against: Sequence[str] = (),
    base: Path | str | None = None,
    new: Path | str | None = None,
    root: Path | str | None = None,
    backbone: str = "",
    template: str = "",
    wordnet: Path | str | None = None,
) -> TextReport:
    """Say what is wrong with class names, before any number is computed from them.

    Order, duplicates, near-duplicates (punctuation, plural, spaces, word order), synonyms, clashes of base and new
    classes and across data sets, and what the tokenizer of a backbone mangles. No image is looked at.

    An *error* is a class that cannot be distinguished from another, or a sentence that cannot be read: exit code 1. A
    *warning* costs accuracy or misleads; a *note* is worth a look. Checks that were not made are named with the
    reason.

    Every `openworld run` does this first, of all its data sets, with the tokenizer of its backbone: it says the worst,
    keeps the whole in audit.json, shows it on the report page, and goes on.

    Args:
        names: data sets, or text files (.txt) with a class name per line.
        against: another data set whose names must not clash with these.
        base: text file (.txt) of the base classes' names; default: the first half.
        new: likewise of the new ones; classes in neither are left out.
        root: folder of all downloaded data sets; default: $OPENWORLD_DATA.
        backbone: whose tokenizer is to read the names (openworld list backbones); default: tokens are not looked at.
        template: sentence with {} for the name; default: the data set's.
        wordnet: folder of WordNet 3.0; default: $WNSEARCHDIR, or where Debian puts it.

    Returns:
        What was found of each.

    Raises:
        OpenworldError: names that cannot be read.
    """
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
    others = {other.dataset: other.names for other in (class_names(name, root) for name in against)}
    words = find_wordnet(wordnet)
    audits = [
        audit(
            listed.names,
            listed.dataset,
            base_count=listed.base_count,
            by_order=listed.base_count is None,
            against={name: theirs for name, theirs in others.items() if name != listed.dataset},
            template=template or TEMPLATES.get(listed.dataset, PHOTO),
            wordnet=words,
            tokenizer=backbones.load(backbone).tokenizer if backbone else None,
        )
        for listed in lists
    ]
    errors = any(checked.counts["error"] for checked in audits)
    lines = tuple(text for checked in audits for text in _audit_lines(checked))
    return TextReport(lines, [asdict(checked) for checked in audits], Ending(exit_code=1 if errors else 0))


def _audit_lines(audit: Any) -> Iterator[Any]:
    styles = {"error": "red", "warning": "yellow", "note": "dim"}
    yield line(audit.headline, "bold")
    for finding in audit.findings:
        yield line(f"  {finding.severity:<8}{finding.kind:<15}{finding.sentence}", styles[finding.severity])
    yield from (line(f"  not made: {check}", "dim") for check in audit.not_made)


@checked
def overlaps(
    names: Sequence[str],
    *,
    base: str = "imagenet",
    root: Path | str | None = None,
    wordnet: Path | str | None = None,
    out: Annotated[Path | str | None, OutputFolder()] = None,
    published: bool = False,
) -> TextReport:
    """Say which classes of other data sets learners were tuned on as well, so that they must not count as new.

    A class overlaps where its name (lower case, singular, no punctuation, no number at its end) is that of a base
    class, or another name that WordNet has for the base class. Classes without WordNet ids are compared by name alone.
    WordNet's names of ImageNet's classes come with openworld, so that nothing need be installed.

    The paper OpenworldAUC leaves such classes out of its test on other data sets, and does not say which. The names of
    its data sets come with openworld: `openworld data overlaps caltech101 sun397 --published`.

    Args:
        names: data sets, or text files (.txt) with a class name per line.
        base: data set that learners are tuned on, on the first half of its classes.
        root: folder of all downloaded data sets; default: $OPENWORLD_DATA.
        wordnet: folder of WordNet 3.0; needed only for ids that are not ImageNet's.
        out: write a CSV file per data set into this folder.
        published: by class names that come with openworld; no data set need be there.

    Returns:
        The classes of each that overlap.

    Raises:
        OpenworldError: names that cannot be read, or that do not come with openworld.
    """
    from openworld.datasets.names.class_names import as_csv, class_names, listed_names, overlaps, overlaps_with
    from openworld.datasets.names.wordnet import find_wordnet
    from openworld.runs.atomic import write_file

    def names_of(dataset: str):
        listed = listed_names(dataset) if published else class_names(dataset, root)
        if listed is None:
            raise OpenworldError(f"the class names of {dataset} do not come with openworld; leave --published out.")
        return listed

    source, lines, plain = names_of(base), [], {}
    for name in names:
        listed = names_of(name)
        title = listed.dataset
        if wordnet:
            pairs = overlaps(listed.names, source.base.names, source.base.wordnet_ids, find_wordnet(wordnet))
        else:
            pairs = overlaps_with(listed.names, source)
        counts = f"{len(pairs)} of {len(listed.names)}"
        lines.append(line(f"{title}: {counts} classes are base classes of {base}", "bold"))
        for pair in pairs:
            through = f", by way of {pair.wordnet_name!r}" if pair.wordnet_name else ""
            lines.append(f"  {pair.name} is {pair.base_name}{through}")
        plain[title] = list(map(asdict, pairs))
        if out:
            write_file(Path(out, f"{title}.csv"), as_csv(pairs).encode())
    return TextReport(tuple(lines), plain, Ending(f"Lists: {out}/" if out else ""))
