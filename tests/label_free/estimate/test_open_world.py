"""`openworld estimate --open-world`: the bounds, the sign, the labels to ask for, what is refused."""

import shlex

import numpy as np
import pytest

import openworld as ow
from openworld import OpenworldError
from openworld.cli.app import app
from openworld.cli.in_process import invoke
from openworld.tables.stream import stream_bytes

BASE, NEW = tuple(f"base {n}" for n in range(8)), tuple(f"new {n}" for n in range(8))
NAMES = BASE + NEW


def stream(count, share, seed, *, sure=4.0, away=0.0, labelled=False, **more):
    """Columns of a learner that is about as sure as it is right; `away` takes its base images for new ones."""
    draw = np.random.default_rng(seed)
    new = draw.random(count) < share
    label = np.where(new, 8, 0) + draw.integers(0, 8, count)
    logits = draw.normal(size=(count, 16))
    logits[np.arange(count), label] += sure
    logits[:, :8] -= away
    columns = {"logits": logits, "zero_shot": logits + away * (np.arange(16) < 8), **more}
    if labelled:
        columns |= {"side": np.where(new, "new", "base"), "label": np.array(NAMES)[label]}
    return columns


ABOUT = {"classnames": list(NAMES), "n_base": 8}
SOURCE = stream(400, 0.0, 0, labelled=True) | ABOUT


def estimated(target, source=SOURCE, **options):
    return ow.estimate(source, target | ABOUT, open_world=True, quiet=True, **options)


UNSURE = stream(400, 0.0, 0, sure=2.0, labelled=True) | ABOUT


@pytest.fixture(scope="module")
def home():
    return estimated(stream(1000, 0.5, 1, sure=2.0, labelled=True), UNSURE)


def test_the_bounds_hold_and_are_the_ones_that_are_written(home):
    bounds = home.found.bounds
    true = {row.metric.key: row.value.value for row in home.results.where(entity="truth", images="target")}
    assert bounds.rests_on == "positive-unlabelled"
    assert true["openworld_auc"] <= bounds.openworld_auc < true["openworld_auc"] + 0.2
    low, high = bounds.new_share
    assert low <= true["new_share"] <= high and home.found.unknown == ()
    rows = {row.metric.key: row.value.value for row in home.results.where(entity="bounds")}
    assert rows == {"openworld_auc_most": bounds.openworld_auc, "new_share_least": low, "new_share_most": high}
    shown = [f"{100 * number:.1f}" for number in (bounds.openworld_auc, low, high)]
    assert all(number in " ".join(home.verdict) for number in shown)


def test_no_openworld_auc_is_told_without_labels():
    answer = estimated(stream(300, 0.5, 2, sure=2.0), UNSURE)
    assert not len(answer.results.where(entity="truth", images="target"))
    assert not [row for row in answer.results if row.metric.key == "openworld_auc"]
    assert "at most" in answer.verdict[0] and "no estimate" in answer.verdict[1]


def test_the_labels_to_ask_for_come_as_a_ready_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a stream.npz"
    path.write_bytes(stream_bytes(".npz", stream(300, 0.5, 2), NAMES, 8))
    answer = ow.estimate(SOURCE, path, open_world=True, quiet=True)
    assert answer.found.plan in answer.verdict[-1]
    done = invoke(app, shlex.split(answer.found.plan)[1:])
    assert done.exit_code == 0, done.output
    sheet = (tmp_path / "labels" / "worksheet.csv").read_text().splitlines()
    assert len(sheet) == 1 + answer.found.labels == 201


def test_a_short_stream_is_labelled_whole_and_the_base_names_go_along(tmp_path):
    names = tmp_path / "base.txt"
    names.write_text("\n".join(BASE))
    found = ow.estimate(SOURCE, stream(90, 0.5, 2) | ABOUT, open_world=True, base_names=names, quiet=True).found
    assert found.labels == 90 and found.plan.endswith(f"--n 90 --base-names {names}")


def test_the_sign_says_what_is_seen_and_not_what_it_comes_from():
    answer = estimated(stream(800, 0.3, 3, away=4.0))
    said = next(sentence for sentence in answer.verdict if "otherwise" in sentence)
    gap = 100 * answer.found.bounds.shares.gap
    assert "the model's own classes at home" in said and f"{gap:.0f} points apart" in said
    assert "New classes" in said and "another appearance" in said
    assert not any("otherwise" in sentence for sentence in estimated(stream(800, 0.3, 3)).verdict)


