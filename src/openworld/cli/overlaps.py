"""`openworld data overlaps NAME... --base NAME`: which classes are not new, because they were tuned on."""

from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import DataFolder


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
    from openworld.cli import console
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
