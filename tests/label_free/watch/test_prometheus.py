"""Prometheus text, read back by its own parser."""

import json

import pytest
from watched_days import day_columns

from openworld.label_free.watch import command
from openworld.label_free.watch.exports import FIELDS
from openworld.tables.files import scores_of
from openworld.testing._reports import _shows_every_number_once

pytestmark = pytest.mark.base


def test_the_numbers_are_read_back_by_the_collector_s_own_parser(fitted, tmp_path):
    parser = pytest.importorskip("prometheus_client.parser")
    files = {"state": tmp_path / 'a "name"', "prometheus": tmp_path / "watch.prom"}
    view = command.watch(fitted, [scores_of(day_columns(0), "new")], **files, close=True).found
    families = {
        family.name: family for family in parser.text_string_to_metric_families(files["prometheus"].read_text())
    }
    quote, alarm = view.new[0].quote, view.new[0].alarm
    wanted = {"accuracy_ratio": quote.accuracy, "accuracy_low_ratio": quote.low, "accuracy_high_ratio": quote.high}
    wanted |= {"accuracy_known": 1, "alarm_ratio": alarm.statistic, "period_images": 150, "images": 150, "periods": 1}
    shift, signs = view.new[0].shift_alarm, view.new[0].signs
    wanted |= {"shift_alarm_ratio": shift.statistic, "shift_alarm": 0, "shift_score": shift.score}
    wanted |= {"class_shift_ratio": signs["named classes"].distance}
    wanted |= {"confidence_shift_ratio": signs["confidences"].distance}
    for name, value in wanted.items():
        (sample,) = families[f"openworld_watch_{name}"].samples
        assert sample.value == value and sample.labels == {"watch": 'a "name"'}
    assert families["openworld_watch_images"].type == "counter"
    assert families["openworld_watch_alarm_ratio"].documentation


def test_rows_lines_and_collected_numbers_are_the_same_and_stand_once_on_the_page(fitted, tmp_path):
    files = {"state": tmp_path / "state", "json_lines": tmp_path / "lines", "prometheus": tmp_path / "watch.prom"}
    days = [scores_of(day_columns(day, strength=grip), f"day {day}") for day, grip in enumerate((2.0, 2.0, 0.2))]
    report = command.watch(fitted, days, **files, close=True)
    _shows_every_number_once(report)
    last, text = {**report.results.rows[-1].where}, files["prometheus"].read_text()
    lines = [json.loads(line) for line in files["json_lines"].read_text().splitlines()]
    assert "openworld_watch_accuracy_ratio" not in text and "accuracy_low_ratio{" in text
    assert 'accuracy_known{watch="state"} 0' in text and 'shift_alarm{watch="state"} 1' in text
    for field in FIELDS:
        value = report.results.value(field.entity, field.metric.key, **last).value
        assert lines[-1][field.name] == value
        assert (f"openworld_watch_{field.collected}{{" in text) is (value is not None)
    ends = report.results.value("quoted", "estimated_accuracy", **last).over()
    assert (lines[-1]["low"], lines[-1]["high"], lines[-1]["shift_alarm"]) == (ends.low, ends.high, True)
    assert json.loads(report.json)["state"]["last"] == str(day_columns(2)["time"][-1])
    first, why, alarms, *_ = report.verdict
    assert lines[-1]["accuracy"] is None and "2024-01-03 (150 images) cannot be estimated" in first and len(first) < 100
    assert f"between {100 * ends.low:.1f} % and {100 * ends.high:.1f} %" in first and lines[-1]["why"] in why
    assert "In 2024-01-03" in alarms and "shift alarm" in alarms
