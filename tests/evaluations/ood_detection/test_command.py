"""`openworld report`, `compare` and the end of `openworld run`, of runs of incremental shift."""

import csv
import io
import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

from openworld import OpenworldError
from openworld.cli._telling import say_run
from openworld.cli.app import app
from openworld.evaluations.ood_detection.numbers import means, overall
from openworld.evaluations.ood_detection.pairing import compare_shifts


def said(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_page(shifts_folder, tmp_path):
    assert said("report", shifts_folder, "--output", tmp_path / "page.html").startswith("Report: ")
    assert "How far off, and is it seen?" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_tables(shifts_folder):
    text = said("report", shifts_folder, "--table", "text")
    assert "Semantic shift (meaning) raises the AUROC" in text and "This rests on" not in text
    assert said("report", shifts_folder, "--table", "csv").startswith("model,detector,")
    assert len(list(csv.reader(io.StringIO(said("report", shifts_folder, "--table", "cells"))))) == 101
    assert said("report", shifts_folder, "--table", "markdown").startswith("**AUROC of every detector**")


def test_after_a_run(shifts_folder, capsys):
    say_run("incremental-shift", shifts_folder, Console(width=160), as_json=False)
    text = capsys.readouterr().out
    assert "raises the AUROC" in text and "report.html" in text
    say_run("incremental-shift", shifts_folder, Console(width=160), as_json=True)
    assert json.loads(capsys.readouterr().out)["id_kept"] is True


def test_two_runs_side_by_side(shifts_folder):
    text = said("compare", shifts_folder, shifts_folder)
    assert "MCM of a CLIP" in text and "p < .05 after Holm over all pairs" in " ".join(text.split())
    told = json.loads(said("compare", shifts_folder, shifts_folder, "--json"))["pairs"]
    assert {pair["difference"]["value"] for pair in told} == {0.0} and len(told) == 5


def test_models_of_other_names_are_paired_where_each_run_has_one(shifts_of):
    first = shifts_of(models={"old": {"MSP": (0.2, 0.0), "KNN": (0.0, 0.0)}})
    second = shifts_of(models={"new": {"MSP": (0.6, 0.0)}})
    (pair,) = compare_shifts(_named(first), _named(second), ("a", "b"))
    assert pair.title == "MSP of old → new"
    each = [two - one for one, two in zip(*([told["labelling"]["detectors"]["MSP"]["all"]["value"] for told in run.told]
                                            for run in (first, second)), strict=True)]  # fmt: skip
    assert pair.difference.value == pytest.approx(sum(each) / 2)
    assert pair.difference.over == "seeds and pictures"
    assert pair.first == overall(first, first.judged[0])
    apart = means(second.cells, second.judged[0]) - means(first.cells, first.judged[0])
    assert pair.cells == pytest.approx(apart[first.cells.present].mean())


def test_other_seeds_leave_no_interval(shifts_of):
    first, second = shifts_of(seeds=(0, 1)), shifts_of(seeds=(0, 1, 2))
    pair = compare_shifts(_named(first), _named(second), ("a", "b"))[0]
    assert pair.difference.interval is None and pair.difference.value is not None


def test_other_pictures_and_other_detectors_are_refused(shifts_of, shifts):
    with pytest.raises(OpenworldError, match="b judges other pictures, or other cells, than a"):
        compare_shifts(_named(shifts), _named(shifts, pool="another"), ("a", "b"))
    with pytest.raises(OpenworldError, match="no detector of the same name"):
        compare_shifts(_named(shifts), _named(shifts_of(models={"old": {"MDS": (0, 0)}})), ("a", "b"))


def _named(run, pool="the same"):
    """The run with records that tell their inputs."""
    from dataclasses import replace
    from types import SimpleNamespace

    unit = SimpleNamespace(inputs={"pool": pool})
    records = (SimpleNamespace(**vars(one) | {"unit": unit}) for one in run.records)
    return replace(run, records=tuple(records))


def test_two_runs_are_compared_in_auroc_alone(shifts_folder):
    assert "difference" in said("compare", shifts_folder, shifts_folder, "--of", "auroc")
    refused = CliRunner().invoke(app, ["compare", str(shifts_folder), str(shifts_folder), "--of", "fpr"])
    assert refused.exit_code == 2 and "auroc alone" in refused.output and "'fpr'" in refused.output
