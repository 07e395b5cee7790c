"""The page of incremental shift: answers in words, maps and curves that show what the records hold, no way out."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from openworld.evaluations.ood_detection.figures import cell_counts, cell_differences, heat_maps, level_curves
from openworld.evaluations.ood_detection.numbers import means
from openworld.evaluations.ood_detection.page import render_shifts
from openworld.evaluations.ood_detection.run import load_shifts
from openworld.evaluations.ood_detection.verdict import shift_verdict
from openworld.report.series_style import looks
from openworld.report.shift_axes import AXES


@pytest.fixture(scope="module")
def page(shifts_folder):
    return render_shifts(shifts_folder)


class Reader(HTMLParser):
    """Addresses, identifiers and levels of headings of a page, and whether its elements close in order."""

    VOID = {"meta", "img", "br", "hr", "input", "link"}

    def __init__(self, text):
        super().__init__()
        self.addresses, self.names, self.levels, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        told = dict(attributes)
        self.addresses += [told[name] for name in ("href", "src", "srcset", "action") if name in told]
        self.names += [told[name] for name in ("id",) if name in told]
        self.levels += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_leads_nowhere(page):
    found = Reader(page)
    assert not found.open and len(set(found.names)) == len(found.names)
    assert found.levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(found.levels, found.levels[1:], strict=False))
    assert found.addresses and all(address.startswith(("data:", "#")) for address in found.addresses)
    assert not re.search(r"https?://|@import|url\((?!#)", page)


def test_the_same_records_give_the_same_bytes_and_names_are_text(page, shifts_folder):
    assert page == render_shifts(shifts_folder) and len(page.encode()) < 1_500_000
    assert "<b>own" not in page and "&lt;b&gt;own" in page and "a &lt;remark&gt;" in page
    for heading in ("Does semantic shift raise", "Does covariate shift raise", "Where does a detector see it?",
                    "Model against model", "What is in the cells?", "False alarms and precision",
                    "With and without in-distribution classes", "How much is labelling?"):  # fmt: skip
        assert heading in page
    assert "Detectors: choose some" in page and "openworld run mine.toml" in page


def test_the_verdict_answers_in_order(shifts):
    semantic, covariate, best, blind, evidence = shift_verdict(shifts)
    assert semantic.startswith("Semantic shift (meaning) raises the AUROC: of resnet-8 +3.4 points per level, from")
    assert "is not shown to move the AUROC one way" in covariate
    assert "Beware: over all cells that are there it would be" in covariate and "the mix of cells makes" in covariate
    assert best.startswith("MCM of a CLIP has the largest AUROC") and "of 18 cells" in best
    assert "every detector is blind" in blind and "most for MSP of resnet-8 (18)" in blind
    assert "18 of 20 cells" in evidence and "2 seeds of resnet-8 and 1 seed of a CLIP" in evidence


def test_one_detector_has_a_verdict_without_a_best(one_detector, tmp_path):
    semantic, _, blind, evidence = shift_verdict(one_detector)
    assert semantic.startswith("Semantic shift (meaning) raises the AUROC: +5.7 points per level, from")
    assert "(which is clear)" in semantic and blind.startswith("It is blind in 8 of 18 cells")
    assert "1 detector of resnet-8, 1 seed" in evidence and "flatters" not in evidence
    page = render_shifts(tmp_path, one_detector)
    assert "Model against model" not in page and "With and without" not in page


def test_a_run_without_any_cell_says_so(shifts_of, tmp_path):
    run = shifts_of(counts=[[3] * 5] * 4)
    nothing, evidence = shift_verdict(run)
    assert nothing.startswith("No cell holds 10 pictures") and "in 0 of 20 cells" in evidence
    assert "0 of 20 cells" in render_shifts(tmp_path, run)


def test_a_map_per_detector_shows_every_cell(shifts):
    figure = heat_maps(shifts)
    assert [panel.title for panel in figure.panels] == [one.title for one in shifts.judged]
    for judged, panel in zip(shifts.judged, figure.panels, strict=True):
        table = means(shifts.cells, judged)
        shown = re.findall(r'class="cell-number mid">([\d.,]+)<', str(panel.svg))
        known = [f"{100 * value:.1f}" for value in table[shifts.cells.present]]
        assert sorted(shown) == sorted([*known, "1"])  # of two N/A cells one holds a picture, the other none
        assert panel.svg.count('class="cell-few"') == 1 == panel.svg.count('class="cell-none"')


def test_blind_cells_are_dashed_and_colours_have_one_scale(shifts):
    from openworld.evaluations.ood_detection.numbers import blind

    figure = heat_maps(shifts)
    for judged, panel in zip(shifts.judged, figure.panels, strict=True):
        assert panel.svg.count("cell-blind") == blind(shifts.cells, judged).sum()
        table = means(shifts.cells, judged)[shifts.cells.present]
        assert panel.svg.count('class="cell-below') == (table < 0.5).sum()
        shades = {f"{0.04 + 1.4 * abs(value - 0.5):.2f}" for value in table}
        assert set(re.findall(r'fill-opacity="([\d.]+)"', str(panel.svg))) == shades


def test_differences_are_of_detectors_that_both_have(shifts, one_detector):
    figure = cell_differences(shifts)
    assert [panel.title for panel in figure.panels] == ["MSP: a CLIP − resnet-8"] and len(figure.rows()) == 18
    first, last = (means(shifts.cells, one) for one in shifts.judged if one.detector == "MSP")
    assert [row["difference"] for row in figure.rows()] == pytest.approx((last - first)[shifts.cells.present].tolist())
    assert cell_differences(one_detector) is None


def test_pictures_of_cells_are_those_that_a_record_keeps(shifts_folder, shifts):
    assert len(cell_counts(shifts).panels) == 1
    figure = cell_counts(load_shifts(shifts_folder))
    assert len(figure.panels) == 2 and figure.panels[1].svg.count("<image") == 19
    assert sum(row["pictures"] for row in figure.rows()) == np.sum(shifts.told[0]["counts"])


@pytest.mark.parametrize("axis", AXES)
def test_curves_have_a_panel_per_model_and_a_line_per_detector(shifts, axis):
    everything, common = level_curves(shifts, axis, looks(shifts.detectors))
    assert [panel.title for panel in common.panels] == ["resnet-8, common cells", "a CLIP, common cells"]
    assert [panel.svg.count('class="line"') for panel in everything.panels] == [3, 2]
    assert [panel.svg.count('class="band"') for panel in everything.panels] == [3, 2]
    ticks = {tuple(re.findall(r'class="tick end">(\d+)<', str(one.svg))) for one in everything.panels + common.panels}
    assert len(ticks) == 1
    levels = 5 if axis == "semantic" else 4
    assert len(everything.rows()) == 5 * levels and everything.csv.count("\n") == 1 + 5 * levels


def crowd(told, models, detectors):
    """Metrics of as many records, all of the one detector that was told of."""
    names = [f"detector {place}" for place in range(detectors)]

    def renamed(part):
        kept = {name: told for name, told in part.items() if name != "joint"}
        return kept | {"detectors": dict.fromkeys(names, part["detectors"]["MSP"])}

    many = renamed(told) | {"otherwise": renamed(told["otherwise"]), "labelling": renamed(told["labelling"])}
    many["detector_settings"] = [{"label": name} for name in names]
    return [many | {"model": f"model {place}"} for place in range(models)]


def test_a_crowd_fits_into_the_page(shifts_of, tmp_path):
    counts = [[max(0, 30 - 3 * abs(row - column)) for column in range(8)] for row in range(8)]
    one = shifts_of(models={"any": {"MSP": (0.2, 0.0)}}, seeds=(0,), counts=counts)
    run = replace(one, told=tuple(crowd(one.told[0], 4, 10)))
    assert len(heat_maps(run).panels) == 32 and "8 more maps are left out" in heat_maps(run).caption[1]
    assert len(cell_differences(run).panels) == 12
    assert "18 more pairs are not shown" in cell_differences(run).caption[0]
    assert len(render_shifts(tmp_path, run).encode()) < 1_200_000  # pictures may take 300,000
    assert "40 detectors of 4 models, 1 seed" in shift_verdict(run)[-1]
