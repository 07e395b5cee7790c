"""The command line within the process of a test: what a command prints, and the code that it ends with."""

import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock


@dataclass(frozen=True)
class Done:
    """A command that has ended; `exception` is what it raised past the command line: a fault of the program."""

    exit_code: int
    stdout: str
    stderr: str
    exception: BaseException | None = None

    @property
    def output(self) -> str:
        """What was printed, errors last."""
        return self.stdout + self.stderr


def invoke(app: Callable[[Sequence[str]], None], words: Sequence[str], env: Mapping[str, str] | None = None) -> Done:
    """Return what a command line, `openworld.cli.app.app`, prints for words behind `openworld`, and ends with."""
    held = io.BytesIO(), io.BytesIO()  # streams of text have bytes beneath them, as real ones
    out, err = (io.TextIOWrapper(each, encoding="utf-8", newline="", write_through=True) for each in held)
    code, exception = 0, None
    with ExitStack() as contexts:
        for change in (mock.patch.dict(os.environ, env or {}), redirect_stdout(out), redirect_stderr(err)):
            contexts.enter_context(change)
        for name, value in (("argv", ["openworld"]), ("stdin", io.StringIO())):  # those of the test are none of its
            contexts.enter_context(mock.patch.object(sys, name, value))
        try:
            app(list(map(str, words)))
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        except Exception as error:
            code, exception = 1, error
    return Done(code, *(each.getvalue().decode("utf-8") for each in held), exception)
