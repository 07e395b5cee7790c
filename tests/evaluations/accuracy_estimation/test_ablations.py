"""Methods that differ in one part of FRAP alone are found by their settings, whatever their labels."""

from openworld.evaluations.accuracy_estimation.ablations import reference_uses, threshold_pairs
from openworld.evaluations.accuracy_estimation.record import MethodRecord


def test_pairs_with_and_without_threshold(measured):
    assert threshold_pairs(measured.methods) == (("FRAP", "FRAP, no threshold"),)
    written_out = MethodRecord("a", "RAP", "CLIP", {"rule": "midpoint", "calibrate": True})
    bare = MethodRecord("b", "RAP", "CLIP", {"rule": None})
    assert threshold_pairs((written_out, bare)) == (("a", "b"),)
    assert threshold_pairs((written_out, MethodRecord("b", "RAP", "SigLIP", {"rule": None}))) == ()


def test_uses_of_a_reference(measured):
    assert reference_uses(measured.methods) == {
        "CLIP": {
            "TTC": "FRAP",
            "τ = 0.01": "FRAP, τ = 0.01",
            "answers taken for labels": "CLIP's answers",
            "raw (RAP)": "RAP",
        },
        "dirichlet": {"TTC": "FRAP, random"},
    }
