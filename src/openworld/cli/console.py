"""What every command says and how: errors in two lines, bars on a terminal only, exit codes that mean something."""

import functools
import sys
from collections.abc import Callable, Iterator
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


def reporting(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with every failure told in a sentence or two and an exit code instead of a traceback."""

    @functools.wraps(command)
    def told(*arguments, **options) -> None:
        try:
            command(*arguments, **options)
            sys.stdout.flush()  # a reader that has gone away shows here, and typer knows what to do
        except KeyboardInterrupt:
            say_error("stopped; what is done is kept: run the same command again to go on.")
            sys.exit(130)
        except BrokenPipeError:
            raise
        except Exception as error:
            if debug():
                raise
            say_error(error if isinstance(error, OpenworldError) else sentence(error))
            sys.exit(exit_code(error))

    return told


@contextmanager
def working() -> Iterator[None]:
    """Errors in this block are failures of the work (exit code 1), not wrong use (exit code 2)."""
    try:
        yield
    except OpenworldError as error:
        error.exit_code = 1
        raise


def exit_code(error: Exception) -> int:
    """2 for wrong use, 1 for a failure while working.

    >>> exit_code(OpenworldError("unknown learner")), exit_code(OSError("disk full"))
    (2, 1)
    """
    return getattr(error, "exit_code", 2 if isinstance(error, OpenworldError) else 1)


def say_error(message: object) -> None:
    """To standard error, plain."""
    print(f"openworld: {message}", file=sys.stderr)


def sentence(error: Exception) -> str:
    """What failed and what to do, for a failure that nobody foresaw: a full disk, no permission, no memory.

    >>> sentence(OSError(28, "No space left on device", "runs/demo"))
    'runs/demo: No space left on device. Mend that and run the same command again; what is done is kept.'
    """
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}. Mend that and run the same command again; what is done is kept."
    first = (str(error).strip().splitlines() or ["no message"])[0]
    return f"{type(error).__name__}: {first}\nopenworld --debug COMMAND shows where."


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
