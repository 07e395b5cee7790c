"""A function of `openworld.api` as a command: options and help from its signature and docstring, by cyclopts.

What is added here is what cyclopts cannot know: which parameters are given by their place, what text means where a
parameter takes objects in Python, `--json` for what is returned, and help that shows what most people need first.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import FunctionType, GenericAlias, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from cyclopts import App, Group, Parameter

from openworld.api.arguments import OnCommandLine
from openworld.cli import console
from openworld.core.errors import OpenworldError
from openworld.core.types import hints_of

MACHINE = ("device", "workers", "engine", "cache", "cache_limit", "allow_corrupt", "root")
OPTIONS, ON_MACHINE = Group("Options", sort_key=1), Group("Machine and storage", sort_key=98)
ARGUMENTS = Group("Arguments", sort_key=0)
JSON = inspect.Parameter(
    "_json",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, Parameter(name="--json", help="print JSON instead.", group=OPTIONS)],
)
"""The option that says how an answer is shown; the API does not know it."""

# No --no-flag; of an option that is given twice the last one counts, as where an alias of a shell is overruled.
_PARAMETER = Parameter(negative=(), show_default=lambda value: str(value) if value else None, allow_repeating=True)


@dataclass(frozen=True)
class Command:
    """How a function becomes a command.

    Args:
        function: module of `openworld.api` and name of the function.
        arguments: parameters that are given by their place; all others are options.
        names: parameter -> option, where they are not called alike.
        groups: title -> parameters, in a panel of help below the options that most people need.
    """

    function: str
    arguments: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)

    def load(self) -> FunctionType:
        """Return the function; what it needs is imported when it is called."""
        module, _, attribute = self.function.partition(":")
        return getattr(import_module(f"openworld.api.{module}"), attribute)

    def app(self, name: str, **settings: Any) -> App:
        """Return the command."""
        function: FunctionType = self.load()
        first, details = help_text(function)
        made = App(
            name=name,
            help=first,
            help_epilogue=details or None,
            help_format="markdown",
            default_parameter=_PARAMETER,
            group_arguments=ARGUMENTS,
            group_parameters=OPTIONS,
            **settings,
        )
        made.default(self._callable(function))
        return made

    def option(self, name: str) -> str:
        """Return what people type for a parameter."""
        return name.upper() if name in self.arguments else self.names.get(name, f"--{name.replace('_', '-')}")

    def _callable(self, function: FunctionType) -> Callable:
        """Return a function that has the signature of the command, and calls the one of the API."""
        parameters, hints = inspect.signature(function).parameters, hints_of(function)
        kinds = {name: on_command_line(hints[name]) for name in parameters}
        several = [name for name, each in parameters.items() if each.kind is each.VAR_POSITIONAL]
        has_json = makes_answer(function)

        def run(*by_place: Any, **values: Any) -> None:
            values |= dict(zip(self.arguments, by_place, strict=False))
            values = {name: value for name, value in values.items() if value is not None}  # not given
            json, quiet = values.pop("_json", False), values.get("quiet", False)
            if "quiet" in parameters:
                values["quiet"] = json or quiet
            try:
                for name in values.keys() & kinds.keys():
                    if (read := kinds[name][1]) is not None:
                        values[name] = _read(values[name], read, self.option(name))
                entries = [entry for name in several for entry in values.pop(name, ())]
                answer = function(*entries, **values)
            except OpenworldError as error:
                error.args = (self._with_options(str(error), parameters),)
                raise
            console.show(answer, json=json, quiet=quiet)

        run.__name__, run.__doc__ = function.__name__, self._spoken(function, parameters)
        signature = inspect.Signature([*self._typed(parameters, hints), *([JSON] if has_json else [])])
        run.__signature__ = signature  # ty: ignore[missing-attribute]: what `inspect.signature` asks first
        return run

    def _typed(self, parameters: Mapping[str, inspect.Parameter], hints: Mapping[str, Any]) -> list[inspect.Parameter]:
        """Return the parameters as cyclopts reads them: those that are given by their place first."""
        groups = dict.fromkeys(MACHINE, ON_MACHINE)
        for place, (title, names) in enumerate(self.groups.items(), 2):
            groups |= dict.fromkeys(names.split(), Group(title, sort_key=place))
        typed = []
        for name in (*self.arguments, *(name for name in parameters if name not in self.arguments)):
            kind: Any = on_command_line(hints[name])[0]
            by_place, about = name in self.arguments, {}
            if kind in (int, list[int]):
                about["converter"] = _whole_numbers
            elif kind in (str, list[str]):
                about["metavar"] = ("PATH" if "Path" in str(hints[name]) else "TEXT") + (
                    "..." if kind == list[str] else ""
                )
            about["name"] = () if by_place else self.option(name)
            about["group"] = ARGUMENTS if by_place else groups.get(name, OPTIONS)
            kind = GenericAlias(list, kind) if parameters[name].kind is inspect.Parameter.VAR_POSITIONAL else kind
            default = parameters[name].default
            if default in (None, ()):  # where pydantic is loaded, cyclopts has it hold defaults against the type
                kind, default = kind | None, None
            place = inspect.Parameter.POSITIONAL_ONLY if by_place else inspect.Parameter.KEYWORD_ONLY
            annotation = Annotated[kind, Parameter(**about)]  # ty: ignore[invalid-type-form]: made from a signature
            typed.append(inspect.Parameter(name, place, default=default, annotation=annotation))
        return typed

    def _spoken(self, function: Callable, parameters: Mapping[str, Any]) -> str:
        """Return the docstring with options as they are typed, and without what can be given in Python alone."""
        text, args, further = (inspect.getdoc(function) or "").partition("\nArgs:\n")
        further = _FOR_PYTHON.sub("", further)
        names = {f"`{name}`": self.option(name) for name in parameters}
        return text + args + re.sub(r"`\w+`", lambda name: names.get(name[0], name[0]), further)

    def _with_options(self, message: str, parameters: Mapping[str, Any]) -> str:
        """Return a refusal of an argument with its option in the place of its name."""
        name = re.findall(r"^\w*", message)[0]
        is_argument = name in parameters and re.match(r"(\[\d+\])?: ", message[len(name) :])
        return self.option(name) + message[len(name) :] if is_argument else message


_FOR_PYTHON = re.compile(
    r"(?:[;,]\s+in|\.\s+In)\s+Python\b.*?(?=\.(?:\s|\Z)|;)"  # to the end of the clause
    r"|, `\.found\.\w+` in Python,|\son the command line,",
    re.DOTALL,
)
"""What the Args of a function say of Python alone, and that something is of the command line."""


def _whole_numbers(kind: Any, tokens: Sequence[Any]) -> Any:
    """Return whole numbers; cyclopts itself would take 1.5 for 2, and 0x10 for 16."""
    for token in tokens:
        if not re.fullmatch(r"[+-]?\d+", token.value, flags=re.ASCII):
            raise ValueError(f"{token.value!r} came, expected a whole number.")
    numbers = [int(token.value) for token in tokens]
    return numbers[0] if kind is int else numbers


def _read(text: Any, reader: Callable, option: str) -> Any:
    """Return what a reader makes of text; its refusal names the option."""
    try:
        return reader(text)
    except OpenworldError as error:
        raise OpenworldError(f"{option} {error}") from error


def on_command_line(hint: Any) -> tuple[Any, Callable | None]:
    """Return the type that text becomes for a parameter, and what makes the parameter's value of that; None for itself.

    >>> on_command_line(str | None), on_command_line(float | None)
    ((<class 'str'>, None), (<class 'float'>, None))
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        ways = [each for each in arguments[1:] if isinstance(each, OnCommandLine)]
        return (ways[0].kind, ways[0].read) if ways else on_command_line(arguments[0])
    if origin in (Union, UnionType):
        kinds = [each for each in arguments if each is not NoneType]
        several = [each for each in kinds if get_origin(each) is Sequence]  # one, or several: it may be repeated
        return on_command_line(str if str in kinds and not several else (several or kinds)[0])
    if origin in (Sequence, tuple, list):
        return GenericAlias(list, on_command_line(arguments[0])[0]), None
    return (hint if hint in (bool, int, float) or origin is Literal else str), None


def makes_answer(function: Callable) -> bool:
    """Whether a function returns numbers, which can be had as JSON, and not text alone."""
    return "str" not in str(inspect.unwrap(function).__annotations__["return"])


def help_text(function: Callable) -> tuple[str, str]:
    """Return what stands above the options in the help of a command, and what stands below them.

    Above are the first sentence of the docstring and the examples behind it. What is for Python alone is left out.
    """
    text = inspect.getdoc(function) or ""
    text = re.split(r"^(?:Args|Returns|Raises|Examples):$", text, maxsplit=1, flags=re.MULTILINE)[0]
    text = re.sub(r"\s?\bIn\s+Python\b.*?\.(?=\s|\Z)", "", text, flags=re.DOTALL)
    first = re.findall(r"\A.*?(?:\Z|\n\n)(?:```.*?\n```\n*)?", text.strip(), flags=re.DOTALL)[0]
    return first.strip(), text.strip()[len(first) :].strip()
