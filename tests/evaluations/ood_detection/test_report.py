"""What a run of OOD detection says: its tables, its verdict, its figures and page, and two runs side by side."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from openworld import OpenworldError
from openworld.cli.app import app
from openworld.evaluations.ood_detection import cell_contents, figures, maps, tables
from openworld.evaluations.ood_detection.drawn_metrics import FURTHER
from openworld.evaluations.ood_detection.facts import ShiftFacts
from openworld.evaluations.ood_detection.record import DetectionRecord
from openworld.evaluations.ood_detection.results import DetectionResults, is_blind
from openworld.evaluations.stories import compare_runs, read_story
from openworld.report.render import as_tex, markdown_table
from openworld.report.run_comparison import comparison_report
from openworld.report.series_style import series_styles
from openworld.results import RunFolder
from openworld.testing import check_story


@pytest.fixture(scope="module")
def results(shifts):
    return DetectionResults.read(shifts.run_folder)


def row_of(table, label="MCM"):
    """{heading: cell} of a row."""
    place = next(number for number, row in enumerate(table.rows) if row.label == label)
    return {column.heading: table.cell(place, at) for at, column in enumerate(table.columns)}


def test_a_run_is_told_in_every_form(shifts, one_detector):
    check_story(shifts)
    check_story(one_detector)
    assert [row.label for row in shifts.terminal_tables[0].rows] == ["MSP", "KNN", "<b>own</b>", "MSP", "MCM"]
    assert "model" not in row_of(one_detector.terminal_tables[0], "MSP")
    assert shifts.export("latex").count(r"\begin{tabular}") == 2 + 5 and "N/A" in shifts.export("markdown")


def test_names_of_detectors_and_models_are_text(make_run):
    names = ("crane [/bird]", "crane [bird]", "[red]")
    story = read_story(make_run(models={"[/model]": dict.fromkeys(names, (0.1, 0.0)), "[b]": {"MSP": (0.2, 0.0)}}))
    check_story(story)
    assert all(as_tex(name) in story.export("latex") for name in (*names, "[/model]", "[b]"))


def test_the_main_table_says_over_what(results):
    table = tables.main_table(results)
    assert "[95 % over seeds and images or over images]" in table.caption and "1 of 20" not in table.caption
    cells = row_of(table)
    place = {"model": "a CLIP", "id_classes": "kept", "cells": "all cells", "axis": "semantic"}
    near, far = (results.rows.value("MCM", "auroc", **place, level=level).value for level in (0, 4))
    assert cells["semantic near → far"].content == f"{100 * near:.1f} → {100 * far:.1f}"
    assert cells["semantic near → far"].sort == far
    assert {place[1] for place in table.bold} == {1}, "of the AUROCs the largest"


def test_every_metric_is_a_mean_over_cells(shifts, results):
    table = tables.metric_table(results)
    record = shifts.run_folder.metrics(DetectionRecord)[2]
    own = [cell.fpr_openood for row in record.detectors["MCM"].cells for cell in row if cell]
    assert row_of(table)["FPR@95, out positive"].content.value == pytest.approx(np.mean(own))
    column = [row.cells[2].content.value for row in table.rows]
    assert (column.index(min(column)), 2) in table.bold, "a false-positive rate is the better the smaller"


def test_kept_removed_and_labelling(shifts, results):
    record = shifts.run_folder.metrics(DetectionRecord)[2]
    areas, cells = record.labelling.detectors["MCM"], record.otherwise.detectors["MCM"].cells
    kept = row_of(tables.known_class_table(results))
    assert kept["whole pool: removed"].content.value == areas["unknown"].value
    own = [cell.auroc.value for row in cells for cell in row if cell]
    assert kept["mean of cells: removed"].content.value == pytest.approx(np.mean(own))
    size = record.labelling.subsets["far and unknown"]
    labelling = row_of(tables.labelling_table(results))
    assert labelling[f"far, other classes ({size:,})"].content.value == areas["far and unknown"].value


def test_trends_levels_and_models(shifts, results):
    trends = tables.trend_table(results, "aupr_in")
    place = {"model": "a CLIP", "id_classes": "kept", "cells": "common cells", "axis": "covariate"}
    expected = shifts.results.value("MCM", "aupr_in_correlation", **place)
    assert row_of(trends)["covariate, common cells: r"].content == expected
    assert "| 4 | 0.4000 | 94 | 4 | – | – | – |" in markdown_table(tables.level_table(results)), "4 covariate"
    assert [row.cells[1] for row in tables.model_table(results).rows] == ["0 1", "0"]


def test_the_verdict_answers_in_order(shifts):
    semantic, covariate, best, blind, evidence = shifts.page.verdict
    assert semantic.startswith("Semantic shift (meaning) raises the AUROC: of resnet-8 +3.4 points per level, from")
    assert "does not significantly move the AUROC one way" in covariate and "Read on the columns" in covariate
    assert "over all cells that are present it would be" in covariate and "mix of cells makes" in covariate
    assert best.startswith("MCM of a CLIP has the largest AUROC") and "of 18 cells" in best
    assert "every detector is blind" in blind and "most for MSP of resnet-8 (18)" in blind
    assert "18 of 20 cells" in evidence and "2 seeds of resnet-8 and 1 seed of a CLIP" in evidence
    assert shifts.text == (covariate, best, blind)


def test_one_detector_has_a_verdict_without_a_best(one_detector):
    semantic, _, blind, evidence = one_detector.page.verdict
    assert semantic.startswith("Semantic shift (meaning) raises the AUROC: +5.7 points per level, from")
    assert "(which is significant)" in semantic and blind.startswith("It is blind in 8 of 18 cells")
    assert "1 detector of resnet-8, 1 seed" in evidence and "flatters" not in evidence
    headings = [section.heading for section in one_detector.page.sections]
    assert "Model against model" not in headings and "With and without in-distribution classes" not in headings


def test_the_page_answers_under_questions(shifts):
    assert [section.heading for section in shifts.page.sections] == [
        "The numbers",
        "Does semantic shift raise the AUROC?",
        "Does covariate shift raise the AUROC?",
        "Where does a detector see it?",
        "Model against model",
        "What is in the cells?",
        "False alarms and precision",
        "With and without in-distribution classes",
        "How much is labelling?",
    ]
    page = shifts.html()
    assert "<b>own" not in page and "&lt;b&gt;own" in page and "a &lt;remark&gt;" in page


def test_a_map_per_detector_shows_every_cell(results):
    figure = maps.heat_maps(results)
    facts = results.facts
    assert [chart.title for chart in figure.charts] == [one.title for one in facts.detectors]
    assert len(figure.rows()) == 5 * 18
    for detector, chart in zip(facts.detectors, figure.charts, strict=True):
        for place, value in results.cells(detector).items():
            cell = chart.cells[place]
            assert (cell.row.get("auroc"), cell.dashed) == (value.value, is_blind(value))
            assert cell.shade is None if value.value is None else cell.shade == 2 * value.value - 1


def test_differences_are_of_detectors_that_both_have(results, one_detector):
    figure, facts = maps.cell_differences(results), results.facts
    assert [chart.title for chart in figure.charts] == ["MSP: a CLIP − resnet-8"] and len(figure.rows()) == 18
    first, last = (results.cells(one) for one in facts.detectors if one.label == "MSP")
    expected = [last[place].value - first[place].value for place in first if first[place].value is not None]
    assert [row["difference"] for row in figure.rows()] == pytest.approx(expected)
    assert maps.cell_differences(DetectionResults.read(one_detector.run_folder)) is None


def test_images_of_cells_are_those_that_a_record_keeps(results, write_run, shifts):
    (counts,), (images,) = (
        figure.charts for figure in (cell_contents.cell_counts(results.facts), cell_contents.cell_images(results.facts))
    )
    assert len(images.cells) == 19 and sum(row["images"] for row in counts.rows()) == results.facts.counts().sum()
    bare = ShiftFacts.read(RunFolder.read(write_run(shifts.run_folder.metrics(DetectionRecord))))
    assert cell_contents.cell_images(bare) is None


def test_cells_have_up_to_four_images_and_every_cell_its_first_before_any_its_second(shifts, write_run):
    png = next(iter(shifts.run_folder.records)).attachment("pictures/0-0/7.png")
    kept = {f"pictures/{row}-{column}/{number}.png": png for row in (0, 1) for column in (0, 1) for number in range(5)}
    del kept["pictures/1-1/3.png"], kept["pictures/1-1/4.png"]
    facts = ShiftFacts.read(RunFolder.read(write_run(shifts.run_folder.metrics(DetectionRecord), attachments=kept)))
    counts = {place: len(images) for place, images in cell_contents.example_images(facts, 10**6).items()}
    assert counts == {(0, 0): 4, (0, 1): 4, (1, 0): 4, (1, 1): 3}
    size = len(cell_contents.example_images(facts, 10**6)[0, 0][0].address)
    few = cell_contents.example_images(facts, 6 * size)
    assert sorted(map(len, few.values())) == [1, 1, 2, 2]
    (chart,) = cell_contents.cell_images(facts).charts
    assert chart.cells[1, 0].images[0].text == "covariate 1, semantic 0"
    assert chart.side and [len(chart.cells[0, column].images) for column in (0, 1)] == [4, 4]


@pytest.mark.parametrize(("axis", "levels"), [("semantic", 5), ("covariate", 4)])
def test_curves_have_a_chart_per_model_and_a_line_per_detector(results, axis, levels):
    everything, common = figures.level_figures(results, axis, series_styles(results.facts.labels))
    assert [chart.title for chart in common.charts] == ["resnet-8, common cells", "a CLIP, common cells"]
    assert [len(chart.lines) for chart in everything.charts] == [3, 2]
    assert len(everything.rows()) == 5 * levels
    assert everything.charts[0].y == common.charts[1].y, "one range for all"
    line = everything.charts[0].lines["MSP"]
    rows = results.rows.where(
        entity="MSP", metric="auroc", model="resnet-8", id_classes="kept", axis=axis, cells="all cells"
    )
    seeds = [row.per_seed for row in rows]
    assert list(line.low) == [min(values) for values in seeds] and list(line.high) == [max(values) for values in seeds]


def test_an_image_of_a_cell_says_what_it_shows(shifts, write_run):
    png = next(iter(shifts.run_folder.records)).attachment("pictures/0-0/7.png")
    records = [replace(record, pool=replace(record.pool, styles=("photo", "anime")))
               for record in shifts.run_folder.metrics(DetectionRecord)]  # fmt: skip
    size = records[0].pool.n
    names = np.array([f"class {place % 3}" for place in range(size)], dtype=object)
    images = {"id": np.arange(size), "label_name": names, "style": np.arange(size) % 2}
    kept = {"pictures/2-1/7.png": png, "pictures/2-1/12.png": png}
    folder = write_run(records, [{"images": images}] * len(records), attachments=kept)
    (shown,) = cell_contents.example_images(ShiftFacts.read(RunFolder.read(folder)), 10**6).values()
    assert [image.text for image in shown] == [
        "class 0, photo; covariate 2, semantic 1",
        "class 1, anime; covariate 2, semantic 1",
    ]


RECORDED = {"-fpr95": "fpr_openood", "-aupr": "aupr_in"}


@pytest.mark.parametrize("drawn", FURTHER, ids=lambda drawn: drawn.title)
def test_maps_of_other_metrics_are_means_over_the_seeds_of_what_records_hold(shifts, results, drawn):
    records = shifts.run_folder.metrics(DetectionRecord)
    rows = maps.heat_maps(results, drawn).rows()
    assert len(rows) == 5 * 18
    for row in rows:
        cells = [record.detectors[row["detector"]].cells[row["covariate_level"]][row["semantic_level"]]
                 for record in records if record.model == row["model"]]  # fmt: skip
        expected = np.mean([getattr(cell, RECORDED[drawn.suffix]) for cell in cells])
        assert row[drawn.metric.key] == pytest.approx(expected, abs=1e-12) and row["images"] == cells[0].n


@pytest.mark.parametrize("drawn", FURTHER, ids=lambda drawn: drawn.title)
@pytest.mark.parametrize("axis", ["semantic", "covariate"])
def test_curves_of_other_metrics_are_means_over_the_cells_of_a_level(shifts, results, drawn, axis):
    everything, common = figures.level_figures(results, axis, series_styles(results.facts.labels), drawn)
    assert everything.name == f"{axis}-all{drawn.suffix}" and drawn.title in everything.caption[0]
    records = [record for record in shifts.run_folder.metrics(DetectionRecord) if record.model == "resnet-8"]
    tables_of_seeds = [
        np.array([[getattr(cell, RECORDED[drawn.suffix]) if cell else np.nan for cell in row]
                  for row in record.detectors["KNN"].cells])
        for record in records
    ]  # fmt: skip
    across = 0 if axis == "semantic" else 1
    expected = np.mean([np.nanmean(table, axis=across) for table in tables_of_seeds], axis=0)
    line = everything.charts[0].series["KNN"]
    assert list(line.y) == pytest.approx(expected.tolist())
    full = [
        np.where(np.isfinite(table).all(axis=across, keepdims=True).any(), table, np.nan) for table in tables_of_seeds
    ]
    shared = np.isfinite(full[0]).all(axis=1 - across)
    only = [np.compress(shared, table, axis=across) for table in tables_of_seeds]
    expected = np.mean([np.nanmean(table, axis=across) for table in only], axis=0)
    assert list(common.charts[0].series["KNN"].y) == pytest.approx(expected.tolist())


def test_colours_of_other_metrics_start_at_chance():
    alarms, precision = FURTHER
    assert alarms.shade(0.0) == 1 and alarms.shade(0.95) == 0 > alarms.shade(1.0)
    assert precision.shade(0.25) == 0.25 and [text for _, text in alarms.key][-2:] == ["95: chance", "N/A"]


def crowd(record):
    """The record with ten detectors, all like its first."""
    names = [f"detector {place}" for place in range(10)]

    def renamed(part):
        return replace(part, detectors=dict.fromkeys(names, part.detectors["MSP"]), joint={})

    labelling = replace(renamed(record.labelling), joint={})
    many = replace(renamed(record), otherwise=renamed(record.otherwise), labelling=labelling)
    return replace(many, detector_settings=tuple({"label": name} for name in names))


@pytest.mark.slow
def test_a_crowd_fits_into_the_page(make_run, write_run):
    counts = [[max(0, 30 - 3 * abs(row - column)) for column in range(8)] for row in range(8)]
    one = read_story(make_run(models={"any": {"MSP": (0.2, 0.0)}}, seeds=(0,), counts=counts))
    (record,) = one.run.metrics(DetectionRecord)
    story = read_story(write_run([replace(crowd(record), model=f"model {place}") for place in range(4)]))
    results = DetectionResults.read(story.run_folder)
    areas, pairs = maps.heat_maps(results), maps.cell_differences(results)
    assert len(areas.charts) == 32 and "8 more maps are left out" in areas.caption[1]
    assert len(pairs.charts) == 12 and "18 more pairs are not shown" in pairs.caption[0]
    page = story.html()
    assert "cells-fpr95" not in story.figures and "of these 40 they are in results.parquet" in page
    assert len(maps.heat_maps(results, FURTHER[0]).charts) == 8, "the leading ones"
    assert len(page.encode()) < 1_300_000  # images may take 300,000
    assert "40 detectors of 4 models, 1 seed" in story.page.verdict[-1]


def said(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def test_two_runs_side_by_side(shifts, one_detector):
    folder = shifts.run_folder.folder
    assert "MCM, a CLIP, all images" in said("compare", folder, folder)
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
    assert [one.first.where["model"] for one in (whole, cells)] == ["old", "old"]
    assert comparison_report(found).tables["comparison"].table.rows[0].label == "MSP, old → new, all images"
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


def test_runs_of_two_evaluations_are_refused_by_both_names(shifts, write_run):
    other = write_run(shifts.run_folder.metrics(DetectionRecord), protocol="dynamic")
    with pytest.raises(OpenworldError, match="a run of ood-detection and .* one of dynamic"):
        compare_runs(shifts.run_folder.folder, other)
