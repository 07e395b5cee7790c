"""From a stream to a plan, and from answers to numbers."""

import re
from dataclasses import replace

import numpy as np
import pytest
from made_up_stream import BASE, answer, made_up

from openworld import OpenworldError
from openworld.metrics import openworld_auc
from openworld.own_data.label.frame import expected_outcomes
from openworld.own_data.label.kept_plan import PLAN, read_plan
from openworld.own_data.label.report import plan_labels, read_labels
from openworld.tables.files import scores_of
from openworld.tables.stream import read_stream
from openworld.testing._reports import _shows_every_number_once

pytestmark = pytest.mark.base


def plan(folder, world, **settings):
    return plan_labels(world.stream(), folder, **{"n": 80} | settings)


def answered(folder, world, settings, **answers):
    """What answers to a plan in a new folder say."""
    plan(folder, world, **settings)
    answer(folder, world.truth, **answers)
    return read_labels(folder)


def value(report, metric, **where):
    (row,) = report.results.where(metric=metric, **where)
    return row.value


def interval(report, metric="openworld_auc", **where):
    return value(report, metric, **where).over("labels")


def said(report):
    return " ".join(report.verdict)


def truth_of(world):
    own = world.columns
    true = np.array([world.truth[one] for one in own["id"].tolist()])
    base, scores, named = np.isin(true, BASE), own["score"], (own["base_name"] == true, own["new_name"] == true)
    return openworld_auc(scores[base], named[0][base], scores[~base], named[1][~base])


def test_with_every_image_labelled_the_numbers_are_those_of_openworld_auc(tmp_path, world):
    report, truth = answered(tmp_path / "all", world, {"n": 400}), truth_of(world)
    numbers = {"openworld_auc": truth.value, "base_accuracy": truth.base_accuracy, "new_accuracy": truth.new_accuracy}
    for metric, expected in numbers.items():
        found = value(report, metric)
        assert found.value == pytest.approx(expected)
        assert found.over("labels").width < 1e-9 < found.over("images").width
    assert "OpenworldAUC on 400 images" in report.verdict[0]


@pytest.mark.parametrize("design", ["stratified", "poisson"])
def test_a_few_labels_give_intervals_that_hold_the_truth(tmp_path, world, design):
    report = answered(tmp_path / "few", world, {"design": design, "n": 120})
    found = value(report, "openworld_auc")
    assert found.over("labels").low < truth_of(world).value < found.over("labels").high
    assert found.over("images").width > found.over("labels").width


def test_a_plan_says_how_many_labels_each_number_needs_at_best_and_at_worst(tmp_path, world):
    base = world.columns["base"]
    named = scores_of(world.columns | {"base_right": 0.75 * base, "new_right": 0.75 * (1 - base)}, "mine.npz")
    report = plan_labels(named, tmp_path / "few", within=8.0)
    (table,) = report.terminal_tables
    best, worst = table.rows[:2]
    assert (best.label, worst.label) == ("OpenworldAUC, at best", "OpenworldAUC, at worst")
    assert len(table.rows) == 10  # the stream says no name among all
    needed, more = ([cell.content.value for cell in row.cells] for row in (best, worst))
    assert needed == sorted(needed, reverse=True) and needed[-1] < report.found.plan.chosen.size < needed[-2]
    assert all(few < many for few, many in zip(needed[1:], more[1:], strict=True))
    promised = report.found.promised
    assert promised.at_best == pytest.approx(0.08, abs=0.002) and promised.at_worst > 1.3 * promised.at_best
    assert f"{100 * promised.at_worst:.1f} points at worst" in said(report)


def test_nothing_is_promised_at_best_of_names_of_which_the_stream_says_nothing(tmp_path, world):
    report = plan_labels(world.stream(), tmp_path / "few", within=12.0)
    labels = [row.label for row in report.terminal_tables[0].rows]
    assert "AUROC, at best" in labels and not {"OpenworldAUC, at best", "new accuracy, at best"} & set(labels)
    assert report.found.promised.at_best is None and "At best is not known" in said(report)
    assert report.found.promised.at_worst == pytest.approx(0.12, abs=0.002)


