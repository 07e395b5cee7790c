"""How it was made: the command, the spec, what ran it."""

from openworld.evaluations.recognition.outcome import load
from openworld.evaluations.recognition.provenance import made
from openworld.evaluations.recognition.summary import summarise
from openworld.report.provenance import command


def test_all_that_is_known_is_told(small_run):
    run = load(small_run)
    parts = {part.heading: part for part in made(run, summarise(run.outcomes))}
    assert parts["To do it again"].text == "openworld demo"
    assert ("weights · embedded", "9f" * 32) in parts["What ran it"].facts
    assert ("seeds", "1 2") in parts["Seeds and durations"].facts
    assert ("zero-shot", "fit 0 s, score 0.4 s in all") in parts["Seeds and durations"].facts
    assert '"shots": 16' in parts["The spec as given"].text


def test_a_command_is_quoted_for_the_shell():
    assert command({"command": ["openworld", "run", "a b.toml"]}) == "openworld run 'a b.toml'" and command({}) == ""
