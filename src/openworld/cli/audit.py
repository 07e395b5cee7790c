"""`openworld data audit NAME...`: what is wrong with class names."""

import sys
from pathlib import Path
from typing import Annotated

import typer


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
    root: Annotated[Path | None, typer.Option(help="Folder of all data sets; default $OPENWORLD_DATA.")] = None,
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
    as_json: Annotated[bool, typer.Option("--json", help="As JSON instead.")] = False,
) -> None:
    """Say what is wrong with class names, before any number is computed from them.

    Order, duplicates, near-duplicates (punctuation, plural, word order, one letter), synonyms, clashes of base and new
    classes and across data sets, and what the tokenizer of a backbone mangles. No image is looked at.

    An *error* is a class that cannot be told from another, or a sentence that cannot be read: exit code 1. A *warning*
    costs accuracy or misleads; a *note* is worth a look. Checks that were not made are named with the reason.

    Every `openworld run` does this first, of all its data sets, with the tokenizer of its backbone: it says the worst,
    keeps the whole in audit.json, shows it on the report page, and goes on.
    """
    import json
    from dataclasses import replace

    from openworld import backbones
    from openworld.cli import console
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
            _say(checked, console.output())
    if any(checked.counts["error"] for checked in audits):
        sys.exit(1)


def _say(audit, out) -> None:
    out.print(audit.headline, style="bold", markup=False)
    styles = {"error": "red", "warning": "yellow", "note": "dim"}
    for finding in audit.findings:
        text = f"  {finding.severity:<8}{finding.kind:<15}{finding.sentence}"
        out.print(text, style=styles[finding.severity], markup=False)
    for check in audit.not_made:
        out.print(f"  not made: {check}", style="dim", markup=False)
