"""Methods that differ in one part of FRAP alone are found by their settings, whatever their labels."""

from openworld.label_free.benchmark.arrays import Method
from openworld.label_free.benchmark.results import reference_uses, threshold_pairs


def test_pairs_with_and_without_threshold(arrays):
    assert threshold_pairs(arrays.methods) == (("FRAP", "FRAP, no threshold"),)
    written_out = Method("a", "RAP", "CLIP", {"rule": "midpoint", "calibrate": True})
    bare = Method("b", "RAP", "CLIP", {"rule": None})
    assert threshold_pairs((written_out, bare)) == (("a", "b"),)
    assert threshold_pairs((written_out, Method("b", "RAP", "SigLIP", {"rule": None}))) == ()


def test_uses_of_a_reference(arrays):
    assert reference_uses(arrays.methods) == {
        "CLIP": {
            "TTC": "FRAP",
            "τ = 0.01": "FRAP, τ = 0.01",
            "answers taken for labels": "CLIP's answers",
            "raw (RAP)": "RAP",
        },
        "dirichlet": {"TTC": "FRAP, random"},
    }