def test_the_design_is_plain_until_answers_say_otherwise_and_says_so(tmp_path, world):
    first = plan(tmp_path / "grown", world, n=30)
    assert first.found.plan.settings.design == "random" and "no label shows yet" in said(first)
    answer(tmp_path / "grown", world.truth)
    more = plan_labels(world.stream(), add=tmp_path / "grown", n=100)
    choice = more.found.choice
    assert choice.labels == 30 and f"by expectations has {choice.ratio:.2f}" in said(more)
    assert more.found.plan.settings.design == choice.design and more.found.promised.labels == 130
    assert more.found.promised.at_best < more.found.promised.at_worst
    wanted = plan(tmp_path / "strata", world, design="stratified")
    assert "in strata" in wanted.verdict[0] and "no label shows yet" not in said(wanted)


def test_a_plan_is_stored_without_loss_and_the_same_seed_draws_the_same(tmp_path, world):
    for name in ("one", "two"):
        plan(tmp_path / name, world)
    assert (tmp_path / "one" / PLAN).read_bytes() == (tmp_path / "two" / PLAN).read_bytes()
    again, made = read_plan(tmp_path / "one"), plan(tmp_path / "three", world, seed=1).found.kept
    assert again.to_bytes() == (tmp_path / "one" / PLAN).read_bytes()
    assert again.batches[0].ids != made.batches[0].ids and again.batches[0].mark != made.batches[0].mark


def test_too_few_new_images_are_refused_with_what_is_needed(tmp_path):
    report = answered(tmp_path / "rare", made_up(share=0.97), {"n": 30, "design": "random"})
    assert value(report, "openworld_auc").value is None and value(report, "base_share").value
    assert re.search(r"cannot be estimated: \d of 30 labels fell on new images.* are needed", report.verdict[0])


@pytest.mark.parametrize("design", ["stratified", "random"])
def test_the_first_answers_without_a_gap_are_a_sample_of_their_own(tmp_path, world, design):
    report = answered(tmp_path / "part", world, {"design": design, "n": 100}, rows=[*range(60), 70, 80])
    assert "38 images of the plan have no answer yet. The first 60 of its order are used" in said(report)
    assert "2 answers behind a gap" in said(report)
    (own,) = report.found.plans
    assert own.inclusion.sum() == pytest.approx(60) and len(own.chosen) == 60
    assert interval(report).low < truth_of(world).value < interval(report).high


def test_whatever_an_unsure_image_is_its_numbers_lie_within_the_bounds(tmp_path, world):
    report = answered(tmp_path / "some", world, {}, unsure={7, 21})
    bounds = interval(report)
    assert "2 images" in said(report) and value(report, "images", images="cannot tell").value == 2
    for first, second in (("1", "1"), ("2", "4"), ("3", "1"), ("4", "4")):
        text = answer(tmp_path / "some", world.truth, unsure={7, 21}).read_text().splitlines()
        for row, code in ((8, first), (22, second)):
            text[row] = text[row].replace("cannot tell", code)
        (tmp_path / "some" / "answers.csv").write_text("\n".join(text))
        own = interval(read_labels(tmp_path / "some", out=tmp_path / "out"))
        assert bounds.low - 1e-9 <= own.low and own.high <= bounds.high + 1e-9, (first, second)
    answer(tmp_path / "some", world.truth, unsure=set(range(12)))
    with pytest.raises(OpenworldError, match='of 12 of 80 images the answer is "cannot tell", more than 10 %'):
        read_labels(tmp_path / "some")


def test_two_models_are_compared_from_the_same_labels(tmp_path, world, other):
    report = answered(tmp_path / "pair", world, {"compare": other.stream("other.npz"), "n": 150})
    truths = truth_of(world).value, truth_of(other).value
    (row,) = report.results.where(metric="openworld_auc_difference")
    assert row.entity == "mine minus other"
    _shows_every_number_once(report)
    assert row.value.over("labels").low < truths[0] - truths[1] < row.value.over("labels").high
    second = interval(report, entity="other")
    assert second.low < truths[1] < second.high
    assert {own.metric.key for own in report.results.comparisons} >= {"openworld_auc", "base_accuracy"}


