"""The page, the tables and the exports: whole, escaped, without what a run has not."""

import csv
import io
import json

import pytest

from openworld import OpenworldError
from openworld.evaluations.recognition_by_shift.exports import export_open_world_shifts
from openworld.evaluations.recognition_by_shift.numbers import Levels
from openworld.evaluations.recognition_by_shift.page import build_open_world_shifts
from openworld.evaluations.recognition_by_shift.run import load_open_world_shifts, styles
from openworld.evaluations.recognition_by_shift.terminal import terminal_open_world_shifts
from openworld.report.records import protocol_of
from openworld.report.series_style import looks
from openworld.runs import RunStore


def test_the_page_says_it_all(write_open_world_shifts):
    folder = write_open_world_shifts()
    assert protocol_of(folder) == "open-world-by-shift"
    page = build_open_world_shifts(folder).read_text(encoding="utf-8")
    for heading in ("How far off in meaning?", "When all pictures change their looks", "Cell by cell"):
        assert heading in page
    assert "<b>good" not in page and "&lt;b&gt;good" in page
    assert "How accurate, without labels?" in page and "cell-none" in page
    assert build_open_world_shifts(folder).read_text(encoding="utf-8") == page


def test_the_learner_that_tunes_nothing_is_grey(open_world_shifts):
    yardstick, drawn = open_world_shifts.yardstick, styles(open_world_shifts)
    assert drawn[yardstick] == looks([yardstick], [yardstick])[yardstick]
    assert all(drawn[name].light != drawn[yardstick].light for name in drawn if name != yardstick)


def test_a_page_without_estimates(write_open_world_shifts):
    page = build_open_world_shifts(write_open_world_shifts(estimators=())).read_text(encoding="utf-8")
    assert "How accurate, without labels?" not in page and "Cell by cell" in page


def test_the_csv_holds_every_level(open_world_shifts):
    rows = list(csv.DictReader(io.StringIO(export_open_world_shifts(open_world_shifts, "csv"))))
    assert len(rows) == 3 * 3 * 3 * 4
    one = next(row for row in rows if row["base"] == "near" and row["part"] == "openworld_auc")
    assert float(one["low"]) < float(one["value"]) < float(one["high"]) and one["base_images"] == "80"


def test_cells_and_estimates(open_world_shifts):
    cells = list(csv.DictReader(io.StringIO(export_open_world_shifts(open_world_shifts, "cells"))))
    assert len([row for row in cells if row["base"] == "near"]) == 3 * 8
    said = list(csv.DictReader(io.StringIO(export_open_world_shifts(open_world_shifts, "estimates"))))
    assert len(said) == 3 * 2 * 8 * 2 and {row["estimator"] for row in said} == {"AC", "FRAP"}
    told = json.loads(export_open_world_shifts(open_world_shifts, "json"))
    assert set(told) == {"levels", "cells", "estimates"} and len(told["cells"]) == len(cells)


def test_markdown_marks_what_is_shown(open_world_shifts):
    text = export_open_world_shifts(open_world_shifts, "markdown")
    assert "▲" in text and "**OpenworldAUC by meaning" in text and "Change per level" in text


def test_an_unknown_form_is_refused(open_world_shifts):
    with pytest.raises(OpenworldError, match="markdown"):
        export_open_world_shifts(open_world_shifts, "markdwn")


def test_terminal_tables_begin_with_a_capital(open_world_shifts):
    drawn = dict(terminal_open_world_shifts(Levels(open_world_shifts)))
    assert len(drawn) == 5
    for heading, table in drawn.items():
        assert str(table.caption)[0].isupper() and not str(table.caption).startswith(heading)


def test_a_folder_of_something_else_is_refused(tmp_path):
    RunStore(tmp_path).create({}, {"protocol": "recognition"}, {})
    RunStore(tmp_path).plan([])
    with pytest.raises(OpenworldError, match="no record of open-world quality"):
        load_open_world_shifts(tmp_path)
