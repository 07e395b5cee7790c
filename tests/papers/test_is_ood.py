"""IS-OOD's printed numbers: what follows from them, and every known contradiction shown to be one."""

import json
from math import sqrt
from pathlib import Path

import pytest

from openworld.papers import TABLES, published_numbers

SEMANTIC, COVARIATE = "semantic shift", "covariate shift"
REFERENCE = Path(__file__).parents[1] / "reference" / "isood_metrics.json"
HALF = 0.005  # of the last printed decimal
LEVELS = 8
SQUARES = 42.0  # of the levels 1 to 8, around their mean
STRAY = sqrt(2 - (LEVELS - 1) ** 2 / SQUARES)  # most that residuals of length 1 move the last level against the first


def column(table, axis, kind):
    """{method: printed number} of "correlation" or "sensitivity"."""
    return {
        one.method: one.value
        for one in published_numbers("is-ood", table)
        if one.setting == axis and one.metric.startswith(kind)
    }


def ranked(table, axis, kind="sensitivity"):
    found = column(table, axis, kind)
    return sorted(found, key=lambda name: -found[name])


def most_gained(table, method):
    """The largest rise from the first level to the last that fits the printed slope and correlation."""
    slope = column(table, SEMANTIC, "sensitivity")[method] + HALF
    correlation = column(table, SEMANTIC, "correlation")[method] - HALF
    stray = slope * sqrt(SQUARES) * sqrt(1 / correlation**2 - 1)
    return (LEVELS - 1) * slope + STRAY * stray


# What follows


@pytest.mark.parametrize("table", ["1", "2", "4", "5", "6", "7"])
@pytest.mark.parametrize("axis", [SEMANTIC, COVARIATE])
def test_correlations_and_sensitivities_are_such(table, axis):
    correlations, sensitivities = (column(table, axis, kind) for kind in ("correlation", "sensitivity"))
    assert len(correlations) == len(sensitivities) == 8
    assert all(abs(one) <= 1 for one in correlations.values()) and min(sensitivities.values()) >= 0
    for method, one in sensitivities.items():  # a curve between 0 and 100 is not steeper
        steepest = 100 * abs(correlations[method]) * sqrt(LEVELS / 4 / SQUARES)
        assert one <= steepest + 2 * HALF, method


def test_semantic_shift_helps_by_auroc_and_by_fpr():
    assert all(min(column(table, SEMANTIC, "correlation").values()) > 0 for table in ("1", "2"))
    assert all(max(column(table, SEMANTIC, "correlation").values()) < 0 for table in ("4", "5"))


def test_the_methods_that_the_text_names():
    semantic, covariate = ranked("1", SEMANTIC), ranked("1", COVARIATE)
    assert semantic[0] == "KNN" and set(semantic[-2:]) == {"GradNorm", "RankFeat"} and covariate[-1] == "ODIN"
    real, made = column("1", SEMANTIC, "sensitivity"), column("2", SEMANTIC, "sensitivity")
    assert sum(made[name] < real[name] for name in real) == 6, "most fall on Syn-IS"
    assert sum(one > 0 for one in column("2", COVARIATE, "correlation").values()) == 5, "many rise with looks there"


def test_fewer_labelling_issues_help_every_method():
    told = {}
    for one in published_numbers("is-ood", "8"):
        told.setdefault(one.method, []).append(one.value)
    assert len(told) == 8 and all(whole < cleaner for whole, cleaner in told.values())
    assert told["MSP"] == [68.0, 79.5]


# Every known contradiction is one


def nearly_forty():
    assert round(most_gained("1", "MDS"), 1) == 29.3
    others = [name for name in ranked("1", SEMANTIC) if name not in ("MDS", "GradNorm", "RankFeat")]
    assert len(others) == 5 and all(most_gained("1", name) > 38 for name in others)