def classifier(world, seed=0, errors=0.2):
    """Logits of a closed-set classifier over all eight names, and which images it names right."""
    generator = np.random.default_rng(seed)
    names = [*BASE, *(name.replace("base", "new") for name in BASE)]
    true = np.array([names.index(own) for own in world.truth.values()])
    named = np.where(generator.random(len(true)) < errors, (true + 1) % 8, true)
    logits = generator.normal(size=(len(true), 8))
    logits[np.arange(len(true)), named] += 5
    columns = {"logits": logits, "id": np.array(list(world.truth)), "classnames": names}
    return scores_of(columns, f"classifier{seed}.npz"), logits.argmax(axis=1) == true


def test_a_closed_set_classifier_is_asked_whether_its_name_is_right(tmp_path, world):
    stream, right = classifier(world)
    report = plan_labels(stream, tmp_path / "closed", n=100)
    assert "Is the name right?" in said(report)
    answer(tmp_path / "closed", world.truth)
    read = read_labels(tmp_path / "closed")
    assert interval(read, "accuracy").low < right.mean() < interval(read, "accuracy").high
    assert "Accuracy on 400 images" in read.verdict[0]


def test_two_classifiers_are_labelled_only_where_they_differ(tmp_path, world):
    (first, own), (second, others) = classifier(world), classifier(world, 1, 0.3)
    plan_labels(first, tmp_path / "pair", compare=second, n=60)
    kept = read_plan(tmp_path / "pair")
    assert all(names.as_base[0] != names.as_base[1] for names in kept.batches[0].names)
    answer(tmp_path / "pair", world.truth)
    report = read_labels(tmp_path / "pair")
    found = interval(report, "accuracy_difference")
    assert found.low < own.mean() - others.mean() < found.high and found.width < 0.2
    assert not report.results.where(metric="accuracy").rows


def test_a_second_batch_adds_to_the_first(tmp_path, world):
    folder = tmp_path / "grown"
    before = interval(answered(folder, world, {"n": 60, "seed": 2}))
    plan_labels(world.stream(), add=folder, n=100)
    kept = read_plan(folder)
    assert len(kept.batches) == 2 and not set(kept.batches[0].ids) & set(kept.batches[1].ids)
    assert kept.plans[1].batch_weights == pytest.approx((60 / 160, 100 / 160))
    assert (folder / "worksheet-2.csv").is_file() and (folder / "label-2.html").is_file()
    assert interval(read_labels(folder)) == before  # not begun
    answer(folder, world.truth, place=1, name="answers-2.csv")
    report = read_labels(folder)
    after = interval(report)
    assert after.width < before.width and after.low < truth_of(world).value < after.high
    assert "in 2 batches" in said(report)


def test_images_with_labels_are_left_out_and_said(tmp_path, world):
    side = np.array(["base"] * 100 + [""] * 300)
    report = plan_labels(scores_of(world.columns | {"side": side}, "late.npz"), tmp_path / "late", n=50)
    assert report.found.kept.size == 300 and "100 images of the stream had labels" in said(report)
    assert min(int(own[1:]) for own in report.found.batch.ids) >= 100


REFUSED = {
    "one of --out DIR": {"out": None},
    "one of --n and --within": {"n": 10, "within": 3.0},
    "--within is 0": {"n": None, "within": 0.0},
    "900 labels were asked for": {"n": 900},
    "no stream came": {"stream": None},
    "unknown quantity 'auc'": {"quantity": "auc"},
    "closed-set classifier, whose number is the accuracy": {"stream": classifier(made_up())[0], "quantity": "auroc"},
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_plan_that_cannot_be_made_is_refused_and_leaves_nothing(tmp_path, world, words):
    with pytest.raises(OpenworldError, match=words):
        plan_labels(**{"stream": world.stream(), "out": tmp_path / "plan", "n": 80} | REFUSED[words])
    assert not (tmp_path / "plan").exists()


def test_folders_that_will_not_do_are_refused(tmp_path, world):
    folder = tmp_path / "plan"
    plan(folder, world)
    with pytest.raises(OpenworldError, match="holds a plan; add a batch"):
        plan(folder, world)
    with pytest.raises(OpenworldError, match="no image of worksheet.csv has an answer"):
        read_labels(folder)
    answer(folder, world.truth, rows=range(50))
    with pytest.raises(OpenworldError, match="30 of the 80 images of .* have no answer yet"):
        plan_labels(world.stream(), add=folder)
    answer(folder, world.truth)
    with pytest.raises(OpenworldError, match="arrays, is not there; give it again"):
        plan_labels(add=folder)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OpenworldError, match="holds other files, first notes.txt"):
        plan(tmp_path, world)


