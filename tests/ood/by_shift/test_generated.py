"""Real against generated images of one pool at equal degree: by brute force, on made-up scores and on a run."""

import numpy as np
import pytest

from openworld.evaluations.finished_runs import read_report
from openworld.metrics import auroc
from openworld.ood.by_shift.measurement import mean_area
from openworld.ood.by_shift.results import DetectionRun

LEAST, COLUMNS = 10, 5


def share_of_wins(high, low):
    """The share of pairs that are won, ties one half."""
    return np.mean([(one > other) + (one == other) / 2 for one in high for other in low])


@pytest.fixture(scope="module")
def mixed(make_run):
    """The run of `shifts` with every third image generated; one seed and two."""
    return read_report(make_run(generated=every_third))


@pytest.fixture(scope="module")
def facts(mixed):
    return DetectionRun.read(mixed.run_folder)


def every_third(place):
    return np.arange(place.size) % 3 == 0


def images_of(unit, facts):
    """Cells and kinds of the images of a unit, in the order of its table."""
    place = np.repeat(np.arange(facts.counts.size), facts.counts.ravel())
    return unit.stored.table("images"), place, every_third(place)


def test_the_area_is_the_mean_of_the_cells_that_have_enough_of_both(mixed, facts):
    for model, label in (("resnet-8", "KNN"), ("a CLIP", "MCM")):
        per_seed, by_level = [], {}
        for unit in facts.models[model]:
            (table, place, made), areas = images_of(unit, facts), []
            for cell in range(facts.counts.size):
                sides = [table[f"score {label}"][(place == cell) & (made == kind)] for kind in (0, 1)]
                if min(map(len, sides)) >= LEAST:
                    areas.append(share_of_wins(*sides))
                    by_level.setdefault(cell % COLUMNS, []).append(areas[-1])
            per_seed.append(np.mean(areas))
        place = {"id_classes": "kept", "cells": "cells with both"}
        whole, *levels = mixed.results.where(entity=f"{label} of {model}", metric="auroc_generated", **place)
        assert 0 < len(areas) < 18 and whole.per_seed == pytest.approx(per_seed)
        assert whole.value.value == pytest.approx(np.mean(per_seed)) and whole.value.over().low < whole.value.value
        assert {row.where["level"]: row.value.value for row in levels} == pytest.approx(
            {level: np.mean(areas) for level, areas in sorted(by_level.items())}
        )


def test_one_cell_has_the_interval_of_its_auroc():
    luck = np.random.default_rng(3)
    scores, made, groups = luck.normal(size=60), np.arange(60) % 2 == 0, np.arange(60) // 3
    expected = auroc(scores[~made], scores[made], in_groups=groups[~made], out_groups=groups[made])
    found = mean_area(scores, np.full(60, 7), made, groups, [7])
    assert found.value == expected.value and found.interval() == pytest.approx(expected.interval())


def test_cells_that_share_no_image_err_independently():
    luck = np.random.default_rng(4)
    scores, made, cell = luck.normal(size=160), np.arange(160) % 2 == 0, np.repeat([1, 2], (40, 120))
    errors = [auroc(scores[(cell == place) & ~made], scores[(cell == place) & made]).standard_error for place in (1, 2)]
    found = mean_area(scores, cell, made, np.arange(160), [1, 2])
    # Group counts of the whole scale the sums, not those of each cell: a difference of a few percent.
    assert found.standard_error == pytest.approx(np.hypot(*errors) / 2, rel=0.03)


def test_either_kind_is_held_against_test_images_in_the_cells_with_both(mixed, facts, shifts):
    (unit,) = facts.models["a CLIP"]
    table, place, made = images_of(unit, facts)
    test, scores = unit.stored.table("test")["score MCM"], table["score MCM"]
    sizes = np.minimum(*(np.bincount(place[kind], minlength=facts.counts.size) for kind in (made, ~made)))
    both = np.flatnonzero(sizes >= LEAST)
    for kind, images in enumerate(("real, in cells with both", "generated, in cells with both")):
        areas = [share_of_wins(test, scores[(place == cell) & (made == kind)]) for cell in both]
        value = mixed.results.value("MCM of a CLIP", "auroc", id_classes="kept", images=images).value
        assert value == pytest.approx(np.mean(areas))
    heading = "Are generated images themselves detectable?"
    shown = ([section.heading for section in story.page.sections] for story in (mixed, shifts))
    assert [heading in headings for headings in shown] == [True, False]
