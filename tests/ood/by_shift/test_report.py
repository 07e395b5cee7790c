"""What a run of OOD detection says: its tables, its verdict, its figures and page, and two runs side by side."""

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.evaluations.finished_runs import compare_runs
from openworld.ood.by_shift import charts
from openworld.ood.by_shift.results import DetectionRun
from openworld.report.finished_runs import comparison_report
from openworld.results import RunFolder
from openworld.testing import check_report


def test_a_run_is_told_in_every_form(shifts, one_detector):
    check_report(one_detector)
    rows = [row.label for row in shifts.terminal_tables[0].rows]
    assert rows == ["MSP of resnet-8", "KNN of resnet-8", "<b>own</b> of resnet-8", "MSP of a CLIP", "MCM of a CLIP"]
    assert one_detector.terminal_tables[0].rows[0].label == "MSP"
    page = shifts.html()
    assert "N/A" in page and "AUROC in every cell: MCM of a CLIP" in shifts.export("markdown")
    otherwise = ['id="slopes-otherwise"', 'id="otherwise-by-level"']
    assert all(part in page for part in otherwise), "also without the images of in-distribution classes"


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
    run = DetectionRun.read(shifts.run_folder)
    blind = [[row.value.value is not None and row.value.over("images").low <= 0.5 for row in rows]
             for rows in run.areas_of_cells(shifts.results).values()]  # fmt: skip
    (sentence,) = [text for text in shifts.page.verdict if "every detector is blind" in text]
    assert sentence.startswith(f"In {np.all(blind, axis=0).sum()} of {run.present.sum()} cells")


def test_differences_are_of_detectors_that_both_models_have(shifts, one_detector):
    figure, areas = shifts.figures["differences"], {}
    for row in shifts.results.where(metric="auroc", id_classes="kept"):
        if "covariate_level" in row.where and row.value.value is not None:
            areas.setdefault(row.entity, []).append(row.value.value)
    (chart,) = figure.charts
    assert chart.title == "MSP: a CLIP \u2212 resnet-8" and "differences" not in one_detector.figures
    removed = [row.value.value for row in shifts.results.where(metric="auroc", id_classes="removed")
               if "covariate_level" in row.where and row.value.value is not None]  # fmt: skip
    without = [row["auroc"] for row in shifts.figures["cells-otherwise"].rows() if row.get("auroc") is not None]
    assert sorted(without) == pytest.approx(sorted(removed))
    expected = np.subtract(areas["MSP of a CLIP"], areas["MSP of resnet-8"])
    shown = [row["difference"] for row in figure.rows() if row.get("difference") is not None]
    assert shown == pytest.approx(expected)


def test_cells_have_up_to_four_images_and_every_cell_its_first_before_any_its_second(make_units, write_run):
    (facts, tables, kept), *others = make_units(models={"resnet-8": {"MSP": (0.1, 0.0)}}, seeds=(0,))
    png, kept = kept["images/0-0/7.png"], {name: file for name, file in kept.items() if not name.endswith(".png")}
    images = {f"images/{row}-{column}/{number}.png": png for row in (0, 1) for column in (0, 1) for number in range(5)}
    del images["images/1-1/3.png"], images["images/1-1/4.png"]
    size = len(tables["images"]["group"])
    shown = {"id": np.arange(size), "label_name": np.array([f"class {place % 3}" for place in range(size)], object)}
    tables |= {"images": tables["images"] | shown | {"style": np.arange(size) % 2}}
    facts |= {"styles": ["photo", "anime"]}
    run = DetectionRun.read(RunFolder.read(write_run([(facts, tables, kept | images), *others])))
    found = charts.example_images(run, 10**6)
    assert {place: len(images) for place, images in found.items()} == {(0, 0): 4, (0, 1): 4, (1, 0): 4, (1, 1): 3}
    assert [text for _, text in found[1, 0][:2]] == [
        "class 0, photo; covariate 1, semantic 0",
        "class 1, anime; covariate 1, semantic 0",
    ]
    few = charts.example_images(run, 6 * len(found[0, 0][0][0]))
    assert sorted(map(len, few.values())) == [1, 1, 2, 2]
    (chart,) = charts.cell_images(run).charts
    assert chart.side and {place: len(cell.images) for place, cell in chart.cells.items()} == {
        place: len(images) for place, images in found.items()
    }
    bare = DetectionRun.read(RunFolder.read(write_run([(facts, tables, kept), *others])))
    assert charts.cell_images(bare) is None


def test_models_of_other_names_are_paired_where_each_run_has_one(make_run):
    small = {"counts": [[20] * 3] * 2}
    first = make_run(models={"old": {"MSP": (0.2, 0.0), "KNN": (0.0, 0.0)}}, **small)
    second = make_run(models={"new": {"MSP": (0.6, 0.0)}}, **small)
    found = compare_runs(first, second)
    whole, cells, *slopes = found.pairs
    assert comparison_report(found).tables["comparison"].rows[0].label == "MSP"
    each = np.subtract(whole.second.per_seed, whole.first.per_seed)
    assert whole.comparison.difference == pytest.approx(each.mean())
    assert whole.comparison.interval.over == "seeds and images"
    assert cells.comparison.difference == pytest.approx(cells.second.value.value - cells.first.value.value)
    assert cells.comparison.p is None and len(slopes) == 2
    assert comparison_report(compare_runs(first, second, "aupr_in")).tables
    unpaired = compare_runs(second, make_run(models={"new": {"MSP": (0.6, 0.0)}}, seeds=(0, 1, 2), **small))
    pair = unpaired.pairs[0]
    assert pair.comparison.interval is None
    assert pair.comparison.difference == pytest.approx(pair.second.value.value - pair.first.value.value)


def test_other_images_and_other_detectors_are_refused(make_run, one_detector):
    folder = one_detector.run_folder.folder
    with pytest.raises(OpenworldError, match="judges other images, or other cells, than"):
        compare_runs(folder, make_run(pool="another", models={"a": {"MSP": (0, 0)}}, seeds=(0,)))
        compare_runs(folder, make_run(models={"a": {"MSP": (0, 0)}}, seeds=(0,), known=False, id_kept=False))
    with pytest.raises(OpenworldError, match="judges other images, or other cells, than"):
        compare_runs(folder, make_run(models={"a": {"MSP": (0, 0)}}, seeds=(0,), known=False, counts=[[20] * 3] * 2))
    with pytest.raises(OpenworldError, match="no detector of the same name"):
        compare_runs(folder, make_run(models={"old": {"MDS": (0, 0)}}, seeds=(0,)))
