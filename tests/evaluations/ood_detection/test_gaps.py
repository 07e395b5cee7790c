"""Differences of detectors are paired: as DeLong's test says, within a record and across models, runs and seeds."""

import numpy as np
import pytest

from openworld.evaluations.ood_detection.gaps import gap, lead, picture_spread
from openworld.evaluations.ood_detection.numbers import overall
from openworld.evaluations.ood_detection.run import Judged, ShiftRun
from openworld.evaluations.ood_detection.verdict import shift_verdict
from openworld.metrics import auroc, holm, paired_test

KNN = Judged("resnet-8", "KNN", shared=True)
CLIP = [Judged("a CLIP", name, shared=True) for name in ("MSP", "MCM")]


def area(record, detector):
    """AUROC straight from the scores of a record."""
    test, pool = record.table("test"), record.table("images")
    groups = {"in_groups": test["group"], "out_groups": pool["group"]}
    return auroc(test[f"score {detector}"], pool[f"score {detector}"], **groups)


def test_detectors_of_one_model_and_seed_are_held_together_by_their_record(shifts):
    found = gap(*((shifts, one) for one in CLIP))
    expected = paired_test(*(area(shifts.records[2], one.detector) for one in CLIP))
    assert found.value == pytest.approx(expected.difference) and found.over == "pictures"
    low, high = found.interval
    assert high - low == pytest.approx(np.diff(expected.interval())[0], rel=0.01)  # other degrees of freedom


def test_models_are_held_together_by_their_scores(shifts):
    found = picture_spread((shifts, KNN), (shifts, CLIP[1]))
    first, second, clip = (area(record, one) for record, one in zip(shifts.records, ("KNN", "KNN", "MCM"), strict=True))
    # Influences of the mean over the seeds, by hand; a group is a picture here.
    sides = [(first.influence.base + second.influence.base) / 2 - clip.influence.base]
    sides.append((first.influence.new + second.influence.new) / 2 - clip.influence.new)
    variance = sum(np.square(one).sum() / one.size / (one.size - 1) for one in sides)
    assert found.standard_error == pytest.approx(np.sqrt(variance))


def test_a_single_seed_is_held_against_every_other_seed(shifts):
    found = gap((shifts, CLIP[1]), (shifts, KNN))
    assert found.value == pytest.approx(overall(shifts, CLIP[1]).value - overall(shifts, KNN).value)
    narrow = picture_spread((shifts, CLIP[1]), (shifts, KNN)).standard_error
    assert found.over == "seeds and pictures" and found.interval[1] - found.value > 1.96 * narrow


def test_without_scores_models_have_no_error_over_pictures(shifts):
    run = ShiftRun(shifts.told, (), shifts.given, shifts.resolved)
    assert gap((run, CLIP[1]), (run, KNN)).over == "seeds"
    assert gap((run, CLIP[1]), (run, CLIP[0])) == gap((shifts, CLIP[1]), (shifts, CLIP[0]))


def test_the_lead_counts_all_comparisons(shifts):
    found = lead(shifts)
    others = [one for one in shifts.judged if one != found.best]
    corrected = holm([gap((shifts, found.best), (shifts, one)).p_value for one in others])
    assert found.best == CLIP[1] and found.others == 4
    assert found.ahead.p_value == pytest.approx(dict(zip(others, corrected, strict=True))[found.second])
    sentence = next(one for one in shift_verdict(shifts) if "largest AUROC" in one)
    verb = "is shown" if found.shown else "is not shown"
    assert f" {found.best.title} {verb} to be above the next, {found.second.title}: " in sentence
    assert "corrected for 4 comparisons" in sentence


def test_one_detector_leads_nobody(one_detector):
    assert lead(one_detector) is None