def semantic_first():
    exceptions = {
        (table, name): (far, near)
        for table in ("1", "2")
        for name, far in column(table, COVARIATE, "sensitivity").items()
        if far > (near := column(table, SEMANTIC, "sensitivity")[name])
    }
    assert exceptions == {("1", "RankFeat"): (0.83, 0.79), ("2", "RankFeat"): (1.03, 0.91), ("2", "MDS"): (2.91, 2.71)}


def gradnorm():
    assert ranked("1", SEMANTIC).index("GradNorm") == 6 and ranked("2", SEMANTIC).index("GradNorm") == 3
    made = column("2", SEMANTIC, "sensitivity")
    assert made["GradNorm"] == 2.85 > max(made[name] for name in ("MSP", "ODIN", "MDS"))
    assert column("1", SEMANTIC, "sensitivity")["GradNorm"] == 1.27
    assert column("2", SEMANTIC, "correlation")["GradNorm"] == 0.98


def steadiest():
    assert ranked("1", COVARIATE)[-1] == "ODIN" and column("1", COVARIATE, "sensitivity")["ODIN"] == 0.46
    assert ranked("4", COVARIATE)[-3:] == ["ODIN", "GradNorm", "RankFeat"]
    assert [column("4", COVARIATE, "sensitivity")[name] for name in ranked("4", COVARIATE)[-3:]] == [1.16, 0.21, 0.06]
    assert ranked("1", SEMANTIC)[0] == "KNN" and ranked("4", SEMANTIC)[:3] == ["ASH", "ODIN", "KNN"]


def opposite_signs():
    pairs = {
        (tables[0], axis, name): (one, column(tables[1], axis, "correlation")[name])
        for tables in (("1", "4"), ("2", "5"))
        for axis in (SEMANTIC, COVARIATE)
        for name, one in column(tables[0], axis, "correlation").items()
    }
    alike = {key: pair for key, pair in pairs.items() if pair[0] * pair[1] >= 0}
    assert len(pairs) == 32 and alike == {("2", COVARIATE, "DICE"): (-0.41, -0.83)}
    assert column("7", COVARIATE, "correlation")["DICE"] == 0.08


def counts():
    rises, slopes = column("6", COVARIATE, "correlation"), column("6", COVARIATE, "sensitivity").values()
    assert min(rises.values()) > 0 and (min(slopes), max(slopes)) == (7.09, 9.61)
    assert sum(one < 0 for one in column("1", COVARIATE, "correlation").values()) == 7
    assert max(column("7", COVARIATE, "sensitivity").values()) == 0.59


def semantics_left():
    told = {}
    for one in published_numbers("is-ood", "3"):
        if one.setting == "covariate features":
            told.setdefault(one.method, {})[one.dataset, one.metric] = one.value
    laid, pca = told["LAID"], told["PCA"]
    assert len(laid) == 6 and all(laid[key] > pca[key] for key in laid)
    assert (laid["ImageNet-1K", "Acc@1"], pca["ImageNet-1K", "Acc@1"]) == (7.31, 0.93)
    assert round(laid["ImageNet-1K", "Acc@1"] / (100 / 1000)) == 73


def without_labels():
    (case,) = [json.loads(REFERENCE.read_text())["mds_with_all_zero_labels"]]
    assert case["n_nan"] == case["n"] == 8
    assert all(
        "MDS" in {one.method for one in published_numbers("is-ood", table)}
        for table in TABLES["is-ood"]
        if table != "3"
    )


SHOWN = {
    "nearly forty points": nearly_forty,
    "semantic shift first": semantic_first,
    "GradNorm relies less on semantics": gradnorm,
    "ODIN is the steadiest": steadiest,
    "AUROC and FPR disagree": opposite_signs,
    "AUPR follows the counts": counts,
    "little semantics left": semantics_left,
    "MDS without labels": without_labels,
}


def test_every_known_contradiction_is_one(demonstrate):
    demonstrate("is-ood", SHOWN)
