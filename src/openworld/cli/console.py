"""What every command says and how: errors in two lines, bars on a terminal only, exit codes that mean something."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from openworld._errors import OpenworldError

_state = {"debug": False}


def set_debug(value: bool) -> None:
    """Let errors through with their traceback."""
    _state["debug"] = value


def debug() -> bool:
    """Whether errors come with their traceback."""
    return _state["debug"]


def command() -> list[str]:
    """The command line as a person types it, however Python was started."""
    return ["openworld", *sys.argv[1:]]


@contextmanager
def working() -> Iterator[None]:
    """Errors in this block are failures of the work (exit code 1), not wrong use (exit code 2)."""
    try:
        yield
    except OpenworldError as error:
        error.exit_code = 1
        raise


def exit_code(error: OpenworldError) -> int:
    """2 for wrong use, 1 for a failure while working."""
    return getattr(error, "exit_code", 2)


def say_error(message: object) -> None:
    """To standard error, plain."""
    print(f"openworld: {message}", file=sys.stderr)


def output(quiet: bool = False):
    """Console of results, on standard output; silent when `quiet`."""
    from rich.console import Console

    # A pipe has no width of its own; tables in a log are worth more whole than wrapped at 80 columns.
    width = None if sys.stdout.isatty() else 160
    return Console(highlight=False, quiet=quiet, width=width, soft_wrap=not sys.stdout.isatty())


@contextmanager
def bars(quiet: bool = False) -> Iterator[object]:
    """A `rich.progress.Progress` on standard error that draws only on a terminal and leaves nothing behind."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    shown = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=shown, transient=True, disable=quiet or not shown.is_terminal) as progress:
        yield progress