def test_without_zero_shot_nothing_is_told_but_the_labels_to_ask_for():
    bare = [{name: part for name, part in one.items() if name != "zero_shot"} for one in (SOURCE, stream(300, 0.5, 2))]
    answer = estimated(bare[1], bare[0])
    found = answer.found
    assert found.unknown and (found.bounds.new_share, found.bounds.openworld_auc) == (None, None)
    assert (
        "zero-shot" in answer.verdict[0] and "zero_shot" in found.warnings[0] and found.plan in " ".join(answer.verdict)
    )


def test_where_zero_shot_is_surer_than_at_home_nothing_is_bounded_and_the_share_is():
    easier = stream(400, 0.5, 3, sure=4.0)
    answer = estimated(easier, UNSURE)
    assert answer.found.unknown and "surer" in answer.verdict[0] and answer.found.bounds.new_share is not None
    assert estimated(stream(400, 0.5, 3, sure=2.0), UNSURE).found.unknown == ()


def test_a_share_that_is_known_is_said_and_one_that_cannot_be_is_doubted():
    target = stream(800, 0.3, 4, sure=2.0)
    answers = [estimated(target, UNSURE, new_share=share) for share in (0.3, 0.9)]
    assert "30.0 %" in answers[0].verdict[1] and "lies outside" not in " ".join(answers[0].verdict)
    assert "90.0 %, lies outside" in " ".join(answers[1].verdict)
    assert answers[0].found.bounds.openworld_auc != answers[1].found.bounds.openworld_auc


def test_new_images_of_the_source_are_not_looked_at():
    mixed = stream(800, 0.5, 0, labelled=True) | ABOUT
    keep = mixed["side"] == "base"
    alone = {name: mixed[name][keep] for name in ("logits", "zero_shot", "side", "label")} | ABOUT
    target = stream(300, 0.5, 6)
    first, second = estimated(target, mixed).found, estimated(target, alone).found
    assert first.bounds == second.bounds and "not used" in first.warnings[0]


def test_scores_and_names_alone_tell_nothing():
    def names_alone(columns):
        logits, found = columns["logits"], {name: columns[name] for name in columns.keys() & {"side", "label"}}
        named = {
            "base_name": np.array(BASE)[logits[:, :8].argmax(1)],
            "new_name": np.array(NEW)[logits[:, 8:].argmax(1)],
        }
        return found | named | {"score": logits[:, :8].max(1) - logits[:, 8:].max(1)}

    source, target = names_alone(stream(400, 0.0, 0, labelled=True)), names_alone(stream(800, 0.5, 7))
    found = ow.estimate(source, target, open_world=True, quiet=True).found
    assert found.unknown and "logits" in found.bounds.reason


def test_a_long_stream_is_sampled(monkeypatch):
    from openworld.label_free.estimate import open_world as measurement

    monkeypatch.setattr(measurement, "SAMPLE", 200)
    found = estimated(stream(500, 0.5, 8)).found
    assert found.results.value("", "images", images="target").value == 500
    assert any("uniform sample" in warning for warning in found.warnings)


REFUSED = {
    "has no labels": (stream(400, 0.0, 0), {}),
    "20 labelled base image.*20 more": (stream(20, 0.0, 0, labelled=True), {}),
    "above 0 and below 1": (SOURCE, {"new_share": 1.5}),
    "--estimator does not go with --open-world": (SOURCE, {"estimator": ["own"]}),
    "unknown base name": (SOURCE, {"base_names": ["cat"]}),
    "'lynx' is in one of the two alone": (SOURCE | {"classnames": [*NAMES[:-1], "lynx"]}, {}),
    "came without --open-world": (SOURCE, {"new_share": 0.3, "open_world": False}),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_done_is_refused(words):
    source, options = REFUSED[words]
    with pytest.raises(OpenworldError, match=words):
        ow.estimate(ABOUT | source, stream(100, 0.5, 1) | ABOUT, **{"open_world": True, "quiet": True} | options)
