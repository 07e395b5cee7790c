"""What is printed: names of other people's files and classes are shown, whatever signs they hold, and never obeyed."""

import re
import sys
import unicodedata

import pytest
from rich.table import Table
from rich.text import Text

from openworld import OpenworldError
from openworld.cli import console
from openworld.core import console as core_console

FOREIGN = "a\x1b[31m\x1b]0;title\x07\x9b2J\r\x08\u202egnp\x00\x7fb"


def steering(text):
    """Signs that a terminal obeys, or that move text about."""
    return [sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") and sign != "\n"]


class Terminal:
    """Stands for standard output that is a terminal."""

    def __init__(self):
        self.text = ""
        self.encoding = "utf-8"

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


def shown(*texts, **options):
    """What a console prints in a pipe."""
    out = console.output()
    with out.capture() as capture:
        for text in texts:
            out.print(text, **options)
    return capture.get()


@pytest.mark.parametrize("made", [str, Text, lambda text: _table(text)], ids=["text", "rich text", "table"])
def test_a_console_shows_control_characters_and_keeps_its_own_style(made, monkeypatch):
    assert not steering(shown(made(FOREIGN), markup=False)) and "a␛[31m" in shown(made(FOREIGN), markup=False)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    console.output().print(made(FOREIGN), markup=False, style="bold")
    assert "\x1b[1m" in terminal.text  # ours
    assert not steering(re.sub(r"\x1b\[[0-9;]*m", "", terminal.text)) and "a␛[31m" in terminal.text


def _table(text):
    table = Table(text, title=text, caption=text)
    table.add_row(Text(text))
    return table


@pytest.fixture
def coloured(monkeypatch):
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "200", "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)


def test_progress_and_errors_show_them_too(capsys, coloured):
    with core_console.bars() as progress:
        progress.add_task(f"fitting [/red] {FOREIGN}", total=2)
        progress.refresh()
    drawn = capsys.readouterr().err
    assert "fitting [/red] a␛[31m" in drawn and "\x1b]0;" not in drawn and "\x9b" not in drawn
    console.say_error(OpenworldError(f"{FOREIGN} cannot be read"))
    assert not steering(capsys.readouterr().err)


LOG = {  # steps: (seconds, doing, done, total, before, milestone), None to wait; lines that come of them
    "short work": ([(0, "reading", 0, 9, 0, False), (1.9, "finished a", 9, 9, 0, True)], []),
    "units": (
        [
            (0, "fitting", 2, 12, 2, False),
            (1, "started a", 2, 12, 2, False),
            (200, "finished a", 3, 12, 2, True),
            (201, "finished b", 4, 12, 2, True),
            (203, "finished c", 5, 12, 2, True),
        ],
        ["finished a: 3 of 12 after 3 min, about 30 min left", "finished c: 5 of 12 after 3 min, about 8 min left"],
    ),
    "one long step": (
        [(0, "looking at \x1b[31m", 0, 720, 0, False), (20, "looking at \x1b[31m", 128, 720, 0, False), 25, 31, 45, 62],
        [
            "looking at ␛[31m: 128 of 720 after 31 s, about 1 min left",
            "looking at ␛[31m: 128 of 720 after 1 min, about 50 s left",
        ],
    ),
    "no end known": (
        [(0, "drawing", 0, None, 0, False), 40, (41, "counting", 0, None, 0, False), 60],
        ["drawing after 40 s"],
    ),
    "done": ([(0, "reading", 0, 9, 0, False), (5, "reading", 9, 9, 0, False), 50], []),
}


@pytest.mark.parametrize("name", LOG)
def test_a_log_has_a_line_for_what_is_finished_and_now_and_then_for_long_work(name, capsys):
    steps, lines = LOG[name]
    now = [0.0]
    log = core_console.ProgressLog(clock=lambda: now[0])
    for step in steps:
        now[0] = step if isinstance(step, int) else step[0]
        if isinstance(step, int):
            log.tick()
        else:
            log(*step[1:])
    log.end()
    assert capsys.readouterr().err.splitlines() == lines


def test_data_are_exact_in_a_pipe_and_visible_on_a_terminal(capsys, monkeypatch):
    console.write(FOREIGN)
    assert capsys.readouterr().out == FOREIGN + "\n"
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    console.write(FOREIGN)
    assert not steering(terminal.text)


def test_a_command_prints_nothing_past_the_console(repository):
    bare = re.compile(r"(?<![\w.])print\(|sys\.stdout\.write")
    for path in (repository / "src" / "openworld" / "cli").glob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if bare.search(line)] == [] or path.name == "console.py", path
