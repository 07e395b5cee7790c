"""From a stream to a plan, and from answers to numbers."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from made_up_stream import BASE, answer, made_up

from openworld import OpenworldError
from openworld.metrics import openworld_auc
from openworld.own_data.label.frame import expected_outcomes
from openworld.own_data.label.kept_plan import PLAN, read_plan
from openworld.own_data.label.report import plan_labels, read_labels
from openworld.results import Results
from openworld.tables.files import scores_of
from openworld.tables.stream import read_stream
from openworld.testing._reports import _shows_every_number_once


def plan(folder, world, **settings):
    return plan_labels(world.stream(), folder, **{"n": 80} | settings)


def value(report, metric, **where):
    (row,) = report.results.where(metric=metric, **where)
    return row.value


def truth_of(world, rows=None):
    own = world.columns
    ids = own["id"] if rows is None else own["id"][rows]
    rows = np.arange(len(own["id"])) if rows is None else rows
    true = np.array([world.truth[one] for one in ids.tolist()])
    base = np.isin(true, BASE)
    scores, named = own["score"][rows], (own["base_name"][rows] == true, own["new_name"][rows] == true)
    return openworld_auc(scores[base], named[0][base], scores[~base], named[1][~base])


def test_with_every_image_labelled_the_numbers_are_those_of_openworld_auc(tmp_path, world):
    plan(tmp_path / "all", world, n=400)
    answer(tmp_path / "all", world.truth)
    report, truth = read_labels(tmp_path / "all"), truth_of(world)
    for metric, expected in (
        ("openworld_auc", truth.value),
        ("base_accuracy", truth.base_accuracy),
        ("new_accuracy", truth.new_accuracy),
    ):
        found = value(report, metric)
        assert found.value == pytest.approx(expected)
        assert found.over("labels").width < 1e-9 < found.over("images").width
    assert "OpenworldAUC on 400 images" in report.verdict[0]


@pytest.mark.parametrize("design", ["stratified", "random", "poisson"])
def test_a_few_labels_give_intervals_that_hold_the_truth(tmp_path, world, design):
    plan(tmp_path / "few", world, design=design, n=120)
    answer(tmp_path / "few", world.truth)
    report, truth = read_labels(tmp_path / "few"), truth_of(world)
    found = value(report, "openworld_auc")
    assert found.over("labels").low < truth.value < found.over("labels").high
    assert found.over("images").width > found.over("labels").width
    kept = Results.from_parquet(tmp_path / "few" / "results.parquet")
    assert kept.where(metric="openworld_auc").rows[0].value.value == found.value
    assert (tmp_path / "few" / "report.html").is_file() and "1.5 s an image" in " ".join(report.verdict)


def named(world):
    """The stream with an expectation of its names beside that of the sides."""
    base = world.columns["base"]
    return scores_of(world.columns | {"base_right": 0.75 * base, "new_right": 0.75 * (1 - base)}, "mine.npz")


def test_a_plan_says_how_many_labels_each_number_needs_at_best_and_at_worst(tmp_path, world):
    report = plan_labels(named(world), tmp_path / "few", within=8.0)
    (table,) = report.terminal_tables
    best, worst = table.rows[:2]
    assert (best.label, worst.label) == ("OpenworldAUC, at best", "OpenworldAUC, at worst")
    assert len(table.rows) == 10  # the stream says no name among all
    needed, more = ([cell.content.value for cell in row.cells] for row in (best, worst))
    assert needed == sorted(needed, reverse=True) and needed[-1] < report.found.plan.chosen.size < needed[-2]
    assert all(few < many for few, many in zip(needed[1:], more[1:], strict=True))
    promised = report.found.promised
    assert promised.at_best == pytest.approx(0.08, abs=0.002) and promised.at_worst > 1.3 * promised.at_best
    said = " ".join(report.verdict)
    assert f"{100 * promised.at_worst:.1f} points at worst" in said and f"{100 * promised.at_best:.1f} at best" in said
    rows = report.results.where(quantity="openworld_auc", case="at worst", half_width=0.05).rows
    assert [row.value.value for row in rows] == [more[2]]


def test_nothing_is_promised_at_best_of_names_of_which_the_stream_says_nothing(tmp_path, world):
    report = plan(tmp_path / "few", world)
    labels = [row.label for row in report.terminal_tables[0].rows]
    assert "AUROC, at best" in labels and not {"OpenworldAUC, at best", "new accuracy, at best"} & set(labels)
    assert report.found.promised.at_best is None and "At best cannot be told" in " ".join(report.verdict)
    wide = plan_labels(world.stream(), tmp_path / "wide", within=12.0).found.promised
    assert wide.at_worst == pytest.approx(0.12, abs=0.002)


def test_the_design_is_plain_until_answers_say_otherwise_and_says_so(tmp_path, world):
    first = plan(tmp_path / "grown", world, n=30)
    assert first.found.plan.settings.design == "random" and "no label shows yet" in " ".join(first.verdict)
    answer(tmp_path / "grown", world.truth)
    more = plan_labels(world.stream(), add=tmp_path / "grown", n=100)
    choice = more.found.choice
    said = f"by the first 30 labels, drawing by expectations has {choice.ratio:.2f}"
    assert choice.labels == 30 and said in " ".join(more.verdict)
    assert more.found.plan.settings.design == choice.design and more.found.promised.labels == 130
    assert more.found.promised.at_best < more.found.promised.at_worst
    wanted = plan(tmp_path / "strata", world, design="stratified")
    assert "in strata" in wanted.verdict[0] and "no label shows yet" not in " ".join(wanted.verdict)


def test_a_plan_is_stored_without_loss_and_the_same_seed_draws_the_same(tmp_path, world):
    for name in ("one", "two"):
        plan(tmp_path / name, world)
    assert (tmp_path / "one" / PLAN).read_bytes() == (tmp_path / "two" / PLAN).read_bytes()
    again, made = read_plan(tmp_path / "one"), plan(tmp_path / "three", world, seed=1).found.kept
    assert again.to_bytes() == (tmp_path / "one" / PLAN).read_bytes()
    assert again.batches[0].ids != made.batches[0].ids and again.batches[0].mark != made.batches[0].mark


def test_too_few_new_images_are_refused_with_what_is_needed(tmp_path):
    rare = made_up(share=0.97)
    plan(tmp_path / "rare", rare, n=30, design="random")
    answer(tmp_path / "rare", rare.truth)
    report = read_labels(tmp_path / "rare")
    assert value(report, "openworld_auc").value is None and value(report, "base_share").value
    assert re.search(r"cannot be told: \d of 30 labels fell on new images.* are needed", report.verdict[0])


@pytest.mark.parametrize("design", ["stratified", "random"])
def test_the_first_answers_without_a_gap_are_a_sample_of_their_own(tmp_path, world, design):
    plan(tmp_path / "part", world, design=design, n=100)
    answer(tmp_path / "part", world.truth, rows=[*range(60), 70, 80])
    report = read_labels(tmp_path / "part")
    assert "38 images of the plan have no answer yet. The first 60 of its order are used" in " ".join(report.verdict)
    assert "2 answers behind a gap" in " ".join(report.verdict)
    quality = report.found.batches
    (own,) = quality.plans
    assert own.inclusion.sum() == pytest.approx(60) and len(own.chosen) == 60
    interval = value(report, "openworld_auc").over("labels")
    assert interval.low < truth_of(world).value < interval.high


def test_a_worksheet_that_is_hardly_begun_says_how_many_are_needed(tmp_path, world):
    plan(tmp_path / "part", world, n=100, design="stratified")
    answer(tmp_path / "part", world.truth, rows=range(3))
    with pytest.raises(
        OpenworldError, match=r"97 of 100 images have no answer, and only the first 3 .* strata has enough"
    ):
        read_labels(tmp_path / "part")
    shutil.rmtree(tmp_path / "part")
    plan(tmp_path / "part", world, n=100, design="poisson")
    answer(tmp_path / "part", world.truth, rows=range(60))
    with pytest.raises(OpenworldError, match="the poisson design needs all of them"):
        read_labels(tmp_path / "part")


def test_a_worksheet_without_answers_is_refused(tmp_path, world):
    plan(tmp_path / "none", world)
    with pytest.raises(OpenworldError, match="no image of worksheet.csv has an answer"):
        read_labels(tmp_path / "none")


def test_images_that_nobody_can_tell_widen_every_interval_to_both_extremes(tmp_path, world):
    plan(tmp_path / "sure", world)
    answer(tmp_path / "sure", world.truth)
    sure = value(read_labels(tmp_path / "sure"), "openworld_auc").over("labels")
    answer(tmp_path / "sure", world.truth, unsure={3, 30, 50})
    report = read_labels(tmp_path / "sure")
    found = value(report, "openworld_auc").over("labels")
    assert found.low < sure.low and sure.high < found.high
    assert "3 images" in " ".join(report.verdict) and value(report, "images", images="cannot tell").value == 3
    answer(tmp_path / "sure", world.truth, unsure=set(range(12)))
    with pytest.raises(OpenworldError, match='of 12 of 80 images the answer is "cannot tell", more than 10 %'):
        read_labels(tmp_path / "sure")


def test_whatever_an_unsure_image_is_its_numbers_lie_within_the_bounds(tmp_path, world):
    plan(tmp_path / "some", world)
    answer(tmp_path / "some", world.truth, unsure={7, 21})
    bounds = value(read_labels(tmp_path / "some"), "openworld_auc").over("labels")
    kept = read_plan(tmp_path / "some")
    for first in ("1", "2", "3", "4"):
        for second in ("1", "4"):
            text = answer(tmp_path / "some", world.truth, unsure={7, 21}).read_text().splitlines()
            for row, code in ((8, first), (22, second)):
                text[row] = text[row].replace("cannot tell", code)
            (tmp_path / "some" / "answers.csv").write_text("\n".join(text))
            own = value(read_labels(tmp_path / "some", out=tmp_path / "out"), "openworld_auc").over("labels")
            assert bounds.low - 1e-9 <= own.low and own.high <= bounds.high + 1e-9, (first, second, kept.asked)


def test_two_models_are_compared_from_the_same_labels(tmp_path, world, other):
    plan(tmp_path / "pair", world, compare=other.stream("other.npz"), n=150)
    answer(tmp_path / "pair", world.truth)
    report = read_labels(tmp_path / "pair")
    truths = truth_of(world).value, truth_of(other).value
    (row,) = report.results.where(metric="openworld_auc_difference")
    assert row.entity == "mine minus other"
    _shows_every_number_once(report)
    assert row.value.over("labels").low < truths[0] - truths[1] < row.value.over("labels").high
    second = value(report, "openworld_auc", entity="other").over("labels")
    assert second.low < truths[1] < second.high
    assert {own.metric.key for own in report.results.comparisons} >= {"openworld_auc", "base_accuracy"}


def classifier(world, seed=0, errors=0.2):
    """Logits of a closed-set classifier over all eight names, and its names."""
    generator = np.random.default_rng(seed)
    names = [*BASE, *(name.replace("base", "new") for name in BASE)]
    true = np.array([names.index(own) for own in world.truth.values()])
    named = np.where(generator.random(len(true)) < errors, (true + 1) % 8, true)
    logits = generator.normal(size=(len(true), 8))
    logits[np.arange(len(true)), named] += 5
    columns = {"logits": logits, "id": np.array(list(world.truth))}
    file = scores_of(columns | {"classnames": names}, f"classifier{seed}.npz")
    return file, logits, true


def test_a_closed_set_classifier_is_asked_whether_its_name_is_right(tmp_path, world):
    stream, logits, true = classifier(world)
    report = plan_labels(stream, tmp_path / "closed", n=100)
    assert "Is the name right?" in " ".join(report.verdict)
    answer(tmp_path / "closed", world.truth)
    read = read_labels(tmp_path / "closed")
    interval = value(read, "accuracy").over("labels")
    assert interval.low < np.mean(logits.argmax(axis=1) == true) < interval.high
    assert "Accuracy on 400 images" in read.verdict[0]
    with pytest.raises(OpenworldError, match="closed-set classifier, whose number is the accuracy"):
        plan_labels(stream, tmp_path / "more", quantity="auroc")


def test_two_classifiers_are_labelled_only_where_they_differ(tmp_path, world):
    (first, own, true), (second, others, _) = classifier(world), classifier(world, 1, 0.3)
    plan_labels(first, tmp_path / "pair", compare=second, n=60)
    kept = read_plan(tmp_path / "pair")
    assert all(names.as_base[0] != names.as_base[1] for names in kept.batches[0].names)
    answer(tmp_path / "pair", world.truth)
    report = read_labels(tmp_path / "pair")
    difference = np.mean(own.argmax(axis=1) == true) - np.mean(others.argmax(axis=1) == true)
    interval = value(report, "accuracy_difference").over("labels")
    assert interval.low < difference < interval.high and interval.width < 0.2
    assert not report.results.where(metric="accuracy").rows


def test_a_second_batch_adds_to_the_first(tmp_path, world):
    folder = tmp_path / "grown"
    plan(folder, world, n=60, seed=2)
    answer(folder, world.truth)
    before = value(read_labels(folder), "openworld_auc").over("labels")
    plan_labels(world.stream(), add=folder, n=100)
    kept = read_plan(folder)
    assert len(kept.batches) == 2 and not set(kept.batches[0].ids) & set(kept.batches[1].ids)
    assert kept.plans[1].batch_weights == pytest.approx((60 / 160, 100 / 160))
    assert (folder / "worksheet-2.csv").is_file() and (folder / "label-2.html").is_file()
    assert value(read_labels(folder), "openworld_auc").over("labels") == before  # not begun
    answer(folder, world.truth, place=1, name="answers-2.csv")
    report = read_labels(folder)
    after = value(report, "openworld_auc").over("labels")
    assert after.width < before.width and after.low < truth_of(world).value < after.high
    assert "in 2 batches" in " ".join(report.verdict)


def test_a_batch_is_added_to_answered_images_alone(tmp_path, world):
    plan(tmp_path / "open", world)
    answer(tmp_path / "open", world.truth, rows=range(50))
    with pytest.raises(OpenworldError, match="30 of the 80 images of .* have no answer yet"):
        plan_labels(world.stream(), add=tmp_path / "open")
    answer(tmp_path / "open", world.truth)
    with pytest.raises(OpenworldError, match="arrays, is not there; give it again"):
        plan_labels(add=tmp_path / "open")


def test_images_with_labels_are_left_out_and_said(tmp_path, world):
    side = np.array(["base"] * 100 + [""] * 300)
    stream = scores_of(world.columns | {"side": side}, "late.npz")
    report = plan_labels(stream, tmp_path / "late", n=50)
    assert report.found.kept.size == 300 and "100 images of the stream had labels" in " ".join(report.verdict)
    assert min(int(own[1:]) for own in report.found.batch.ids) >= 100


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"out": None}, "one of --out DIR"),
        ({"n": 10, "within": 3.0}, "one of --n and --within"),
        ({"n": None, "within": 0.0}, "--within is 0"),
        ({"n": 900}, "900 labels were asked for"),
        ({"stream": None}, "no stream came"),
        ({"quantity": "auc"}, "unknown quantity 'auc'"),
    ],
)
def test_a_plan_that_cannot_be_made_is_refused_and_leaves_nothing(tmp_path, world, changes, message):
    wanted = {"stream": world.stream(), "out": tmp_path / "plan", "n": 80} | changes
    with pytest.raises(OpenworldError, match=message):
        plan_labels(**wanted)
    assert not (tmp_path / "plan").exists()


def test_a_folder_that_holds_something_else_is_refused(tmp_path, world):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OpenworldError, match="holds other files, first notes.txt"):
        plan(tmp_path, world)
    plan(tmp_path / "plan", world)
    with pytest.raises(OpenworldError, match="holds a plan; add a batch"):
        plan(tmp_path / "plan", world)


def test_streams_of_other_images_are_not_compared(tmp_path, world, other):
    fewer = {name: column[:399] for name, column in other.columns.items()}
    with pytest.raises(OpenworldError, match="on the same images"):
        plan(tmp_path / "pair", world, compare=scores_of(fewer, "other.npz"))
    turned = other.columns | {"base_name": other.columns["new_name"], "new_name": other.columns["base_name"]}
    with pytest.raises(OpenworldError, match="on the same base classes"):
        plan(tmp_path / "pair", world, compare=scores_of(turned, "other.npz"))


def test_a_damaged_plan_is_refused(tmp_path, world):
    plan(tmp_path / "plan", world)
    (tmp_path / "plan" / PLAN).write_bytes((tmp_path / "plan" / PLAN).read_bytes()[:300])
    with pytest.raises(OpenworldError, match="damaged"):
        read_labels(tmp_path / "plan")
    with pytest.raises(OpenworldError, match="holds no plan.safetensors"):
        read_labels(tmp_path)


def test_a_plan_says_beforehand_that_a_rare_side_will_have_too_few_labels(tmp_path):
    rare = made_up(share=0.97)
    stream = scores_of(rare.columns | {"base": np.full(400, 0.97)}, "rare.npz")
    text = " ".join(plan_labels(stream, tmp_path / "rare", n=100).verdict)
    assert "images are expected to be new ones; OpenworldAUC takes 100 of so rare a side" in text


@pytest.mark.parametrize(("n", "warned"), [(50, True), (100, False)])
def test_a_plan_says_beforehand_that_an_unlucky_draw_leaves_a_side_too_few(tmp_path, n, warned):
    made = made_up(share=0.2)
    stream = scores_of(made.columns | {"base": np.full(400, 0.2)}, "fifth.npz")
    text = " ".join(plan_labels(stream, tmp_path / "fifth", n=n).verdict)
    assert (f"About {n // 5} of the {n} images are expected to be base ones; OpenworldAUC takes 10" in text) == warned


def test_what_is_expected_of_an_image_comes_from_its_logits():
    base_logits, new_logits = np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([[1.0], [3.0]])
    columns = {
        "id": np.arange(2), "score": np.array([0.1, 0.2]), "logits": np.concatenate([base_logits, new_logits], axis=1)
    }  # fmt: skip
    names = {"classnames": '["a", "b", "c"]', "n_base": "2"}
    stream = read_stream(replace(scores_of(columns, "mine.npz"), about=names))
    joint = np.exp(columns["logits"]) / np.exp(columns["logits"]).sum(axis=1, keepdims=True)
    expected = expected_outcomes(stream)
    np.testing.assert_allclose(expected.base, joint[:, :2].sum(axis=1))
    np.testing.assert_allclose(expected.base_right, joint[:, :2].max(axis=1))
    np.testing.assert_allclose(expected.new_right, joint[:, 2])


def test_labels_that_would_bring_the_number_near_are_counted_by_the_square_of_its_half_width(tmp_path):
    world = made_up(3000)
    plan(tmp_path, world, n=150, design="random")
    answer(tmp_path, world.truth)
    report = read_labels(tmp_path)
    half = value(report, "openworld_auc").over("labels").width / 2
    in_all = np.ceil(150 * (half / 0.03) ** 2 / 10) * 10
    assert 300 < in_all < 3000
    assert f"About {in_all - 150:,.0f} labels more would bring it to ±3 points" in " ".join(report.verdict)


def test_a_second_stream_with_further_images_is_refused(tmp_path, world):
    more = {name: np.append(column, column[:1]) for name, column in world.columns.items()}
    more["id"][-1] = "one more"
    with pytest.raises(OpenworldError, match="400 images and .* 401"):
        plan_labels(world.stream(), tmp_path, n=80, compare=scores_of(more, "other.npz"))
