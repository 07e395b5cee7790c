"""`openworld data`: what to download, what is on disk of it, and whether its class names are sound."""

import sys
from typing import Annotated

import typer

from openworld.cli import console
from openworld.cli._options import AsJson, DataFolder
from openworld.cli.audit import audit
from openworld.cli.data_plan import plan
from openworld.cli.overlaps import overlaps

data = typer.Typer(
    no_args_is_help=True, help="Data sets to download: which, are they whole, are their class names sound?"
)


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
    from openworld.cli import _checking as checking

    inspections = checking.inspect(names, root, decode)
    if as_json:
        console.write(checking.as_json(inspections))
    else:
        checking.say(inspections, console.output(), quiet)
    if not all(inspection.ok for inspection in inspections):
        sys.exit(1)


data.command("plan")(console.reporting(plan))
data.command("check")(console.reporting(check))
data.command("audit")(console.reporting(audit))
data.command("overlaps")(console.reporting(overlaps))
