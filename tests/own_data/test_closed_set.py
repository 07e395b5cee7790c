"""Classifiers that know base names alone, scored: what is defined of them, and why the rest is not."""

import numpy as np
import pytest

import openworld as ow
from openworld import OpenworldError
from openworld.metrics import CLOSED_SET, aurc, auroc, detection_metrics

IMAGES = 40


def columns(*models, seed=0):
    """Predictions of some models; those called "open" name new images too."""
    rows = {name: [] for name in ("model", "side", "score", "correct", "confidence")}
    dice = np.random.default_rng(seed)
    for place, model in enumerate(models):
        for side in ("base", "new"):
            named = (dice.random(IMAGES) < 0.7).tolist()
            rows["model"] += [model] * IMAGES
            rows["side"] += [side] * IMAGES
            rows["score"] += (dice.normal((side == "base") * (1 + place), 1, IMAGES)).round(2).tolist()
            rows["correct"] += named if side == "base" or model.startswith("open") else [None] * IMAGES
            rows["confidence"] += dice.random(IMAGES).tolist()
    return rows


def sides(rows):
    base = np.array(rows["side"]) == "base"
    return np.array(rows["score"])[base], np.array(rows["correct"])[base], np.array(rows["score"])[~base]


def values(run, entity):
    return {row.metric.key: row.value for row in run.results if row.entity == entity}


def test_what_rests_on_base_names_and_scores_stands_and_the_rest_has_a_reason():
    rows = columns("resnet")
    base, correct, new = sides(rows)
    found = values(ow.score(rows), "resnet")
    detection = detection_metrics(base, new)
    assert found["base_accuracy"].value == np.mean(correct.astype(bool))
    assert found["auroc"].value == auroc(base, new).value and found["auroc"].over("images") is not None
    assert found["fpr95_in_positive"].value == detection.fpr_in_positive
    assert found["fpr95_out_positive"].value == detection.fpr_out_positive
    assert (found["aupr_in"].value, found["aupr_out"].value) == (detection.aupr_in, detection.aupr_out)
    assert found["aurc"].value == aurc(base, correct.astype(bool)).value
    for name in ("openworld_auc", "new_accuracy", "harmonic_mean", "harmonic_mean_of_means", "overall_accuracy"):
        assert found[name].value is None and CLOSED_SET in found[name].reason, name


def test_models_without_an_openworld_auc_are_compared_by_auroc():
    run = ow.score(columns("resnet", "vit"))
    assert "highest AUROC" in run.verdict[0] and CLOSED_SET in run.verdict[1]
    assert {test.metric.key for test in run.comparisons} == {"auroc"}
    assert "OpenworldAUC" not in next(iter(run.tables.values())).to_csv().splitlines()[0]
    assert "New images most confidently misnamed" not in run.html()


def test_runs_are_compared_and_checked(tmp_path):
    first, second = (ow.score(columns("resnet", seed=seed) | {"id": list(range(2 * IMAGES))}) for seed in (0, 0))
    assert ow.compare(first, second).found.metric.key == "auroc"
    assert ow.check(first, "auroc >= 0.1").found.decision == "holds"
    assert ow.check(first, "base_accuracy >= 0.99").found.decision == "broken"
    unknown = ow.check(first, "openworld_auc >= 0.1")
    assert unknown.found.decision == "undecided" and CLOSED_SET in unknown.found.checks[0].sentence


def test_beside_a_model_that_names_new_images_each_has_what_is_defined():
    run = ow.score(columns("resnet", "open CLIP"))
    closed, named = values(run, "resnet"), values(run, "open CLIP")
    assert closed["openworld_auc"].value is None and named["openworld_auc"].value > 0
    assert "aurc" in closed and "aurc" not in named
    assert run.verdict[0].startswith("OpenworldAUC of open CLIP is") and run.verdict[0].endswith("; resnet has none.")
    assert all(test.p is None for test in run.comparisons)


def test_a_csv_file_leaves_the_entries_empty_and_so_does_the_example_of_the_docs(repository, tmp_path):
    page = (repository / "docs" / "own-predictions.md").read_text(encoding="utf-8")
    lines = ("side,score,label,prediction", "base,9,cat,cat", "base,2,cat,dog", "new,4,owl,", "new,1,owl,")
    for text in (page.split("```csv\n")[1].split("```")[0], "\n".join(lines)):
        (tmp_path / "mine.csv").write_text(text)
        found = values(ow.score(tmp_path / "mine.csv"), "model")
        assert found["base_accuracy"].value == 0.5 and found["auroc"].value == 0.75
        assert CLOSED_SET in found["openworld_auc"].reason


@pytest.mark.parametrize("row", [0, IMAGES])
def test_entries_that_are_empty_here_and_there_are_refused(row):
    rows = columns("resnet") if row == 0 else columns("open")
    rows["correct"][row] = None
    with pytest.raises(OpenworldError, match="or leave it empty for all new images and no other"):
        ow.score(rows)
