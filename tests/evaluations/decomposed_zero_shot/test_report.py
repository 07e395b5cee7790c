"""What a run of decomposed zero-shot accuracy shows of few classes, and two runs side by side."""

import pytest

from openworld import OpenworldError
from openworld.evaluations.finished_runs import compare_runs, read_report
from openworld.testing import check_report


def test_too_few_classes_have_no_top_5_and_say_why(make_run, one_unit):
    told = read_report(make_run([one_unit("PCA", 0, 0.4, ("clean",), few=True)]))
    check_report(told)
    value = told.results.value("PCA", "top5", part="semantic half", images="clean")
    assert value.value is None and "five classes" in value.reason


def test_two_runs_are_tested_over_the_seeds_that_both_have(make_run, one_unit):
    def run(name, shares):
        records = [one_unit("LAID", seed, share, ("clean",)) for seed, share in enumerate(shares)]
        return make_run(records, name, data={"clean": "ab"})

    first, second = run("first", (0.50, 0.52, 0.54)), run("second", (0.60, 0.625, 0.64))
    found = compare_runs(first, second)
    by_part = {pair.first.where["part"]: pair.comparison for pair in found.pairs}
    assert by_part["semantic half"].better and by_part["semantic half"].difference == pytest.approx(0.305 / 3)
    assert by_part["whole feature"].p is None and "no seeds" in by_part["whole feature"].reason
    assert compare_runs(first, second, "top5").metric.key == "top5"
    with pytest.raises(OpenworldError, match="did you mean 'top5'"):
        compare_runs(first, second, "topp5")


def test_runs_on_other_images_or_of_other_methods_are_not_compared(make_run, one_unit):
    runs = [
        make_run([one_unit(method, 0, 0.5, (row,))], name, data={"clean": data})
        for name, method, row, data in (
            ("a", "LAID", "clean", "ab"),
            ("b", "LAID", "clean", "cd"),
            ("c", "PCA", "foggy", "ab"),
        )
    ]
    with pytest.raises(OpenworldError, match="other images .*'clean'"):
        compare_runs(*runs[:2])
    with pytest.raises(OpenworldError, match="no top1 of the same thing"):
        compare_runs(runs[0], runs[2])
