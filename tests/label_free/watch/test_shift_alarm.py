"""The shift alarm of a watch: without an alert, with embeddings, while it stands; confidences that say little."""

import json

import numpy as np
import pytest
from watched_days import day_columns, joined, source_columns

from openworld.core.errors import OpenworldError
from openworld.label_free.estimate.estimation import estimate_accuracy
from openworld.label_free.estimate.periods import SHIFTED
from openworld.label_free.estimate.reading import open_table
from openworld.label_free.settings import Settings
from openworld.label_free.watch import command
from openworld.label_free.watch.state import read_state, read_watch
from openworld.tables.files import scores_of

pytestmark = pytest.mark.base


def fit(folder, columns, **settings):
    path = folder / "w.safetensors"
    return path, command.fit_watch([scores_of(columns, "val")], path, **settings, images=[150])


def watch(path, folder, *days, **further):
    files = {
        "state": folder / "state",
        "json_lines": folder / "lines",
        "prometheus": folder / "w.prom",
        "out": folder / "out",
    }
    return command.watch(path, [scores_of(day, f"{place}.npz") for place, day in enumerate(days)], **files, **further)


def test_while_it_stands_periods_have_bounds_and_it_ends_soon_after_a_recovery(tmp_path):
    path, fitted = fit(tmp_path, source_columns(600), timestamps="time", period="1d", false_alarms=0.1)
    assert "10 % of years" in " ".join(fitted.text) and "No accuracy alarm" in " ".join(fitted.text)
    days = [day_columns(day, 150, 0.4 if 2 <= day < 4 else 2.0) for day in range(8)]
    first = watch(path, tmp_path, *days[:4])  # the last of these has not ended
    opened = first.found
    assert "150 images so far, which cannot be estimated" in " ".join(first.text)
    assert opened.open.shift_alarm is None and opened.open.quote.accuracy is None and opened.new[-1].shifted
    assert read_state(tmp_path / "state", read_watch(path)).records == opened.state.records
    report = watch(path, tmp_path, *days[4:], close=True)
    chunks = report.found.state.records
    standing = [chunk.shifted for chunk in chunks]
    assert not any(standing[:2]) and all(standing[2:4]) and not any(standing[7:])
    assert all(chunk.alarm is None for chunk in chunks) and chunks[2].shift_alarm.sign in chunks[2].quote.signs.adjusted
    after = [chunk for chunk, stands in zip(chunks[4:], standing[4:], strict=True) if stands]
    assert after and all(chunk.quote.why == SHIFTED or chunk.quote.rule == "bounds" for chunk in after)
    for chunk in after:
        assert chunk.quote.accuracy is None and chunk.quote.low < chunk.quote.tested < chunk.quote.high
    assert chunks[-1].quote.accuracy is not None
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
    assert [line["shift_alarm"] for line in lines] == standing and lines[0]["alarm"] is None
    assert lines[3]["shift_alarm_ratio"] == chunks[3].shift_alarm.statistic > 1
    assert report.found.shift_alerts == tuple(c.label for c in chunks[3:] if c.shifted) and not report.found.alerts
    assert "Shift alarm: the images are no longer like the source's" in " ".join(report.text)


def seen(columns, moved=0.0, seed=0):
    """The same with embeddings, which lie `moved` aside."""
    rng = np.random.default_rng(seed)
    return columns | {"embeddings": rng.normal(size=(len(columns["logits"]), 8)) + 1 + moved}


def test_embeddings_count_where_source_and_periods_have_them(tmp_path):
    path, _ = fit(tmp_path, seen(source_columns()), timestamps="time", period="1d")
    calm, moved = seen(day_columns(0), seed=1), seen(day_columns(1), 1.5, 2)
    whole = watch(path, tmp_path / "whole", joined(calm, moved), close=True).found.state
    assert [record.shifted for record in whole.records] == [False, True]
    assert whole.records[1].shift_alarm.sign == "embeddings" and whole.records[1].cause.likely.why
    everything = joined(calm, moved)
    cut = [{name: column[a:b] for name, column in everything.items()} for a, b in ((0, 200), (200, 300))]
    parts = [watch(path, tmp_path / "cut", part, close=place == 1) for place, part in enumerate(cut)][-1].found.state
    assert [record.signs for record in parts.records] == [record.signs for record in whole.records]
    assert [record.shift_alarm for record in parts.records] == [record.shift_alarm for record in whole.records]
    bare = watch(path, tmp_path / "bare", day_columns(0), day_columns(1), close=True).found.state
    assert bare.records[1].signs["embeddings"] is None and not bare.records[1].shifted
    other = calm | {"embeddings": np.ones((150, 5))}
    with pytest.raises(OpenworldError, match="5 numbers of features.*8"):
        watch(path, tmp_path / "other", other)


def blind(n, seed, reference=False):
    """A model that is as sure where it is wrong."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n)
    named = np.where(rng.random(n) < 0.6, labels, rng.integers(0, 4, n))
    columns = {"logits": (3 * np.eye(4)[named] + 0.3 * rng.normal(size=(n, 4))).astype(np.float32), "labels": labels}
    return columns | ({"reference": outputs_like(labels, rng)} if reference else {})


def outputs_like(labels, rng):
    return 0.2 + 0.05 * (2.5 * np.eye(4)[labels] + rng.normal(size=(len(labels), 4)))


def test_a_confidence_that_says_little_has_no_accuracy_alarm_and_the_shift_alarm_remains(tmp_path):
    with pytest.raises(OpenworldError, match="hardly surer.*Leave --alert out.*reference"):
        fit(tmp_path, blind(600, 0), alert=0.5)
    assert not (tmp_path / "w.safetensors").exists()
    tables = [open_table([scores_of(blind(600, seed), "s")]) for seed in (0, 1)]
    with pytest.raises(OpenworldError, match="Leave --alert out"):
        estimate_accuracy(*tables, Settings(alert=0.5))
    path, report = fit(tmp_path, blind(600, 0))
    assert "no accuracy alarm, and only labels give the accuracy" in " ".join(report.text)
    assert json.loads(report.to_json())["confidence_tells"] is False
    skewed = blind(900, 2)
    day = {"logits": skewed["logits"][skewed["logits"].argmax(axis=1) < 2][:150]}
    (record,) = watch(path, tmp_path, day).found.new
    assert record.shifted and record.quote.accuracy is None


def test_with_a_reference_the_accuracy_alarm_tests_what_that_shows(tmp_path):
    path, _ = fit(tmp_path, blind(600, 0, reference=True), alert=0.5)
    day = blind(150, 3, reference=True)
    (record,) = watch(path, tmp_path, {name: day[name] for name in ("logits", "reference")}).found.new
    assert record.alarm.counted == record.methods["two-views"]
    assert record.alarm.counted == pytest.approx(0.7, abs=0.12)
