"""`openworld data overlaps NAME... --base NAME`: which classes are not new, because they were tuned on."""

from pathlib import Path
from typing import Annotated

import typer


def overlaps(
    names: Annotated[list[str], typer.Argument(help="Data sets, or text files (.txt) with a class name per line.")],
    base: Annotated[str, typer.Option(help="What learners are tuned on: the first half of its classes.")] = "imagenet",
    root: Annotated[Path | None, typer.Option(help="Folder of all downloaded data sets.")] = None,
    wordnet: Annotated[Path | None, typer.Option(help="Folder of WordNet 3.0's index.noun and data.noun.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write a CSV file per data set into this folder.")] = None,
) -> None:
    """The classes of other data sets that are base classes of one: they must not count as new.

    A class overlaps where its name (lower case, singular, no punctuation, no number at its end) is that of a base
    class, or one that WordNet gives the base class's synset. Base classes without WordNet ids are compared by their
    names alone. OpenworldAUC's cross-data-set task leaves these classes out; its own lists were not published.
    """
    from openworld._errors import OpenworldError
    from openworld.cli import console
    from openworld.datasets.class_names import class_names
    from openworld.datasets.overlaps import as_csv, overlaps
    from openworld.datasets.wordnet import find_wordnet

    tuned, listed = class_names(base, root).base, [class_names(name, root) for name in names]
    known = find_wordnet(wordnet)
    if tuned.wordnet_ids and known is None:
        raise OpenworldError(
            f"the classes of {base} have WordNet ids, and WordNet 3.0 was not found; install it (Debian: wordnet-base) "
            "or name its folder with --wordnet."
        )
    shown = console.output()
    for one in listed:
        found = overlaps(one.names, tuned.names, tuned.wordnet_ids, known)
        told = f"{one.dataset}: {len(found)} of {len(one.names)} classes are base classes of {base}"
        shown.print(told, style="bold", markup=False)
        for pair in found:
            through = f", by way of {pair.wordnet_name!r}" if pair.wordnet_name else ""
            shown.print(f"  {pair.name} is {pair.base_name}{through}", markup=False)
        if out:
            out.mkdir(parents=True, exist_ok=True)
            (out / f"{one.dataset}.csv").write_text(as_csv(found), encoding="utf-8")
    if out:
        shown.print(f"Lists: {out}/", markup=False)
