"""Cases, table and choice of the rules of `openworld estimate`, on a pool so small that it is made up in the test."""

import sys

import numpy as np
import pytest

from openworld.estimators.quote.decision import Limits, Quote


@pytest.fixture(scope="module")
def bench():
    with pytest.MonkeyPatch.context() as patch:
        import cases
        import choose
        import table

        patch.setattr(cases, "SIZES", ((80, 60),))
        yield cases, table, choose


@pytest.fixture(scope="module")
def folder(tmp_path_factory, bench):
    """The cases of a pool of two worlds of a model each."""
    import pool

    path, cases = tmp_path_factory.mktemp("quoted"), bench[0]
    for seed, world in enumerate(("tiny", "small")):
        rng = np.random.default_rng(seed)
        for name, strength in (("source", 2.5), ("same--unseen", 2.5), ("noise--a", 1.5), ("blur--b", 0.2)):
            labels = rng.integers(0, 4, 90)
            looks = {
                key: grip * np.eye(4)[labels] + rng.normal(size=(90, 4))
                for key, grip in (("logits", strength), ("reference", 2.0), ("reference_kin", 2.0))
            }
            pool.keep(path / "pool" / world / "net-0", name, labels=labels, classnames=list("abcd"), **looks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["cases.py", "--pool", str(path / "pool"), "--out", str(path / "cases")])
        cases.main()
    return path / "cases"


def test_cases_are_read_as_the_evidence_that_they_were(bench, folder):
    cases = bench[0]
    rows = cases.read(folder)
    assert {row["reference"] for row in rows} == {"none", "good", "kin"} and {row["world"] for row in rows} == {
        "tiny",
        "small",
    }
    assert len(rows) == 2 * 3 * (6 + 3 + 2 + 1)  # three references; as they come and Dirichlet, unshifted and shifted
    for row in rows:
        seen = cases.evidence_of(row)
        assert (seen.views is None) is (row["reference"] == "none") and seen.signs["outputs"].p > 0
        assert seen.signs["agreement with the reference"] is None or row["reference"] != "none"
        assert seen.readings == row["evidence"]["readings"] and 0 <= row["true"] <= 1


def test_the_table(bench, folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["table.py", "--cases", str(folder), "--chosen"])
    bench[1].main()
    told = capsys.readouterr().out
    assert "| all | unshifted |" in told and "| tiny | strong |" in told and told.startswith("| setting | shift |")


def test_figures_of_a_line(bench):
    found = bench[1].line(np.array([0.5, 0.6]), [Quote("DoC", 0.7, 0.6, 0.8, ""), Quote(None, None, 0.1, 0.7, "")])
    assert found == ["2", "50 %", "20.0", "+20.0", "+20", "0.0 %", "20", "100 %"]


def test_what_is_chosen_costs_no_more_and_what_a_case_costs(bench, folder):
    cases, _, choose = bench
    held = choose.by_world(cases.read(folder))
    best = choose.chosen(held)
    assert choose.cost(held, best) <= choose.cost(held, Limits())
    seen, true = next((seen, true) for own in held.values() for seen, true in own if not seen.signs.speaking)
    costs = [choose.cost({"one": [(seen, truth)]}, Limits()) for truth in (true, true - 0.2, true - 0.4)]
    assert costs[0] < costs[1] < costs[2] and costs[2] > 0.4 + 15 * (0.4 - 0.25 - abs(costs[0]))
    assert set(choose.left_out(cases.read(folder))) == {"tiny", "small"}
