"""`openworld data plan PAPER`: what to download for a paper's tables and figures."""

from typing import Annotated

import typer

from openworld.cli._options import AsJson, DataFolder


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
    import json
    import os

    from openworld.cli import console
    from openworld.datasets.published.downloaded import VARIABLE
    from openworld.reproduction.data_plan import data_plan

    named = root or os.environ.get(VARIABLE)
    found = data_plan(paper, table or (), named, figures=figure or ())
    if as_json:
        console.write(json.dumps(found.plain(), indent=1))
    else:
        _say(found, named, console.output())


def _say(found, root, out) -> None:
    """Print a plan: a table of data sets, where to get those that are missing, and how much that is."""
    from openworld.report.render import terminal_table
    from openworld.reproduction.data_plan import THERE

    out.print(f"{found.headline}{f' · data in {root}' if root else ''}", markup=False)
    out.print(terminal_table(_table(found)))
    same_files: dict[tuple, list] = {}  # the tasks of BREEDS are one download
    for entry in found.datasets:
        if entry.state != THERE and entry.download.files:
            same_files.setdefault((entry.download.files, entry.download.into, entry.instead), []).append(entry)
    for (files, into, instead), entries in same_files.items():
        names = ", ".join(f"{entry.download.name} ({entry.title})" for entry in entries)
        out.print(f"\n{names}{f' *, in the place of {instead}' if instead else ''}", markup=False)
        out.print(f"  into: {into}\n  licence: {entries[0].download.licence}", markup=False)
        for file in files:
            out.print(f"  {file.what}: {file.address}", markup=False, soft_wrap=True)
    out.print()
    for sentence in found.sentences:
        out.print(sentence, markup=False)


def _table(found):
    from openworld.report.table import Column, Row, Table
    from openworld.reproduction.plan import in_words
    from openworld.results import TEXT

    rows = []
    for entry in found.datasets:
        name = f"{entry.download.name}{'' if entry.needed else ' *'}"
        use = in_words(entry.tables, entry.figures)
        rows.append(Row(name, (entry.download.size_in_words, entry.state or "not looked at", use)))
    columns = (Column(TEXT, "size"), Column(TEXT, "state"), Column(TEXT, "for"))
    return Table("data", "", "", "data set", columns, tuple(rows), best="")
