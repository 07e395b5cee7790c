"""Claims of papers: each is about numbers that there are, and is shown, in part, contradicted or undecided by ours."""

import csv

import pytest
from paper_runs import plan_of

from openworld.papers import METRICS, published_numbers, published_tables
from openworld.papers.results import PaperResult
from openworld.reproduction.claims import (
    ALL,
    CLAIMS,
    EACH,
    Claim,
    ClaimPart,
    claims_report,
    claims_table,
    needed,
    write_claims,
)
from openworld.reproduction.figures.sweeps import SWEEPS
from openworld.reproduction.plan import PAPERS
from openworld.results import over_seeds

CLEAR = {"A": (0.70, 0.71, 0.72), "B": (0.50, 0.51, 0.53), "C": (0.30, 0.32, 0.31), "D": (0.1, 0.5, 0.9)}


def numbers_of(values, metric="AUROC", setting=""):
    """Numbers of methods by seed, as a table of ours has them."""
    return [
        PaperResult("drawn", setting, method, metric, over_seeds(each, METRICS[metric]), (1, 2, 3)[: len(each)], each)
        for method, each in values.items()
    ]


def state(*parts, numbers):
    return Claim("frap", "so it is", parts).judge(lambda number, metric: numbers).state


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (ClaimPart("higher", method="A", than=("B", "C")), "shown"),
        (ClaimPart("lower", method="A", than=("B",)), "contradicted"),
        (ClaimPart("lower", method="C", than=(ALL,), excluded=("D",)), "shown"),
        (ClaimPart("lower", method="B", than=("A", "C")), "in part"),
        (ClaimPart("lower", method="B", than=(ALL,)), "contradicted"),  # of all it cannot be the least
        (ClaimPart("higher", method="B", than=("D",)), "undecided"),
        (ClaimPart("higher", method="A", than=("B", "D")), "in part"),
        (ClaimPart("higher", method="A", than=("nobody",)), "undecided"),
        (ClaimPart("not higher", method="C", than=("A", "B")), "shown"),
        (ClaimPart("not higher", method="A", than=("B",)), "contradicted"),
        (ClaimPart("higher"), "in part"),  # each of them above 0, D without certainty
        (ClaimPart("equal", method="A", than=("B",)), "contradicted"),
    ],
)
def test_a_part_is_shown_refuted_or_neither(part, expected):
    assert state(part, numbers=numbers_of(CLEAR)) == expected


def test_a_claim_of_which_nothing_is_shown_is_not_shown_in_part():
    shown, contradicted, undecided = (
        ClaimPart("higher", method=name, than=(other,)) for name, other in (("A", "B"), ("C", "B"), ("B", "D"))
    )
    for parts, expected in (
        ((contradicted, undecided), "contradicted"),
        ((shown, undecided), "in part"),
        ((shown, contradicted), "in part"),
    ):
        assert state(*parts, numbers=numbers_of(CLEAR)) == expected
    against = Claim("frap", "so it is", (undecided, contradicted)).judge(lambda number, metric: numbers_of(CLEAR))
    assert (against.nearest.entity, against.nearest.other) == ("C", "B"), "what refutes it is told first"


def test_settings_and_metrics_of_a_method_stand_beside_each_other():
    at = numbers_of(CLEAR, setting="one") + numbers_of({"A": (0.701, 0.712, 0.719)}, setting="two")
    assert state(ClaimPart("equal", method="A", setting="one", than_setting="two"), numbers=at) == "shown"
    first, last = {"A": (0.9, 0.91, 0.9), "B": (0.8, 0.79, 0.8)}, {"A": (0.5, 0.51, 0.5), "B": (0.6, 0.61, 0.62)}
    for ends, expected in ((last, "shown"), (first, "contradicted"), ({**last, "B": (0.1, 0.9, 0.6)}, "undecided")):
        read = {"Acc(0)": numbers_of(first, "Acc(0)"), "WA": numbers_of(ends, "WA")}
        claim = Claim("openpl", "", (ClaimPart("unsteady", metric="Acc(0)", than_metric="WA"),))
        assert claim.judge(lambda number, metric, read=read: read[metric]).state == expected


