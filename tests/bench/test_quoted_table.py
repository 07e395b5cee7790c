"""Cases, table and choice of the rules of `openworld estimate`, on a pool so small that it is made up in the test."""

import sys
from pathlib import Path

import numpy as np
import pytest

QUOTED = Path(__file__).resolve().parents[2] / "bench" / "quoted"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(QUOTED))
    import cases
    import choose
    import table

    monkeypatch.setattr(cases, "SIZES", ((80, 60),))
    return cases, table, choose


@pytest.fixture
def folder(tmp_path, bench, monkeypatch):
    """A pool of two models, and the cases of it."""
    import pool

    cases = bench[0]
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        for name, strength in (("source", 2.5), ("same--unseen", 2.5), ("noise--a", 1.5), ("blur--b", 0.2)):
            labels = rng.integers(0, 4, 90)
            looks = {
                key: grip * np.eye(4)[labels] + rng.normal(size=(90, 4))
                for key, grip in (("logits", strength), ("reference", 2.0))
            }
            pool.keep(tmp_path / "pool" / "tiny" / f"net-{seed}", name, labels=labels, classnames=list("abcd"), **looks)
    arguments = ["cases.py", "--pool", str(tmp_path / "pool"), "--out", str(tmp_path / "cases")]
    monkeypatch.setattr(sys, "argv", arguments)
    cases.main()
    return tmp_path / "cases"


def test_cases_are_read_as_the_evidence_that_they_were(bench, folder):
    cases, table, _ = bench
    rows = cases.read(folder)
    assert {row["reference"] for row in rows} == {"none", "good", "noisy", "misnamed"}
    assert {row["model"] for row in rows} == {"net-0", "net-1"} and {row["shares"] for row in rows} >= {"Dirichlet"}
    for row in rows:
        assert (row["views"] is None) is (row["reference"] == "none") and 0 <= row["before"] <= 1
        assert cases.facts_of(cases.evidence_of(row))["cot"] == row["cot"]


def test_the_table_and_the_pairs(bench, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["table.py", "--cases", str(folder), "--pairs", str(tmp_path / "pairs.csv")])
    bench[1].main()
    told = capsys.readouterr().out
    assert "| all | unshifted |" in told and "| tiny, as they come | strong |" in told and "Missed:" in told
    lines = (tmp_path / "pairs.csv").read_text().splitlines()
    assert lines[0].startswith("world,model,set,n,source,true,reference,method,quoted") and len(lines) == 1 + 2 * 2 * 3


def test_figures_of_a_line(bench):
    from openworld.estimators.quote import Quote

    rows = [{"true": 0.5, "before": 0.9}, {"true": 0.6, "before": 0.5}]
    found = bench[1].line(rows, [Quote("DoC", 0.7, 0.6, 0.8, ""), Quote(None, None, 0.1, 0.7, "")])
    assert found["untold"] == 0.5 and found["error"] == pytest.approx(20) and found["coverage"] == 0
    assert found["bounds"] == 1 and found["before"] == pytest.approx(25) and found["before, same"] == pytest.approx(40)


def test_what_a_case_costs_and_what_is_chosen(bench, folder):
    cases, _, choose = bench
    from openworld.estimators.quote import Limits

    held = [(cases.evidence_of(row), row) for row in cases.read(folder)]
    best = choose.chosen(held[::5])
    assert choose.mean_cost(held[::5], best) <= choose.mean_cost(held[::5], Limits())
    seen, row = next(case for case in held if case[1]["family"] == "same")
    assert choose.cost(seen, row["true"], Limits()) < choose.cost(seen, row["true"] - 0.5, Limits())
