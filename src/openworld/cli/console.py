"""What every command says and how: errors in two lines, bars on a terminal only, exit codes that mean something.

Names of files, classes and labels are other people's, and a terminal obeys escape sequences wherever they come from:
whatever is printed here passes `visible`. Data that goes into a pipe or a file is exact.
"""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from openworld._errors import OpenworldError, failing
from openworld._sizes import duration as duration

PIPED = 160  # columns of a table where nothing says how wide the output is
_state = {"debug": False}
_UTF8 = "PYTHONUTF8=1"
working = failing
# Control characters by their pictures; what moves text about (C1, directions, separators of lines) or is no character
# at all (half a surrogate pair, which stands for a byte that is no UTF-8) by the sign for "unknown".
_VISIBLE = (
    {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
    | {0x7F: 0x2421}
    | dict.fromkeys(
        (*range(0x80, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)), 0xFFFD
    )
)


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
    """The command, with every failure said in a sentence or two and an exit code instead of a traceback."""

    @functools.wraps(command)
    def reported(*arguments, **options) -> None:
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

    return reported


def exit_code(error: Exception) -> int:
    """2 for wrong use, 1 for a failure while working.

    >>> exit_code(OpenworldError("unknown learner")), exit_code(OSError("disk full"))
    (2, 1)
    """
    return getattr(error, "exit_code", 2 if isinstance(error, OpenworldError) else 1)


def visible(text: str) -> str:
    """Text that a terminal shows and never obeys: control characters but tab and newline by signs that stand for them.

    >>> visible("cat\\x1b[31m.png")
    'cat␛[31m.png'
    """
    return text.translate(_VISIBLE)


def one_line(name: object) -> str:
    """A name of somebody else's as one line of visible text.

    >>> one_line("a\\nb.png")
    'a␊b.png'
    """
    return visible(str(name)).replace("\n", "␊").replace("\t", "␉")


def say_error(message: object) -> None:
    """To standard error, plain; with a word on the alphabet where names of files are not read as UTF-8."""
    text = visible(str(message))
    alphabet = sys.getfilesystemencoding()
    if alphabet != "utf-8" and not text.isascii() and _UTF8 not in text:
        text += f"\nPython reads names of files as {alphabet} here; where they have other letters, set {_UTF8}."
    print(f"openworld: {text}", file=sys.stderr)


def write(text: str) -> None:
    """Print text that others may read on (JSON, CSV, a path): exact in a pipe or a file, visible on a terminal."""
    text = text if text.endswith("\n") else text + "\n"
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)


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


def output(quiet: bool = False, file: IO[str] | None = None):
    """Console of results, on standard output or in a file; silent when `quiet`."""
    from rich.console import Console

    piped = file is not None or not sys.stdout.isatty()
    # A pipe has no width of its own; tables in a log are worth more whole than wrapped at 80 columns.
    width = PIPED if piped else None
    console = Console(highlight=False, quiet=quiet, width=width, soft_wrap=piped, file=file)
    console.push_render_hook(_visible_hook())
    return console


def _visible_hook():
    """What makes a console show all text by `visible`, and leaves its own colours and moves alone."""
    from rich.console import RenderHook
    from rich.segment import Segment

    class Visible:
        def __init__(self, shown):
            self.shown = shown

        def __rich_console__(self, console, options):
            for text, style, control in console.render(self.shown, options):
                yield Segment(text if control else visible(text), style, control)

    class Hook(RenderHook):
        def process_renderables(self, renderables):
            return list(map(Visible, renderables))

    return Hook()


def time_left(done: float, left: float, taken: float, now: float) -> str:
    """How long the rest of some work takes at its pace so far; nothing before the first is done.

    Args:
        done, left: how much is done, and how much is not.
        taken: seconds after which so much was done.
        now: seconds since the beginning.

    >>> time_left(2, 6, 100, 130), time_left(0, 6, 0, 130)
    ('about 4 min left', '')
    """
    if done <= 0 or left <= 0:
        return ""
    return f"about {duration(max(0.0, left * taken / done - (now - taken)))} left"


@contextmanager
def bars(quiet: bool = False) -> Iterator[object]:
    """A `rich.progress.Progress` on standard error that draws only on a terminal and leaves nothing behind."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn
    from rich.text import Text

    class Doing(ProgressColumn):
        def render(self, task) -> Text:
            return Text(one_line(task.description))

    class Left(ProgressColumn):
        """The time left at the pace since the bar began; what was done `before` that says nothing about the pace."""

        def __init__(self):
            super().__init__()
            self._last = {}

        def render(self, task) -> Text:
            done, seconds = task.completed - task.fields.get("before", 0), task.elapsed or 0.0
            if self._last.setdefault(task.id, (done, seconds))[0] != done:
                self._last[task.id] = done, seconds
            return Text(time_left(done, (task.total or 0) - task.completed, self._last[task.id][1], seconds))

    shown = Console(stderr=True)
    columns = (Doing(), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), Left())
    with Progress(*columns, console=shown, transient=True, disable=quiet or not shown.is_terminal) as progress:
        yield progress


@contextmanager
def observer(out) -> Iterator[object]:
    """An `Observer` whose progress is a bar, and whose lines are printed on the console `out` in between."""
    from openworld.applications.observer import Observer

    with bars(out.quiet) as progress:
        bar = progress.add_task("", total=None, rate="")

        def report_progress(doing: str, done: int, total: int | None = None) -> None:
            progress.update(bar, description=doing, completed=done, total=total)

        def say(line: str) -> None:
            if not progress.disable:
                progress.stop()  # a bar takes what is printed beside it to standard error
            out.print(line, markup=False)
            if not progress.disable:
                progress.start()

        yield Observer(report_progress, say)
