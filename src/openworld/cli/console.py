"""What every command says and how: errors in two lines, bars on a terminal only, exit codes that mean something.

Names of files, classes and labels are other people's, and a terminal obeys escape sequences wherever they come from:
whatever is printed here passes `visible`. Data that goes into a pipe or a file is exact.
"""

import os
import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from openworld.api.work import COMMAND
from openworld.core.console import output
from openworld.core.errors import OpenworldError
from openworld.core.terminal import visible

_UTF8 = "PYTHONUTF8=1"


class Terminated(KeyboardInterrupt):
    """SIGTERM came: everything ends as after Ctrl-C, and scratch files are taken away."""


def heed_terminate() -> None:
    """Let SIGTERM stop a command as Ctrl-C does; a second one changes nothing."""

    def stop(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise Terminated

    signal.signal(signal.SIGTERM, stop)


@contextmanager
def reporting(words: Sequence[str], *, debug: bool = False) -> Generator[None]:
    """Say every failure of a command in a sentence or two and an exit code instead of a traceback, but for `debug`."""
    token = COMMAND.set(("openworld", *words))
    try:
        yield
        sys.stdout.flush()  # a reader that has gone away shows here
    except KeyboardInterrupt as stop:
        say_error("stopped; what is done is kept: run the same command again to go on.")
        sys.exit(143 if isinstance(stop, Terminated) else 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on; Python flushes once more
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        say_error(error if isinstance(error, OpenworldError) else sentence(error))
        sys.exit(exit_code(error))
    finally:
        COMMAND.reset(token)


def exit_code(error: Exception) -> int:
    """2 for wrong use, 1 for a failure while working.

    >>> exit_code(OpenworldError("unknown learner")), exit_code(OSError("disk full"))
    (2, 1)
    """
    return getattr(error, "exit_code", 2 if isinstance(error, OpenworldError) else 1)


def say_error(message: object) -> None:
    """Print an error, plain; with a word on the alphabet where names of files are not read as UTF-8."""
    text = visible(str(message))
    alphabet = sys.getfilesystemencoding()
    if alphabet != "utf-8" and not text.isascii() and _UTF8 not in text:
        text += f"\nPython reads names of files as {alphabet} here; where they have other letters, set {_UTF8}."
    print(f"openworld: {text}", file=sys.stderr)


def write(text: str) -> None:
    """Print text that others may read on (JSON, CSV, a path): exact in a pipe or a file, visible on a terminal."""
    text = text if text.endswith("\n") else text + "\n"
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)


def show(answer, *, json: bool, quiet: bool) -> None:
    """Show what a function returned, say where its files lie, print the JSON if asked for, and end with its code."""
    if isinstance(answer, str):
        write(answer)
        return
    screen, ending = output(quiet=quiet or json), answer.ending
    answer.show(screen)
    if ending.place:
        screen.print(ending.place, markup=False)
    if json:
        write(answer.to_json())
    if ending.error:
        say_error(ending.error)
    if ending.exit_code:
        sys.exit(ending.exit_code)


def sentence(error: Exception) -> str:
    """What failed and what to do, for a failure that nobody foresaw: a full disk, no permission, no memory.

    >>> sentence(OSError(28, "No space left on device", "runs/demo"))
    'runs/demo: No space left on device. Mend that and run the same command again; what is done is kept.'
    """
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}. Mend that and run the same command again; what is done is kept."
    if isinstance(error, UnicodeEncodeError):
        sign = error.object[error.start : error.end].encode("unicode_escape").decode()
        return (
            f"the text {sign} cannot be written as {error.encoding}. If it is no mistake in a name, set PYTHONUTF8=1 "
            "in the environment and run the same command again; what is done is kept."
        )
    first = (str(error).strip().splitlines() or ["no message"])[0]
    return f"{type(error).__name__}: {first}\nopenworld --debug COMMAND shows where."
