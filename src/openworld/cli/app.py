"""All commands by name."""

from typing import Annotated

import typer
from typer.core import TyperGroup

from openworld import __version__
from openworld.cli import console
from openworld.cli._parts import with_parts
from openworld.cli.cache import cache
from openworld.cli.check import check
from openworld.cli.data import data
from openworld.cli.decide import decide
from openworld.cli.demo import demo
from openworld.cli.detect import detect
from openworld.cli.doctor import doctor
from openworld.cli.estimate import estimate
from openworld.cli.label import label
from openworld.cli.list import list_command
from openworld.cli.new import new
from openworld.cli.predict import predict
from openworld.cli.reproduce import reproduce
from openworld.cli.results import average, cite, compare, report
from openworld.cli.run import run
from openworld.cli.score import score
from openworld.cli.shift import shift
from openworld.cli.synthesize import synthesize
from openworld.cli.watch import fit_watch, watch


class _InOrder(TyperGroup):
    def list_commands(self, ctx):
        return [name for commands in GROUPS.values() for name in commands]

    def get_command(self, ctx, name):
        if name == "version":
            ctx.fail("No such command 'version'. Did you mean --version?")
        return super().get_command(ctx, name)


app = typer.Typer(
    name="openworld",
    cls=_InOrder,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
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
    """Tell how a vision-language model, or an image classifier, will do outside the closed world it was built in.

    Does it notice classes that it was not tuned on (`run`, `score`)? How accurate is it where there are no labels
    (`estimate`), or a few (`label`)? How far are new images from those that it knows (`shift`), and do detectors notice
    (`detect`, `run`)?

    A *learner* tunes a model such as CLIP on a few labelled images. *Base* classes are those that it was tuned on,
    *new* classes are all others. Start with `openworld demo`: real images, a real small CLIP, no download, about
    three minutes on two cores. `openworld COMMAND --help` explains each command.
    """
    console.set_debug(debug)


GROUPS = {
    "Evaluate": {"demo": demo, "run": run, "reproduce": reproduce},
    "Your own data": {
        "score": score,
        "predict": predict,
        "estimate": with_parts(estimate, fit=fit_watch, watch=watch),
        "label": label,
        "detect": detect,
        "shift": shift,
        "synthesize": synthesize,
    },
    "Results": {
        "report": report,
        "compare": compare,
        "average": average,
        "check": check,
        "cite": cite,
        "decide": decide,
    },
    "Look around": {
        "list": list_command,
        "new": new,
        "doctor": doctor,
        "cache": cache,
        "data": data,
    },
}
"""Group of the help -> name -> command, or several commands under one name."""

for _group, _commands in GROUPS.items():
    for _name, _command in _commands.items():
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, name=_name, rich_help_panel=_group)
        else:
            app.command(_name, rich_help_panel=_group)(console.reporting(_command))
