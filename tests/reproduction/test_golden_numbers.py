"""Every number that tables and figures of made-up runs showed is still shown, whatever shows it now.

    python tests/reproduction/test_golden_numbers.py

writes the numbers anew. What they are by hand is tested beside this file.
"""

import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "golden")]

from paper_runs import METHODS, outcome, played, recognised, run, varied  # noqa: E402
from shown import lacking, record  # noqa: E402

from openworld.papers.results import (
    PaperRun,  # noqa: E402
    paper_results,  # noqa: E402
)
from openworld.reproduction.comparison import compare_with_paper  # noqa: E402
from openworld.reproduction.figures import FIGURES  # noqa: E402
from openworld.reproduction.page import compared_results, table_of  # noqa: E402

GOLDEN = Path(__file__).with_name("golden-numbers.json")
COUNTS = {"GMoP": 3, "GMoP, K = 2": 2, "GMoP, K = 5": 5}


def made(folder):
    """Return tables and figures of all kinds, on the papers' data and on other data."""
    others = (outcome(name, seed, "emoji") for name in ("zero-shot", "CoOp", "GMoP") for seed in (1, 2))
    sides = recognised(), [run("recognition-emoji", *others, datasets={})]
    aged = [PaperRun(played(folder), {"dtd": "DTD", "food101": "Food101"}, METHODS)]
    partitions = [each for name, count in COUNTS.items() for each in varied(name, {"detectors": count, "alpha": 0.5})]
    shots = [each for count in (1, 2, 16) for each in varied("CoOp", {}, shots=count)]
    mixture = [*varied("GMoP", {}), *varied("GMoP single prompt", {"single_prompt": True})]
    tables = [("openworldauc", table, runs) for runs in sides for table in ("2", "7", "8-9", "14")]
    tables += [("openpl", table, aged) for table in ("6", "12", "38")]
    figures = [("openworldauc", number, runs) for runs in sides for number in ("3", "5a", "5b", "7", "9")]
    figures += [
        ("openworldauc", "10", [run("partitions-oxford_flowers", *partitions)]),
        ("openworldauc", "11", [run("shots-oxford_flowers", *shots)]),
        ("openworldauc", "13", [run("mixture-oxford_flowers", *mixture)]),
        ("openpl", "1", aged),
    ]
    compared = [compare_with_paper(paper, table, paper_results(paper, table, runs)) for paper, table, runs in tables]
    drawn = [FIGURES[paper][number].draw(tuple(runs)) for paper, number, runs in figures]
    shown = (SimpleNamespace(tables=[table_of(each)], results=compared_results([each])) for each in compared)
    return [*shown, *drawn]


def test_no_number_is_lost(tmp_path):
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    gone = lacking(golden, record(made(tmp_path)), 1e-9)
    assert not gone, f"{len(gone)} numbers are gone, among them:\n" + "\n".join(gone[:40])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        kept = record(made(Path(place)))
    lines = (f'"{kind}": [\n' + ",\n".join(map(json.dumps, entries)) + "\n]" for kind, entries in kept.items())
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
