"""All commands by name; what each takes and says stands in its function in `openworld.api`."""

import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Group, Parameter

from openworld import OpenworldError, __version__
from openworld.cli import console
from openworld.cli.command import Command
from openworld.core.errors import not_installed

HELP = """
Tell how a vision-language model, or an image classifier, will do outside the closed world it was built in.

Does it notice classes that it was not tuned on (`run`, `score`)? How accurate is it where there are no labels
(`estimate`), or a few (`label`)? How far are new images from those that it knows (`shift`), and do detectors notice
(`detect`, `run`)?

A *learner* tunes a model such as CLIP on a few labelled images. *Base* classes are those that it was tuned on,
*new* classes are all others. Start with `openworld demo`: real images, a real small CLIP, no download, about
three minutes on two cores.

`openworld COMMAND --help` explains each command. An option whose value ends in dots may be repeated.
"""


GROUPS: Mapping[str, Mapping[str, Command | tuple[str, Mapping[str, Command]]]] = {
    "Evaluate": {
        "demo": Command("running:demo"),
        "run": Command("running:run", ("spec",)),
        "reproduce": Command(
            "reproducing:reproduce",
            ("paper",),
            groups={
                "Which runs": "dataset checkpoint backbone learners seeds quick classifier names",
                "Other settings than the paper's": "add settings shots views precision draw published_names sentences",
                "What is shown": "margin show accept",
            },
        ),
    },
    "Your own data": {
        "score": Command("scoring:score", ("predictions",)),
        "predict": Command("predicting:predict", ("model", "images")),
        "estimate": Command(
            "estimating:estimate",
            groups={
                "The model, for images": "architecture template reference partner device",
                "Over time": "chunks chunk_rows timestamps period alert false_alarms",
                "Further facts": "classnames source_partner target_partner labelled_shift same_shares other_shares "
                "labels propose",
                "Other questions": "by_class levels zero_shot open_world new_share base_names",
            },
        ),
        "label": (
            "A few labels: which images to label, a page to do it on, and what is then known.",
            {
                "plan": Command("labelling:label_plan", ("stream",)),
                "read": Command("labelling:label_read", ("folder",)),
            },
        ),
        "detect": Command(
            "detecting:detect",
            ("images",),
            groups={
                "The model": "member learner shots architecture classnames template backbone negatives",
                "Sets of images": "train validation validation_ood allow_corrupt root",
                "Scores of your own": "larger_out levels least",
                "How": "at_most replicates seed device",
            },
        ),
        "shift": Command(
            "shifting:shift",
            groups={
                "How meaning and appearance are separated": "laid classnames templates taught_by most_names",
                "How degrees are measured": "neighbour levels levels_of least seed",
            },
        ),
        "synthesize": Command(
            "shifting:synthesize",
            groups={
                "How degrees are measured": "backbone laid templates neighbour levels least seed",
                "The painter": "weights side steps guidance screen batch",
            },
        ),
    },
    "Results": {
        "report": Command("reporting:report", ("folder",)),
        "compare": Command("finished_runs:compare", ("first", "second"), {"metric": "--of"}),
        "average": Command("finished_runs:average", ("runs",)),
        "check": Command("finished_runs:check", ("run",)),
        "cite": Command("citing:cite", ("runs",)),
        "decide": Command("finished_runs:decide", ("run",)),
    },
    "Look around": {
        "list": Command("listing:list_kinds", ("kinds",)),
        "new": Command("new:new", ("kind", "name")),
        "doctor": Command("doctoring:doctor", ("name",)),
        "cache": Command("caching:cache"),
        "data": (
            "Data sets to download: which, are they whole, are their class names sound?",
            {
                "plan": Command("data_sets:plan", ("paper",)),
                "check": Command("data_sets:check", ("names",)),
                "audit": Command("data_sets:audit", ("names",)),
                "overlaps": Command("data_sets:overlaps", ("names",)),
            },
        ),
    },
}
"""Group of the help -> name -> command, or what several commands under one name are for, and these."""

PARTS = {"estimate": {"fit": Command("estimating:fit_watch"), "watch": Command("estimating:watch", ("fitted", "new"))}}
"""Commands beside a command: where its first word is the name of a part, that part works in its place."""

commands = App(
    name="openworld",
    help=HELP,
    help_format="markdown",
    version=f"openworld {__version__}",
    help_flags=("--help", "-h"),
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)


def app(words: Sequence[str] | None = None) -> None:
    """Do what a command line says, and end with its exit code."""
    words = list(sys.argv[1:] if words is None else words)
    debugging = words[:1] == ["--debug"]
    words = words[debugging:]
    with console.reporting(words, debug=debugging):
        try:
            commands(words, exit_on_error=False, print_error=False)
        except CycloptsError as error:
            flag = f"--{words[0]}" if words else ""
            hint = f" Did you mean {flag}?" if flag in commands else ""
            raise OpenworldError(" ".join(str(error).split()) + hint) from error
        except ModuleNotFoundError as error:
            command = next((words[:n] for n in (2, 1) if tuple(words[:n]) in COMMANDS), words[:1])
            raise not_installed(error, " ".join(["openworld", *command])) from error
    if not words or words in (["label"], ["data"]):
        sys.exit(2)  # the help was shown, and nothing was asked for


def debug(*words: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)]) -> None:
    """Show a traceback instead of two lines when something fails; stands before the command."""


COMMANDS: dict[tuple[str, ...], Command] = {}
"""Words that are typed -> command."""
for _place, (_title, _commands) in enumerate(GROUPS.items()):
    _group = Group(_title, sort_key=_place)
    for _name, _command in _commands.items():
        _about: dict[str, Any] = {"group": _group, "sort_key": len(COMMANDS)}
        if isinstance(_command, Command):
            COMMANDS[(_name,)] = _command
            _app, _parts = _command.app(_name, **_about), PARTS.get(_name, {})
        else:
            _app, _parts = App(name=_name, help=_command[0], **_about), _command[1]
        for _part, _other in _parts.items():
            COMMANDS[_name, _part] = _other
            _app.command(_other.app(_part))
        commands.command(_app)
commands.command(debug, name="--debug")
commands.register_install_completion_command()
_flags = Group("Before a command", sort_key=len(GROUPS))
for _flag in ("--help", "--version", "--debug", "--install-completion"):
    commands[_flag].group = _flags
