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
        say_plan(found, named, console.output())


def say_plan(found, root, out) -> None:
    """Print a plan: a table of data sets, where to get those that are missing, and how much that is."""
    from openworld.report.render import terminal_table
    from openworld.reproduction.data_plan import THERE

    out.print(f"{found.headline}{f' · data in {root}' if root else ''}", markup=False)
    out.print(terminal_table(_table(found)))
    said: set[tuple[str, str]] = set()
    for entries in _alike(entry for entry in found.datasets if entry.state != THERE and entry.download.files):
        said |= _say_download(entries, said, out)
    out.print()
    for sentence in found.sentences:
        out.print(sentence, markup=False)


def _alike(entries) -> list[list]:
    """Entries with the same files together: the tasks of BREEDS are one download."""
    groups: dict[tuple, list] = {}
    for entry in entries:
        groups.setdefault((entry.download.files, entry.download.into, entry.instead), []).append(entry)
    return list(groups.values())


def _say_download(entries, said: set[tuple[str, str]], out) -> set[tuple[str, str]]:
    """Print place, licence and files of data sets that are one download; return the files, which are not said again."""
    first = entries[0]
    named = ", ".join(f"{entry.download.name} ({entry.title})" for entry in entries)
    instead = f" *, in the place of {first.instead}" if first.instead else ""
    out.print(f"\n{named}{instead}", markup=False)
    out.print(f"  into: {first.download.into}\n  licence: {first.download.licence}", markup=False)
    files = {(file.what, file.address): file for file in first.download.files}
    for place, file in files.items():
        address = "as above" if place in said else file.address
        out.print(f"  {file.what}{_size(file)}: {address}", markup=False, soft_wrap=True)
    return set(files)


def _size(file) -> str:
    from openworld._sizes import size_in_words

    if file.size is None or file.size < 10**6:
        return ""
    return f" ({'' if file.exact else 'about '}{size_in_words(file.size)})"


def _table(found):
    from openworld.report.table import Column, Row, Table
    from openworld.reproduction.plan import in_words
    from openworld.results import TEXT

    states = any(entry.state for entry in found.datasets)
    columns = (Column(TEXT, "size"), *((Column(TEXT, "state"),) if states else ()), Column(TEXT, "for"))
    rows = []
    for entry in found.datasets:
        every = entry.tables == found.tables and entry.figures == found.figures and len(found.datasets) > 1
        use = "all of these" if every else in_words(entry.tables, entry.figures)
        state = (entry.state,) if states else ()
        name = f"{entry.download.name}{'' if entry.needed else ' *'}"
        rows.append(Row(name, (entry.download.size_in_words, *state, use)))
    return Table("data", "", "", "data set", columns, tuple(rows), best="")
