"""The command line within the process of a test: what a command prints, and the code that it ends with."""

import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
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


class CliRunner:
    """Calls a command line in this process."""

    def invoke(
        self, app: Callable[[Sequence[str]], None], words: Sequence[str], env: Mapping[str, str] | None = None
    ) -> Done:
        """Return what a command prints and ends with.

        Args:
            app: the command line, `openworld.cli.app.app`.
            words: what is typed behind `openworld`.
            env: variables of the environment.
        """
        out, err, exception = _Stream(), _Stream(), None
        with mock.patch.dict(os.environ, env or {}), _without_arguments(), redirect_stdout(out), redirect_stderr(err):
            try:
                app(list(map(str, words)))
                code = 0
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
            except Exception as error:
                code, exception = 1, error
        return Done(code, out.text(), err.text(), exception)


class _Stream(io.TextIOWrapper):
    """Text in memory that has the bytes of a real stream beneath it."""

    def __init__(self):
        self._bytes = io.BytesIO()
        super().__init__(self._bytes, encoding="utf-8", newline="", write_through=True)

    def text(self) -> str:
        return self._bytes.getvalue().decode("utf-8")


@contextmanager
def _without_arguments():
    """The arguments of the test are no arguments of the command."""
    with mock.patch.object(sys, "argv", ["openworld"]), mock.patch.object(sys, "stdin", io.StringIO()):
        yield
