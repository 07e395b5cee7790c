"""What a run of OOD detection says: its tables, its verdict, its figures and page, and two runs side by side."""

import json
import re

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.evaluations.finished_runs import compare_runs, read_report
from openworld.ood.by_shift import charts
from openworld.ood.by_shift.results import DetectionRun
from openworld.report.render import as_tex
from openworld.report.run_comparison import comparison_report
from openworld.results import RunFolder
from openworld.testing import check_report


def test_a_run_is_told_in_every_form(shifts, one_detector):
    check_report(shifts)
    check_report(one_detector)
    rows = [row.label for row in shifts.terminal_tables[0].rows]
    assert rows == ["MSP of resnet-8", "KNN of resnet-8", "<b>own</b> of resnet-8", "MSP of a CLIP", "MCM of a CLIP"]
    assert one_detector.terminal_tables[0].rows[0].label == "MSP"
    assert "N/A" in shifts.html() and "AUROC in every cell: MCM of a CLIP" in shifts.export("markdown")


def test_names_of_detectors_and_models_are_text(make_run):
    names = ("crane [/bird]", "crane [bird]", "[red]")
    story = read_report(make_run(models={"[/model]": dict.fromkeys(names, (0.1, 0.0)), "[b]": {"MSP": (0.2, 0.0)}}))
    check_report(story)
    titles = (*(f"{name} of [/model]" for name in names), "MSP of [b]")
    assert all(as_tex(title) in story.export("latex") for title in titles)


def test_sentences_on_shift_agree_with_slopes_and_tests(shifts, one_detector):
    for story in (shifts, one_detector):
        for axis in ("semantic", "covariate"):
            tests = [test for test in story.results.comparisons if test.where.get("axis") == axis]
            up, down = (sum(test.differs and sign * test.difference > 0 for test in tests) for sign in (1, -1))
            (sentence,) = [text for text in story.page.verdict if text.startswith(f"{axis.capitalize()} shift")]
            mean = 100 * np.mean([test.difference for test in tests])
            assert f"{mean:+.1f} points per level".replace("-", "\u2212") in sentence
            raised, lowered = (f"{verb} the AUROC of" in sentence for verb in ("raises", "lowers"))
            assert (raised, lowered) == (up > 0, down > 0)
            assert not raised or f"raises the AUROC of {up} " in sentence
            assert not lowered or f"lowers the AUROC of {down} " in sentence
            place = {"id_classes": "kept", "axis": axis, "cells": "all cells"}
            whole = [story.results.value(test.entity, "auroc_slope", **place).value for test in tests]
            apart = [abs(one - test.difference) for one, test in zip(whole, tests, strict=True)]
            assert ("mix of cells makes" in sentence) == (max(apart) >= 0.01)


def test_cells_in_which_every_detector_is_blind_are_counted(shifts):
    blind: dict[tuple, list[bool]] = {}
    for row in shifts.results.where(metric="auroc", id_classes="kept"):
        if "covariate_level" in row.where and row.value.value is not None:
            place = row.where["covariate_level"], row.where["semantic_level"]
            blind.setdefault(place, []).append(row.value.over("images").low <= 0.5)
    (sentence,) = [text for text in shifts.page.verdict if "every detector is blind" in text]
    assert sentence.startswith(f"In {sum(map(all, blind.values()))} of {len(blind)} cells")


def test_maps_are_blue_above_chance_and_dashed_where_it_may_be_chance(shifts):
    charts = {chart.title: chart for chart in shifts.figures["cells"].charts}
    for row in shifts.results.where(metric="auroc", id_classes="kept"):
        if "covariate_level" in row.where:
            cell = charts[row.entity].cells[row.where["covariate_level"], row.where["semantic_level"]]
            if row.value.value is None:
                assert cell.shade is None and cell.text == "N/A"
            else:
                assert cell.shade == pytest.approx(2 * row.value.value - 1)
                over = row.value.over("images")
                assert cell.dashed == (over.low <= 0.5 <= over.high)


def test_differences_are_of_detectors_that_both_models_have(shifts, one_detector):
    figure, areas = shifts.figures["differences"], {}
    for row in shifts.results.where(metric="auroc", id_classes="kept"):
        if "covariate_level" in row.where and row.value.value is not None:
            areas.setdefault(row.entity, []).append(row.value.value)
    (chart,) = figure.charts
    assert chart.title == "MSP: a CLIP \u2212 resnet-8" and "differences" not in one_detector.figures
    expected = np.subtract(areas["MSP of a CLIP"], areas["MSP of resnet-8"])
    shown = [row["difference"] for row in figure.rows() if row.get("difference") is not None]
    assert shown == pytest.approx(expected)


def test_images_of_cells_are_those_that_a_record_keeps(make_units, write_run, shifts):
    (images,) = charts.cell_images(DetectionRun.read(shifts.run_folder)).charts
    assert len(images.cells) == 19
    bare = DetectionRun.read(RunFolder.read(write_run(with_images(make_units(), {}))))
    assert charts.cell_images(bare) is None


def with_images(units, images):
    """The units, the first with these images of cells alone."""
    facts, tables, attachments = units[0]
    rows = {name: content for name, content in attachments.items() if not name.endswith(".png")}
    return [(facts, tables, rows | images), *units[1:]]


