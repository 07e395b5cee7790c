"""Where results and progress are shown: a rich console for the one, bars on a terminal for the other.

Names of files, classes and labels are other people's, and a terminal obeys escape sequences wherever they come from:
whatever is printed here passes `visible`.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from openworld._observer import Observer
from openworld._sizes import duration
from openworld._terminal import one_line, visible

PIPED = 160  # columns of a table where nothing says how wide the output is


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
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn
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
    columns = (
        Doing(),
        BarColumn(),
        MofNCompleteColumn(),
        Left(),
    )
    with Progress(*columns, console=shown, transient=True, disable=quiet or not shown.is_terminal) as progress:
        yield progress


@contextmanager
def observer(out) -> Iterator[object]:
    """An `Observer` whose progress is a bar, and whose lines are printed on the console `out` in between."""
    with bars(out.quiet) as progress:

        def show(doing: str, done: int, total: int | None = None, before: int = 0) -> None:
            current = progress.tasks[-1] if progress.tasks else None
            if current is None or current.total != total or done < current.completed:  # other work has begun
                if current is not None:
                    progress.remove_task(current.id)
                progress.add_task(doing, total=total, completed=before)
            progress.update(progress.task_ids[-1], description=doing, completed=done, before=before)

        def say(line: str) -> None:
            if not progress.disable:
                progress.stop()  # a bar takes what is printed beside it to standard error
            out.print(line, markup=False)
            if not progress.disable:
                progress.start()

        yield Observer(show, say)
