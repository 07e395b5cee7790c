"""Bad text in every option of every command: a refusal in two lines, never a traceback, and nothing is written.

What is required is named `nowhere`, so that no work begins. The options of a type in a command share its bad texts, up
to eight among them, since one function reads a text for all options of a type; the slow tests try all texts with each.
"""

import inspect
import re
from contextlib import chdir

import pytest

from openworld.cli.app import COMMANDS, app
from openworld.cli.command import on_command_line
from openworld.cli.in_process import invoke
from openworld.core.types import hints_of

TEXTS = [
    "",
    "nan",
    "inf",
    "-1",
    "1e400",
    "10000000000000000000000",
    "no\udcffthing",
    "a\nb",
    "unknown name",
    "../..",
    "/",
]
NUMBERS = {int: ["", "nan", "-1", "1.5", "1e400", "10000000000000000000000", "words", "0x"]}
NUMBERS[float] = ["", "nan", "inf", "-inf", "1e400", "words", "1,5"]
FAST = {("demo",): ["--preset", "no preset"], ("cache",): ["--cache", "no folder"], ("list",): ["no kind"]}
"""What ends commands early that need nothing."""
FREE = {("cache", "--cache"), ("cache", "--dataset"), ("cache", "--backbone")}
"""Options of which any text is good: a folder without sets, and names of which no set is there."""
FOLDERS = {("data", option) for option in ("NAMES", "--against", "--base")}
"""Options that take a folder of class folders for their names: the root of this machine may hold some."""


def calls(words, most):
    """Options with texts that up to so many of one type share: (option, its type, text, the words of the call)."""
    command = COMMANDS[words]
    function = command.load()
    hints, parameters = hints_of(function), inspect.signature(function).parameters
    needed = []
    for each, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty:
            needed += ["nowhere"] if each in command.arguments else [command.option(each), "nowhere"]
    kinds = {each: on_command_line(hints[each])[0] for each in parameters}
    for each, kind in kinds.items():
        kinds[each] = getattr(kind, "__args__", [kind])[0] if getattr(kind, "__origin__", None) is list else kind
    for each, kind in kinds.items():
        alike = [other for other, its in kinds.items() if its == kind]
        step = min(most, len(alike))
        for text in NUMBERS.get(kind, TEXTS)[alike.index(each) % step :: step] if kind is not bool else ["=3"]:
            if each in command.arguments:
                line = [text, *needed[1:]]
            elif kind is bool:
                line = [*needed, f"{command.option(each)}{text}"]
            else:
                line = [*needed, command.option(each), text]
            early = [] if each in command.arguments else FAST.get(words, [])
            yield command.option(each), kind, text, [*words, *early, *line]


def fault(kind, option, text, line, folder):
    """Why a call is neither refused nor rightly answered; None where it is one."""
    here = folder / "above" / "here"  # so that ../.. is an empty folder, whatever this machine has elsewhere
    here.mkdir(parents=True, exist_ok=True)
    with chdir(here):
        done = invoke(app, line, env={"HF_HUB_OFFLINE": "1", "OPENWORLD_CACHE": str(folder / "cache")})
    left = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path not in (here, here.parent)]
    if done.exception is not None:
        return f"raw: {done.exception!r}"
    if re.match(r"openworld: \w+(Error|Exception|Warning): ", done.stderr):
        return f"raw: {done.stderr.strip()}"
    if left not in ([], ["cache"]):
        return f"wrote {left}"
    if done.exit_code not in (1, 2):
        free = (
            (text == "" and kind is str) or (line[0], option) in FREE or (text == "/" and (line[0], option) in FOLDERS)
        )
        return None if free else f"taken for good, exit code {done.exit_code}"
    if kind in NUMBERS and text not in ("-1", "1e400", "inf", "-inf") and option not in done.stderr:
        return f"the refusal does not name {option}: {done.stderr.strip()}"
    return None


@pytest.mark.parametrize("most", [8, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_bad_text_is_refused_in_every_option(words, most, tmp_path):
    faults = [
        (option, text, fault(kind, option, text, line, tmp_path)) for option, kind, text, line in calls(words, most)
    ]
    assert faults and [each for each in faults if each[2] is not None] == []
