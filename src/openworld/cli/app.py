"""All commands by name; each lives in a file of its own."""

from typing import Annotated

import typer

from openworld import __version__
from openworld.cli import console
from openworld.cli.backbone import backbone
from openworld.cli.cache import cache
from openworld.cli.compare import compare
from openworld.cli.data import data
from openworld.cli.decide import decide
from openworld.cli.demo import demo
from openworld.cli.estimate import estimate
from openworld.cli.list import list_command
from openworld.cli.predict import predict
from openworld.cli.report import report
from openworld.cli.reproduce import reproduce
from openworld.cli.run import run
from openworld.cli.score import score
from openworld.cli.shift import shift
from openworld.cli.synthesize import synthesize

app = typer.Typer(
    name="openworld",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"openworld {__version__}")
        raise typer.Exit


@app.callback()
def common(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show a traceback instead of two lines when something fails.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Tells how a vision-language model, or an image classifier, will do outside the closed world it was built in.

    Start with `openworld demo`: real pictures, a real small CLIP, no download, about two minutes.
    """
    console.set_debug(debug)


app.command("demo")(console.reporting(demo))
app.command("run")(console.reporting(run))
app.command("reproduce")(console.reporting(reproduce))
app.command("predict")(console.reporting(predict))
app.command("score")(console.reporting(score))
app.command("estimate")(console.reporting(estimate))
app.command("shift")(console.reporting(shift))
app.command("synthesize")(console.reporting(synthesize))
app.command("report")(console.reporting(report))
app.command("decide")(console.reporting(decide))
app.command("compare")(console.reporting(compare))
app.command("cache")(console.reporting(cache))
app.command("list")(console.reporting(list_command))
app.add_typer(data, name="data")
app.add_typer(backbone, name="backbone")
