"""Where results and progress are shown: a rich console for the one, bars or lines for the other.

Progress is a bar on a terminal or in a notebook, and a line now and then in a pipe or a file; on standard error.

Names of files, classes and labels are other people's, and a terminal obeys escape sequences wherever they come from:
whatever is printed here passes `visible`.
"""

import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from openworld.core.progress import Observer
from openworld.core.sizes import duration
from openworld.core.terminal import one_line, visible

PIPED = 160  # columns of a table where nothing says how wide the output is
SHORT = 2.0  # seconds; work that is over sooner leaves no line in a log, and lines are not closer together
SILENCE = 30.0  # seconds of some work between two lines in a log that say how far it is
A_SECOND = 5  # how often a notebook's bar is drawn anew
ALERTED, UNKNOWN = 3, 4
"""Exit codes where an alarm stands (accuracy below --alert, images unlike the source's), and where nothing is told."""


@dataclass(frozen=True)
class Ending:
    """How a command ends: a line that says where things lie, what failed, and an exit code."""

    place: str = ""
    error: str = ""
    exit_code: int = 0

    @classmethod
    def at(cls, out: Path | None, kept: str = "", exit_code: int = 0) -> "Ending":
        """Return the ending of what has a page in the folder `out`; `kept` says what else lies where."""
        return cls("" if out is None else f"Report: {out / 'report.html'}   {kept}".rstrip(), exit_code=exit_code)


def output(quiet: bool = False, file: IO[str] | None = None):
    """Console of results, on standard output or in a file; silent when `quiet`."""
    from rich.console import Console

    piped = file is not None or not sys.stdout.isatty()
    # A pipe has no width of its own; tables in a log are worth more whole than wrapped at 80 columns.
    width = PIPED if piped else None
    console = Console(markup=False, highlight=False, quiet=quiet, width=width, soft_wrap=piped, file=file)
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
    """How long the rest takes at the pace so far, done in `taken` of `now` seconds; "" before the first, or once over.

    >>> time_left(2, 6, 100, 130), time_left(2, 1, 100, 110), time_left(0, 6, 0, 130), time_left(2, 1, 10, 20)
    ('about 4 min left', 'about 40 s left', '', '')
    """
    if done <= 0 or left <= 0:
        return ""
    rest = left * taken / done - (now - taken)
    return f"about {duration(rest)} left" if rest >= 1 else ""


@contextmanager
def bars() -> Generator[Any]:
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

    console = Console(stderr=True)
    columns = (Doing(), BarColumn(), MofNCompleteColumn(), Left())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield progress


class ProgressLog:
    """Progress as lines on standard error, for where no terminal shows a bar.

    A milestone is a line at once. Other work is a line every `SILENCE` seconds, from a thread: a step may take many
    minutes without a word. Work that is over within `SHORT` seconds leaves none.
    """

    def __init__(self, clock=time.monotonic):
        self._clock, self._lock, self._ended = clock, threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self._doing, self._done, self._total, self._before = "", 0, None, 0
        self._began = self._changed = self._said = clock()

    def __call__(self, doing: str, done: int, total: int | None = None, before: int = 0, milestone: bool = False):
        """Take note of how far some work is; an `openworld.core.progress.Progress`."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="openworld progress", daemon=True)
            self._thread.start()
        with self._lock:
            now = self._clock()
            new = total != self._total or done < self._done or (total is None and doing != self._doing)
            if new:
                self._began = self._changed = self._said = now
            elif done != self._done:
                self._changed = now
            self._doing, self._done, self._total, self._before = doing, done, total, before
            if milestone and now - self._said >= SHORT:
                self._say(now)

    def tick(self) -> None:
        """Say how far the work is, where nothing was said of it for `SILENCE` seconds."""
        with self._lock:
            waits = self._total is None or self._done < self._total
            if waits and (now := self._clock()) - self._said >= SILENCE:
                self._say(now)

    def end(self) -> None:
        """Say nothing more."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(1.0):
            self.tick()

    def _say(self, now: float) -> None:
        count = f": {self._done:,} of {self._total:,}" if self._total else f": {self._done:,}" if self._done else ""
        done, left = self._done - self._before, (self._total or 0) - self._done
        rest = time_left(done, left, self._changed - self._began, now - self._began)
        line = f"{self._doing}{count} after {duration(now - self._began)}{', ' if rest else ''}{rest}"
        self._said = now
        try:
            print(one_line(line), file=sys.stderr, flush=True)
        except (OSError, ValueError):  # nobody reads it any more, and the work goes on
            self._ended.set()


@contextmanager
def observing(*, quiet: bool = False) -> Generator[Observer]:
    """Yield an `Observer` that shows how far work is and prints lines; silent when `quiet`."""
    if quiet:
        yield Observer()
        return
    if in_notebook():
        with _notebook_bar() as progress:
            yield Observer(progress, lambda line: print(line))
        return
    out = output()
    with bars() as progress:
        if progress.disable:
            log = ProgressLog()
            try:
                yield Observer(log, lambda line: out.print(line, markup=False))
            finally:
                log.end()
            return

        def show(doing: str, done: int, total: int | None = None, before: int = 0, milestone: bool = False) -> None:
            current = progress.tasks[-1] if progress.tasks else None
            if current is None or current.total != total or done < current.completed:  # other work has begun
                if current is not None:
                    progress.remove_task(current.id)
                progress.add_task(doing, total=total, completed=before)
            progress.update(progress.task_ids[-1], description=doing, completed=done, before=before)

        def say(line: str) -> None:
            progress.stop()  # a bar takes what is printed beside it to standard error
            out.print(line, markup=False)
            progress.start()

        yield Observer(show, say)


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


@contextmanager
def _notebook_bar():
    """A bar below the cell, of HTML alone, which is gone when the work is done."""
    from IPython.display import HTML, display

    handle = display(HTML(""), display_id=True)
    drawn = 0.0

    def progress(doing: str, done: int, total: int | None = None, before: int = 0, milestone: bool = False) -> None:
        nonlocal drawn
        if time.monotonic() - drawn > 1 / A_SECOND:
            drawn = time.monotonic()
            handle.update(HTML(bar_html(doing, done, total)))

    try:
        yield progress
    finally:
        handle.update(HTML(""))


def bar_html(doing: str, done: int, total: int | None) -> str:
    """A bar with what is being done.

    >>> bar_html("encoding <new>", 3, 10)
    '<progress value="3" max="10"></progress> encoding &lt;new&gt; 3/10'
    """
    from markupsafe import escape

    ends, count = (f' value="{done}" max="{total}"', f" {done:,}/{total:,}") if total else ("", "")
    return f"<progress{ends}></progress> {escape(one_line(doing))}{count}"