def test_a_worksheet_that_is_hardly_begun_says_how_many_are_needed(tmp_path, world):
    for design, words in (
        ("stratified", r"97 of 100 images have no answer, and only the first 3 .* strata has enough"),
        ("poisson", "the poisson design needs all of them"),
    ):
        with pytest.raises(OpenworldError, match=words):
            answered(tmp_path / design, world, {"n": 100, "design": design}, rows=range(3))


def test_streams_of_other_images_are_not_compared(tmp_path, world, other):
    columns = other.columns
    swapped = columns | {"base_name": columns["new_name"], "new_name": columns["base_name"]}
    more = {name: np.append(column, column[:1]) for name, column in columns.items()}
    more["id"][-1] = "one more"
    for changed, words in (
        ({name: column[:399] for name, column in columns.items()}, "on the same images"),
        (swapped, "on the same base classes"),
        (more, "400 images and .* 401"),
    ):
        with pytest.raises(OpenworldError, match=words):
            plan(tmp_path / "pair", world, compare=scores_of(changed, "other.npz"))
    names = np.array([f"{row}.png" for row in range(400)])
    first, second = (scores_of(columns | {"image": own}, "mine.npz") for own in (names, names[::-1]))
    with pytest.raises(OpenworldError, match="id 'i0' is image 0.png in mine.npz and 399.png in mine.npz"):
        plan_labels(first, tmp_path / "pair", compare=second)


@pytest.mark.parametrize(
    ("share", "n", "warned"),
    [
        (0.97, 100, "expected to be new ones; OpenworldAUC takes 100 of so rare a side"),
        (0.2, 50, "About 10 of the 50 images are expected to be base ones; OpenworldAUC takes 10"),
        (0.2, 100, ""),
    ],
)
def test_a_plan_says_beforehand_that_a_side_may_have_too_few_labels(tmp_path, share, n, warned):
    stream = scores_of(made_up(share=share).columns | {"base": np.full(400, share)}, "side.npz")
    text = said(plan_labels(stream, tmp_path / "side", n=n))
    assert warned in text and bool(warned) == ("OpenworldAUC takes" in text)


def test_what_is_expected_of_an_image_comes_from_its_logits():
    logits = np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([[1.0], [3.0]])
    columns = {"id": np.arange(2), "score": np.array([0.1, 0.2]), "logits": np.concatenate(logits, axis=1)}
    names = {"classnames": '["a", "b", "c"]', "n_base": "2"}
    stream = read_stream(replace(scores_of(columns, "mine.npz"), about=names))
    joint = np.exp(columns["logits"]) / np.exp(columns["logits"]).sum(axis=1, keepdims=True)
    expected = expected_outcomes(stream)
    np.testing.assert_allclose(expected.base, joint[:, :2].sum(axis=1))
    np.testing.assert_allclose(expected.base_right, joint[:, :2].max(axis=1))
    np.testing.assert_allclose(expected.new_right, joint[:, 2])


def test_labels_that_would_bring_the_number_near_are_counted_by_the_square_of_its_half_width(tmp_path):
    report = answered(tmp_path, made_up(3000), {"n": 150, "design": "random"})
    in_all = np.ceil(150 * (interval(report).width / 2 / 0.03) ** 2 / 10) * 10
    assert 300 < in_all < 3000 and f"About {in_all - 150:,.0f} labels more would bring it to ±3 points" in said(report)
