"""Every command is its function: each option reaches its parameter, and help names it with default and choices."""

import inspect
import re
from unittest import mock

import pytest
from in_process import openworld

from openworld.api.new import EXAMPLES
from openworld.cli.app import COMMANDS, GROUPS, commands
from openworld.cli.command import help_text, makes_answer, on_command_line
from openworld.core.types import hints_of
from openworld.evaluations import EVALUATIONS
from openworld.runs.outputs import MARKS

every_command = pytest.mark.parametrize(("words", "command"), COMMANDS.items(), ids=list(map(" ".join, COMMANDS)))


def shown(words):
    """The help of a command, without frames and line breaks."""
    return " ".join(re.sub("[│─╭╮╰╯]", " ", openworld(*words, "--help", columns=100).stdout).split())


def typed(kind):
    """What is typed for a type, twice where it may be repeated, and what it becomes."""
    examples = {bool: ([], True), int: (["3"], 3), float: (["0.5"], 0.5), str: (["words"], "words")}
    if kind in examples:
        return [examples[kind][0]], examples[kind][1]
    if getattr(kind, "__origin__", None) is list:
        return [["words"], ["more"]], ["words", "more"]
    return [[kind.__args__[-1]]], kind.__args__[-1]


@every_command
def test_every_option_reaches_its_parameter_as_what_its_type_says(words, command):
    function, given, line = command.load(), {}, list(words)
    hints, parameters = hints_of(function), inspect.signature(function).parameters
    readers = {}
    for name in (*command.arguments, *(name for name in parameters if name not in command.arguments)):
        kind, readers[name] = on_command_line(hints[name])
        if parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            kind = list[kind]
        if kind in (list[int], list[float]):
            entries, given[name] = [["3"], ["3"]], [3, 3]
        else:
            entries, given[name] = typed(kind)
        if readers[name] is not None:
            entries = [["1"]] if kind is str else [["level=3"]]
            given[name] = readers[name]("1" if kind is str else ["level=3"])
        for entry in entries:
            line += [*([] if name in command.arguments else [command.option(name)]), *entry]
    called = mock.Mock(side_effect=KeyError("called"))
    app = commands
    for word in words:
        app = app[word]
    run = app.default_command
    cell = dict(zip(run.__code__.co_freevars, run.__closure__, strict=True))["function"]
    cell.cell_contents = called
    try:
        done = openworld(*line)
    finally:
        cell.cell_contents = function
    several = [name for name, each in parameters.items() if each.kind is inspect.Parameter.VAR_POSITIONAL]
    assert called.call_args is not None, done.stderr
    assert list(called.call_args.args) == [entry for name in several for entry in given.pop(name)]
    assert called.call_args.kwargs == given


@every_command
def test_the_help_names_every_option_with_its_text_default_and_choices(words, command):
    function, text = command.load(), shown(words)
    documented = inspect.getdoc(function).partition("\nArgs:\n")[2]
    for name, parameter in inspect.signature(function).parameters.items():
        assert command.option(name) in text, name
        assert re.search(rf"^    {name}: ", documented, re.MULTILINE), f"{name} has no line among Args"
        if parameter.default not in (None, "", (), False, 0, inspect.Parameter.empty):
            assert f"[default: {parameter.default}]" in text, name
        kind = on_command_line(hints_of(function)[name])[0]
        for choice in getattr(kind, "__args__", ()) if "Literal" in str(kind) else ():
            assert choice in text, (name, choice)
    assert ("--json" in text) == makes_answer(function)
    for part in help_text(function):
        assert " ".join(re.sub("[`*]", "", part).split())[:40] in text


@every_command
def test_a_wrong_option_of_every_command_is_two_lines_and_exit_code_2(words, command):
    done = openworld(*words, "--no-such-option")
    assert done.exit_code == 2 and len(done.stderr.splitlines()) <= 2, done.stderr
    assert done.stdout == "" and "Traceback" not in done.stderr


@every_command
def test_groups_name_parameters_and_outputs_say_what_they_may_hold(words, command):
    function = command.load()
    parameters = inspect.signature(function).parameters
    assert set(" ".join(command.groups.values()).split()) | {*command.arguments, *command.names} <= parameters.keys()
    for kind in hints_of(function).values():
        for rule in getattr(kind, "__metadata__", ()):
            assert set(getattr(rule, "own", ())) <= MARKS.keys()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("detec",), 'openworld: Unknown command "detec". Did you mean "detect"?'),
        (("score", "x.csv", "--ou", "x"), "Did you mean --out?"),
        (("version",), "Did you mean --version"),
        (("estimate", "--target", "x"), "--source"),
        (("estimate", "fit", "--source", "watch"), "--out"),  # the first word says which part of a command works
        (("estimate", "watch"), "FITTED"),
        (("label",), "Usage: openworld label"),
        (("data",), "Usage: openworld data"),
        ((), "Usage: openworld"),
    ],
)
def test_what_was_meant_is_said_or_the_help_shown(arguments, words):
    done = openworld(*arguments)
    assert done.exit_code == 2 and words in done.output


def test_every_command_is_in_a_group_and_new_names_every_kind():
    front, of_new = shown(()), shown(("new",))
    assert all(group in front for group in GROUPS)
    assert {name for name in commands if name[0] != "-"} == {name for group in GROUPS.values() for name in group}
    assert all(kind in of_new for kind in (*EXAMPLES, *EVALUATIONS) if ":" not in kind)
    assert "--out PATH" in of_new and "--test TEXT..." in of_new


@pytest.mark.parametrize("command", ["estimate", "detect"])
def test_what_most_people_need_of_a_large_command_is_one_screen_and_the_docs_are_named(command):
    lines = openworld(command, "--help", columns=80).stdout.splitlines()
    ends = [number for number, line in enumerate(lines) if line.startswith("╰")]
    options = next(number for number, line in enumerate(lines) if "─ Options ─" in line)
    assert next(end for end in ends if end > options) < 40 and any("docs/" in line for line in lines[ends[-1] :])


def test_every_command_and_option_is_completed():
    script = commands.generate_completion(prog_name="openworld", shell="bash")
    for words, command in COMMANDS.items():
        assert words[-1] in script
        for name in inspect.signature(command.load()).parameters:
            assert name in command.arguments or command.option(name).removeprefix("--") in script, (words, name)