def test_cells_have_up_to_four_images_and_every_cell_its_first_before_any_its_second(make_units, write_run):
    units = make_units()
    png = units[0][2]["pictures/0-0/7.png"]
    kept = {f"pictures/{row}-{column}/{number}.png": png for row in (0, 1) for column in (0, 1) for number in range(5)}
    del kept["pictures/1-1/3.png"], kept["pictures/1-1/4.png"]
    facts = DetectionRun.read(RunFolder.read(write_run(with_images(units, kept))))
    counts = {place: len(images) for place, images in charts.example_images(facts, 10**6).items()}
    assert counts == {(0, 0): 4, (0, 1): 4, (1, 0): 4, (1, 1): 3}
    size = len(charts.example_images(facts, 10**6)[0, 0][0].address)
    few = charts.example_images(facts, 6 * size)
    assert sorted(map(len, few.values())) == [1, 1, 2, 2]
    (chart,) = charts.cell_images(facts).charts
    assert chart.cells[1, 0].images[0].text == "covariate 1, semantic 0"
    assert chart.side and [len(chart.cells[0, column].images) for column in (0, 1)] == [4, 4]


def test_an_image_of_a_cell_says_what_it_shows(make_units, write_run):
    units = make_units()
    png = units[0][2]["pictures/0-0/7.png"]
    units = with_images(units, {"pictures/2-1/7.png": png, "pictures/2-1/12.png": png})
    size = len(units[0][1]["images"]["group"])
    names = np.array([f"class {place % 3}" for place in range(size)], dtype=object)
    images = {"id": np.arange(size), "label_name": names, "style": np.arange(size) % 2}
    units = [(facts | {"styles": ["photo", "anime"]}, tables | {"images": tables["images"] | images}, kept)
             for facts, tables, kept in units]  # fmt: skip
    folder = write_run(units)
    (shown,) = charts.example_images(DetectionRun.read(RunFolder.read(folder)), 10**6).values()
    assert [image.text for image in shown] == [
        "class 0, photo; covariate 2, semantic 1",
        "class 1, anime; covariate 2, semantic 1",
    ]


@pytest.mark.slow
def test_a_crowd_fits_into_the_page(make_run):
    counts = [[max(0, 30 - 3 * abs(row - column)) for column in range(8)] for row in range(8)]
    detectors = {f"detector {place}": (0.2, 0.0) for place in range(10)}
    story = read_report(make_run(models={f"model {place}": detectors for place in range(4)}, seeds=(0,), counts=counts))
    page = story.html()
    assert len(story.figures["cells"].charts) == 36 and "The first 36 of 40 charts" in page
    assert len(page.encode()) < 3_000_000


def said(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def test_two_runs_side_by_side(shifts, one_detector):
    folder = shifts.run_folder.folder
    assert "MCM of a CLIP" in said("compare", folder, folder)
    content = json.loads(said("compare", folder, folder, "--json"))
    whole = [test for test in content["comparisons"] if test["metric"] == "auroc"]
    assert content["of"] == "auroc" and {test["difference"] for test in whole} == {0.0}
    assert {test["metric"] for test in content["comparisons"]} == {"auroc", "auroc_slope"}
    folder = one_detector.run_folder.folder
    assert json.loads(said("compare", folder, folder, "--json", "--of", "aupr_in"))["of"] == "aupr_in"
    refused = CliRunner().invoke(app, ["compare", str(folder), str(folder), "--of", "fpr"])
    assert refused.exit_code == 2 and "'fpr'" in refused.output and "auroc" in refused.output


def test_models_of_other_names_are_paired_where_each_run_has_one(make_run):
    first = make_run(models={"old": {"MSP": (0.2, 0.0), "KNN": (0.0, 0.0)}})
    second = make_run(models={"new": {"MSP": (0.6, 0.0)}})
    found = compare_runs(first, second)
    whole, cells, *slopes = found.pairs
    assert comparison_report(found).tables["comparison"].table.rows[0].label == "MSP"
    each = np.subtract(whole.second.per_seed, whole.first.per_seed)
    assert whole.comparison.difference == pytest.approx(each.mean())
    assert whole.comparison.interval.over == "seeds and images"
    assert cells.comparison.difference == pytest.approx(cells.second.value.value - cells.first.value.value)
    assert cells.comparison.p is None and len(slopes) == 2


def test_other_seeds_leave_no_interval(make_run):
    pair = compare_runs(make_run(seeds=(0, 1)), make_run(seeds=(0, 1, 2))).pairs[0]
    assert pair.comparison.interval is None and pair.comparison.difference is not None


def test_other_images_and_other_detectors_are_refused(make_run, shifts):
    with pytest.raises(OpenworldError, match="judges other images, or other cells, than"):
        compare_runs(shifts.run_folder.folder, make_run(pool="another"))
    with pytest.raises(OpenworldError, match="no detector of the same name"):
        compare_runs(shifts.run_folder.folder, make_run(models={"old": {"MDS": (0, 0)}}))


def test_names_of_parts_are_told_apart(shifts):
    assert len(set(re.findall(r' id="([^"]+)"', shifts.html()))) == len(re.findall(r' id="([^"]+)"', shifts.html()))


def test_runs_of_two_evaluations_are_refused_by_both_names(shifts, make_units, write_run):
    other = write_run(make_units(), protocol="dynamic")
    with pytest.raises(OpenworldError, match="a run of ood-detection and .* one of dynamic"):
        compare_runs(shifts.run_folder.folder, other)