@pytest.mark.parametrize("paper", CLAIMS)
def test_where_every_run_failed_nothing_is_told(paper):
    verdicts = [claim.judge(lambda number, metric: ()) for claim in CLAIMS[paper]]
    assert {each.state for each in verdicts} == {"undecided"} and not any(each.nearest for each in verdicts)
    assert all(row.cells[1] == "undecided" and row.cells[4] for row in claims_table(verdicts).rows)


def test_one_seed_tells_nothing_but_of_what_no_seed_moves_which_stands_beside_every_seed():
    one = numbers_of({name: each[:1] for name, each in CLEAR.items()})
    assert state(ClaimPart("higher", method="A", than=("B",)), numbers=one) == "undecided"
    sizes = numbers_of({"A": (6656.0, 6656.0), "B": (7474.0, 7474.0)}, "n_params")
    assert state(ClaimPart("lower", metric="n_params", method="A", than=("B",)), numbers=sizes) == "shown"
    numbers = numbers_of({"A": (0.951, 0.949, 0.950), "CLIP": (0.95,), "C": (0.7, 0.71, 0.72)})
    assert state(ClaimPart("equal", method="A", than=("CLIP",)), numbers=numbers) == "shown"
    assert state(ClaimPart("higher", method="CLIP", than=("C",)), numbers=numbers) == "shown"


def test_a_claim_of_parts_that_differ_holds_in_part_and_shows_the_worst():
    parts = ClaimPart("higher", method="A", than=("B", "C")), ClaimPart("higher", method="C", than=("B",))
    verdicts = Claim("frap", "", parts).judge(lambda number, metric: numbers_of(CLEAR))
    assert verdicts.state == "in part" and verdicts.counted == (2, 3)
    assert (verdicts.nearest.entity, verdicts.nearest.other) == ("C", "B") and verdicts.nearest.difference < 0
    row = verdicts.record()
    assert row["low"] < row["difference"] < row["high"] < 0 and row["state"] == "in part"


@pytest.mark.parametrize("paper", CLAIMS)
def test_every_part_is_about_numbers_that_the_paper_prints_and_its_runs_are_planned(paper):
    tables, figures = needed(paper)
    planned = plan_of(paper, tables, figures, "embedded")
    assert set(planned.tables) == set(tables) and set(planned.figures) == set(figures)
    for part in (part for claim in CLAIMS[paper] for part in claim.parts):
        sweep = next((sweep for sweep in SWEEPS if part.figure in sweep.numbers), None)
        methods, settings = {*PAPERS[paper].METHODS}, {""}
        if sweep:
            methods |= {*sweep.variants}
            of_gmop = [each[sweep.varies] for each in sweep.variants.values() if sweep.varies in each]
            usual = {"detectors": 3, "alpha": 0.5}.get(sweep.varies)
            settings |= {f"{value:g}" for value in (*of_gmop, *sweep.shots, *([usual] if usual else []))}
        else:
            assert part.table in published_tables(paper) and part.metric in METRICS
            printed = [*published_numbers(paper, part.table), *published_numbers(paper, part.than_table or part.table)]
            methods, settings = {number.method for number in printed}, {""} | {number.setting for number in printed}
        assert {part.method, *part.than, *part.excluded} - {EACH, ALL, ""} <= methods, part
        assert {part.setting, part.than_setting} <= settings, part


def test_claims_are_a_table_a_file_and_a_page(tmp_path):
    part, untold = ClaimPart("higher", table="1", metric="MAE", method="A", than=("B", "C")), "nobody measured it"
    claims = Claim("frap", "A is <b>higher</b>", (part,)), Claim("frap", "It is so", untold=untold)
    verdicts = [claim.judge(lambda number, metric: numbers_of(CLEAR, "MAE")) for claim in claims]
    planned = plan_of("frap", ("1",), data="embedded")
    report = claims_report(planned, verdicts)
    assert report.verdict[0].startswith("Of 2 claims of FRAP, 1 shown, 0 in part, 0 contradicted and 1 undecided")
    page = write_claims(report, verdicts, tmp_path).read_text(encoding="utf-8")
    assert "A is &lt;b&gt;higher" in page and untold in page and "+19.7 [" in page
    with (tmp_path / "claims.csv").open(newline="", encoding="utf-8") as file:
        first, second = csv.DictReader(file)
    assert (first["state"], first["other"], second["state"], second["p"]) == ("shown", "B", "undecided", "")
    assert "nobody measured it" in (tmp_path / "claims.md").read_text(encoding="utf-8")
