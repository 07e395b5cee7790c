"""`openworld data`: what is on disk of the data sets that people download."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from openworld.cli import console
from openworld.cli.audit import audit
from openworld.cli.overlaps import overlaps

data = typer.Typer(no_args_is_help=True, help="Data sets that you download: are they whole?")


_NAMES = "Of `openworld list datasets`; all: those laid out as CoOp does; shifted: those of accuracy without labels."


def check(
    names: Annotated[list[str], typer.Argument(help=_NAMES)],
    root: Annotated[Path | None, typer.Option(help="Folder that holds the data sets; default $OPENWORLD_DATA.")] = None,
    decode: Annotated[bool, typer.Option("--decode", help="Decode every picture too; slow.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Only what is wrong.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON instead.")] = False,
) -> None:
    """Say what is missing or wrong about downloaded data sets, and where to get them.

    Looks at folders, split files and every picture's presence and size, and compares counts with the published ones.
    Nothing is downloaded or changed. Exit code 0: all are whole; 1: something is wrong.

    Data sets lie as CoOp lays them out, such as `DIR/oxford_pets/images/` beside
    `DIR/oxford_pets/split_zhou_OxfordPets.json`, or in one folder each; what is missing is said with its address.
    """
    from openworld.cli import _checking as checking

    found = checking.inspect(names, root, decode)
    if as_json:
        console.write(checking.as_json(found))
    else:
        checking.say(found, console.output(), quiet)
    if not all(one.ok for one in found):
        sys.exit(1)


data.command("check")(console.reporting(check))
data.command("audit")(console.reporting(audit))
data.command("overlaps")(console.reporting(overlaps))
