"""Commands that read scores and answers load no torch and no towers, and little of the house."""

import csv
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

LOADED = """
import contextlib, io, sys
from openworld.cli import main
sys.argv = ["openworld", *sys.argv[1:]]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
print(*(m.__file__ for name, m in sys.modules.items() if name.startswith("openworld") and getattr(m, "__file__", "")))
print(*({"torch", "tokenizers", "huggingface_hub", "transformers"} & set(sys.modules)))
"""
HEAVY = ("backbones", "classifiers", "detectors", "learners", "features", "shifts")
COMMANDS = {  # and how many files with classes each may load
    "detect --scores scores.csv --replicates 20": 60,
    "score answers.csv": 95,
    "estimate --source source.csv --target target.csv": 157,
    "estimate fit --source source.csv --images 30 --out watch --estimator AC": 157,
}


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place, dice = tmp_path_factory.mktemp("tables"), random.Random(0)
    sets = {"id": "mine", "far": "others"}
    write(
        place / "scores.csv",
        [{"group": g, "set": s, "MSP": dice.gauss(g == "id", 1)} for g, s in sets.items() for _ in range(99)],
    )
    answers = [{"side": side, "score": dice.random(), "correct": 1} for side in ("base", "new") for _ in range(40)]
    write(place / "answers.csv", answers)
    rows = [
        {"logits:cat": dice.gauss(0, 2), "logits:dog": dice.gauss(0, 2), "labels": dice.choice(["cat", "dog"])}
        for _ in range(90)
    ]
    write(place / "source.csv", rows)
    write(place / "target.csv", [{name: row[name] for name in ("logits:cat", "logits:dog")} for row in rows])
    return place


@pytest.mark.parametrize("words", COMMANDS)
def test_a_reader_of_scores_loads_little(place, words):
    command = [sys.executable, "-c", LOADED, *words.split()]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
    assert not done.stderr
    files, heavy = done.stdout.split("\n")[:2]
    assert heavy == ""
    assert [file for file in files.split() for room in HEAVY if f"/openworld/{room}/" in file] == []
    texts = [Path(file).read_text(encoding="utf-8") for file in files.split()]
    with_classes = [text for text in texts if re.search(r"^ *class \w+(\(.*)?:?$", text, re.MULTILINE)]
    assert len(with_classes) <= COMMANDS[words]
