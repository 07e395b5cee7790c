"""The terminal's table and the exports."""

import csv
import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from openworld import OpenworldError
from openworld.evaluations.recognition.exports import export
from openworld.evaluations.recognition.outcome import load
from openworld.evaluations.recognition.summary import summarise
from openworld.evaluations.recognition.terminal import losses_line, terminal_table


def printed(table):
    console = Console(width=160, file=io.StringIO(), color_system=None)
    console.print(terminal_table(table))
    return console.file.getvalue()


def test_the_terminal_shows_one_line_per_learner_and_says_over_what(small_summary):
    text = printed(small_summary.tables[0])
    assert text.splitlines()[0].split() == ["learner", "tuned", "OpenworldAUC", "HM", "AUROC", "base", "new", "fit"]
    assert [line.split()[0] for line in text.splitlines()[1:5]] == ["zero-shot", "CoOp", "KgCoOp", "GMoP"]
    assert "clustered by drawing (n = 24), given the seeds" in text and "Holm over 6 pairs" in text
    row = small_summary.tables[0].rows[3]
    assert f"{100 * row.openworld_auc:.1f} [{100 * row.over_images[0]:.1f} {100 * row.over_images[1]:.1f}]" in text


def test_a_long_table_names_the_yardstick_once(many_run):
    table = summarise(load(many_run).outcomes).tables[0]
    text = printed(table)
    assert "against zero-shot" in text.splitlines()[0] and text.count("zero-shot") <= 3
    assert len(text.splitlines()) <= len(table.rows) + 3


def test_markup_in_a_name_stays_text(summary_of):
    summary = summary_of(
        learners={"[red]CoOp[/red]": (1, 0, 1, 512)}, names=["a", "b", "c", "d"], seeds=(1,), per_class=3
    )
    assert "[red]CoOp[/red]" in printed(summary.tables[0])


def test_the_losses_add_up_to_what_is_missing(small_summary):
    line = losses_line(small_summary.tables[0].best)
    missing, *parts = [float(word) for word in line.replace("·", " ").split() if word.replace(".", "").isdigit()]
    assert sum(parts) == pytest.approx(missing, abs=0.16)


def test_csv_has_every_number_as_an_unrounded_fraction(small_summary):
    rows = list(csv.DictReader(io.StringIO(export(small_summary, "csv"))))
    row = small_summary.tables[0].rows[3]
    assert [one["learner"] for one in rows] == ["zero-shot", "CoOp", "KgCoOp", "GMoP"]
    assert float(rows[3]["openworld_auc"]) == row.openworld_auc
    assert float(rows[3]["hm_of_means"]) == row.harmonic_mean_of_means
    assert float(rows[3]["fit_seconds"]) == row.fit_seconds and rows[3]["score_seconds"]
    assert rows[0]["seeds_low"] == ""  # zero-shot does not vary with the seed: no interval is made up


def test_json_keeps_fractions_and_tests(small_summary):
    told = json.loads(export(small_summary, "json"))["tables"][0]
    assert told["learners"][3]["openworld_auc"] == small_summary.tables[0].rows[3].openworld_auc
    assert len(told["tests"]) == 6 and told["counts"]["groups"] == 24


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_printed_tables_say_what_was_tuned_and_for_how_long(small_summary, form):
    text = export(small_summary, form)
    assert all(word in text for word in ("Parameters", "Seconds to fit", "6656"))


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_signs_of_the_form_are_escaped_in_names(summary_of, form):
    name = "a_b & 50% | <b>"
    text = export(summary_of(learners={name: (1, 0, 1, 512)}, names=list("abcd"), seeds=(1,), per_class=3), form)
    assert {"markdown": r"a\_b & 50% \| \<b\>", "latex": r"a\_b \& 50\% \textbar{} \textless{}b\textgreater{}"}[
        form
    ] in text


def test_another_form_is_refused_with_the_nearest(small_summary):
    with pytest.raises(OpenworldError, match="did you mean 'latex'"):
        export(small_summary, "latx")


@pytest.mark.parametrize("name", ["", None])
def test_groups_without_a_name_are_said_to_cluster(small_run, name):
    outcomes = load(small_run).outcomes
    unnamed = [replace(one, metrics={**one.metrics, "group_name": name}) for one in outcomes]
    (table,) = summarise(unnamed).tables
    assert "clustered by group (n = 24)" in printed(table)
