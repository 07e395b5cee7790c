"""Labels that arrive late: an interval from a draw, no number from a convenience sample, later periods, a worksheet."""

import csv
import json

import numpy as np
import pytest
from simulated import outputs

from openworld import OpenworldError, labels
from openworld.estimators.engine.temperature import confidences
from openworld.label_free.estimate.command import estimate
from openworld.label_free.estimate.late_labels import ImagesAtHand, LateLabels, period_labels

NAMES = np.array(["ant", "bee", "cat", "dog"])
SOURCE, TARGET = outputs(0, 400, 4, 2.0), outputs(1, 600, 4, 1.0)
RIGHT = TARGET.predictions == TARGET.labels


@pytest.fixture
def folder(tmp_path):
    np.savez(tmp_path / "val.npz", logits=SOURCE.logits, labels=SOURCE.labels, classnames=NAMES)
    ids = np.array([f"{row:05d}" for row in range(TARGET.n)])
    np.savez(tmp_path / "live.npz", logits=TARGET.logits, id=ids)
    return tmp_path


def write(path, rows, inclusion=None, wrong=()):
    with path.open("w", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(["id", "label", *(["inclusion"] if inclusion is not None else [])])
        for row in rows:
            name = "other" if row in wrong else NAMES[TARGET.labels[row]]
            sheet.writerow([f"{row:05d}", name, *([inclusion] if inclusion is not None else [])])
    return path


def found(folder, labels, chunk_rows=0, **further):
    sides = [str(folder / "val.npz")], [str(folder / "live.npz")]
    return estimate(*sides, labels=labels, estimator=("DoC",), chunk_rows=chunk_rows, **further)


def told(report):
    return " ".join(report.page.verdict)


def drawn(n, seed, first=0, last=600):
    return np.sort(np.random.default_rng(seed).choice(np.arange(first, last), n, replace=False))


def test_drawn_labels_give_an_interval_over_their_draw(folder):
    report = found(folder, write(folder / "late.csv", drawn(120, 0), 0.2))
    quote, labelled = report.found.quote, report.found.labelled
    assert quote.method == "labels" and labelled.n == 120 and labelled.drawn
    assert quote.low <= RIGHT.mean() <= quote.high and quote.high - quote.low < 0.2
    assert "They give an interval that holds without any premise" in told(report)


@pytest.mark.parametrize("name", ["right", "other"])
def test_labels_that_are_all_alike_leave_some_doubt(folder, name):
    rows = np.flatnonzero(RIGHT)[:40]
    path = write(folder / "late.csv", rows, 0.07, wrong=rows if name == "other" else ())
    quote = found(folder, path).found.quote
    assert 0.03 < quote.high - quote.low < 0.2 and (quote.high if name == "right" else 1 - quote.low) == 1


def test_labels_of_no_draw_decide_nothing_and_an_image_of_no_class_is_a_mistake(folder):
    surest = np.argsort(-TARGET.logits.max(axis=1))[:100]
    report, bare = found(folder, write(folder / "late.csv", surest)), found(folder, None)
    plain = report.found.labelled.plain
    assert report.found.quote == bare.found.quote and report.found.labelled.accuracy is None
    assert plain == pytest.approx(RIGHT[surest].mean())
    assert f"not drawn at random (no column inclusion): of these images {100 * plain:.1f} %" in told(report)
    fewer = found(folder, write(folder / "late.csv", surest, wrong=surest[RIGHT[surest]][:10])).found.labelled.plain
    assert fewer == pytest.approx(plain - 0.1)


def test_periods_with_labels_are_told_by_them_and_correct_later_ones(folder):
    rows = np.concatenate([drawn(60, 1, 0, 200), drawn(5, 2, 200, 400)])
    bare = found(folder, None, 200).found.chunks
    path = folder / "late.csv"
    write(path, rows, 0.3)
    report = found(folder, path, 200)
    first, second, third = report.found.chunks
    assert first.quote.method == "labels" and first.quote.low <= RIGHT[:200].mean() <= first.quote.high
    assert second.quote.method == "DoC" and "needed" in second.labelled.reason
    assert first.on_source is None and second.on_source == second.source_like is not None
    assert third.labelled is None and "corrected by labels of 1 period" in third.quote.why
    assert abs(third.quote.accuracy - RIGHT[400:].mean()) < abs(bare[2].quote.accuracy - RIGHT[400:].mean())
    assert "65 labels of images that were drawn in 2 chunks. In 1 chunk they give an interval" in told(report)
    assert "Those of 1 chunk are too few" in told(report)
    assert "60 labels" in str(report.terminal_tables) and json.loads(report.json)["stretches"][0]["labelled"]["n"] == 60


def test_a_proposed_worksheet_is_filled_in_and_read_back(folder):
    out = folder / "out"
    found(folder, None, 200, propose=50, out=out)
    with (out / "labels-to-make.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert 30 <= len(rows) <= 70 and all(400 <= int(row["id"]) < 600 and not row["label"] for row in rows)
    assert {row["name"] for row in rows} <= set(NAMES)
    with (out / "filled.csv").open("w", newline="") as file:
        sheet = csv.DictWriter(file, rows[0])
        sheet.writeheader()
        sheet.writerows({**row, "label": NAMES[TARGET.labels[int(row["id"])]]} for row in rows)
    last = found(folder, out / "filled.csv", 200).found.chunks[-1]
    assert last.quote.method == "labels" and last.quote.low <= RIGHT[400:].mean() <= last.quote.high


def test_refusals(folder):
    path = folder / "late.csv"
    for text, match in {
        "name,label\n1,ant\n": "says which image a row is of",
        "id,label\n00001,ant\n00001,bee\n": "more than once",
        "id,label\n00001,wasp\n": "wasp.*An image of no class is labelled 'other'",
        "id,label\n00001,7\n": "label 7 is none of the 4 classes.*labelled 'other'",
        "id,label\n00001,-1\n": "none of the 4 classes|unknown label",
        "id,label\n99999,ant\n": "1 of 1 images of late.csv are not in the target",
        "id,label,inclusion\n00001,,0.1\n00002,ant,0.1\n": "1 of 2 images .* have no label",
        "id,label,inclusion\n00001,ant,2\n": r"must lie in \(0, 1\]",
        "id,label\n00001,\n": "holds no label",
        "image,label\na.png,ant\n": "has no such column",
    }.items():
        path.write_text(text)
        with pytest.raises(OpenworldError, match=match):
            found(folder, path)
    with pytest.raises(OpenworldError, match="--propose writes a worksheet"):
        found(folder, None, propose=50)
    (folder / "labels-to-make.csv").write_text("filled in", encoding="utf-8")
    with pytest.raises(OpenworldError, match="is there already, and may be filled in"):
        found(folder, None, propose=50, out=folder)


def test_labels_of_a_sample_of_a_period_hold_for_all_its_images():
    """And most draws of a whole one hold its accuracy."""
    whole = outputs(5, 3000, 4, 1.2)
    right, expected = whole.predictions == whole.labels, confidences(whole.logits, 1.0)
    late, held = LateLabels("late", "row", np.array([]), np.array([]), np.array([])), {True: 0, False: 0}
    for seed in range(60):
        draw = np.random.default_rng(seed)
        rows, labelled = draw.choice(3000, 300, replace=False), np.flatnonzero(draw.random(300) < 0.8)
        images = ImagesAtHand(rows.astype(str), whole.predictions[rows], expected[rows])
        known = {int(place): (bool(right[rows[place]]), 0.8) for place in labelled}
        for sampled in held:
            low, high = period_labels(images, late, known, 0, 300, sampled).interval
            held[sampled] += low <= right.mean() <= high
    assert held[True] >= 54 and held[False] <= 45


def test_a_draw_of_fixed_size_is_told_by_its_count_too():
    """Probabilities that are all alike and do not fit the number of labels are each image's own: a Poisson draw."""
    images = ImagesAtHand(np.arange(600).astype(str), TARGET.predictions, confidences(TARGET.logits, 1.0))
    stream, late = labels.closed_set_stream(images.expected), LateLabels("late", "id", *[np.array([])] * 3)
    rows = drawn(60, 3)
    for q, fixed in ((0.1, True), (0.2, False)):
        said = period_labels(images, late, {row: (bool(RIGHT[row]), q) for row in rows.tolist()}, 0, 600)
        plan = labels.plan_from_draw(stream, rows, None if fixed else np.full(600, q), of="overall_accuracy")
        expected = labels.estimate(plan, labels.right_answers(RIGHT[rows])).of("overall_accuracy")
        assert (said.accuracy, said.interval) == (expected.value, expected.interval(like_these=False))


def test_labels_of_other_draws_or_images_are_others():
    ids, names = np.array(["a", "b"]), np.array(["ant", "bee"])
    plain = LateLabels("one.csv", "id", ids, names, None)
    others = (LateLabels("one.csv", "id", ids, names, np.array([q, 0.5])) for q in (0.5, 0.4))
    assert len({plain.content, *(other.content for other in others), plain.take(np.array([0])).content}) == 4
