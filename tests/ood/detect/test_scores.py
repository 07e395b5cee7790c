"""`openworld detect --scores`: tables in every format, what is refused, and scores that are kept and read again."""

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet
from scipy.stats import binom

import openworld as ow
from openworld.ood.scored_sets import read_scores, scores_parquet

pytestmark = pytest.mark.base

TABLES = 10
GROUPS = ["id"] * 6 + ["near"] * 3 + ["far"] * 4


def columns():
    generator = np.random.default_rng(0)
    return {
        "group": GROUPS,
        "set": [""] * 6 + ["cars"] * 3 + ["dtd"] * 2 + ["noise"] * 2,
        "part": ["test"] * 4 + ["validation"] * 2 + [""] * 7,
        "MSP": generator.normal(size=13),
        "score KNN": generator.normal(size=13),
    }


@pytest.fixture
def file(tmp_path):
    parquet.write_table(pyarrow.table(columns()), tmp_path / "scores.parquet")
    return tmp_path / "scores.parquet"


def test_sets_are_read_by_name_and_validation_images_enter_no_number(file):
    sets = read_scores(file)
    assert [(each.name, each.group, len(each)) for each in sets.all] == [
        ("test", "id", 4),
        ("validation", "id", 2),
        ("cars", "near", 3),
        ("dtd", "far", 2),
        ("noise", "far", 2),
    ]
    assert sets.detectors == ("MSP", "KNN")
    report = ow.detect(scores=file, replicates=0, quiet=True)
    wanted = ow.metrics.auroc(columns()["MSP"][:4], columns()["MSP"][6:9]).value
    assert report.results.value("MSP", "auroc", group="near", set="cars").value == pytest.approx(wanted)


def test_scores_that_are_kept_give_the_same_numbers(file, tmp_path):
    first = ow.detect(scores=file, replicates=10, out=tmp_path / "out", quiet=True)
    again = ow.detect(scores=tmp_path / "out" / "scores.parquet", replicates=10, quiet=True)
    assert again.results == first.results
    assert scores_parquet(again.found) == (tmp_path / "out" / "scores.parquet").read_bytes()
    assert "near, cars" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_best_of_twelve_that_know_nothing_is_claimed_in_one_table_of_twenty_at_most():
    table = {"group": ["id"] * 150 + ["near"] * 75 + ["far"] * 75, "set": [""] * 150 + ["cars"] * 75 + ["dtd"] * 75}
    generator, claims = np.random.default_rng(0), 0
    for _ in range(TABLES):
        noise = {f"D{number}": generator.normal(size=300) for number in range(12)}
        verdict = " ".join(ow.detect(scores=table | noise, replicates=0, quiet=True).page.verdict)
        assert verdict.count("no detector is shown to be above chance") + verdict.count("has the highest") == 2
        claims += "highest" in verdict or "better" in verdict or "right way round" in verdict
    assert claims <= binom.ppf(0.99, TABLES, 0.05)


def test_scores_that_are_larger_outside_are_turned(file):
    plain, turned = (ow.detect(scores=file, larger_out=way, replicates=0, quiet=True).results for way in (False, True))
    assert plain.value("KNN", "auroc", group="far").value == pytest.approx(
        1 - turned.value("KNN", "auroc", group="far").value
    )


def test_one_detector_can_be_chosen(file):
    assert ow.detect(scores=file, detector=["KNN"], replicates=0, quiet=True).found.detectors == ("KNN",)
    with pytest.raises(ow.OpenworldError, match="unknown detector 'KN'"):
        ow.detect(scores=file, detector=["KN"], quiet=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"group": None}, "lacks group"),
        ({"group": ["near"] * 13}, "no in-distribution test image"),
        ({"group": ["id"] * 13}, "no set but in-distribution"),
        ({"group": ["nera"] * 13}, "did you mean 'near'"),
        ({"part": ["tset"] * 13}, "did you mean 'test'"),
        ({"MSP": None, "score KNN": None}, "no column of scores"),
        ({"MSP": [float("nan")] * 13}, "MSP"),
    ],
)
def test_a_table_that_will_not_do_is_refused(change, said):
    table = {name: column for name, column in (columns() | change).items() if column is not None}
    with pytest.raises(ow.OpenworldError, match=said):
        ow.detect(scores=table, replicates=0, quiet=True)
