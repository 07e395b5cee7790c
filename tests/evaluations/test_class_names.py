"""The section of the page on class names, and the file that it is made from."""

import pytest

from openworld.core.errors import OpenworldError
from openworld.datasets.names.findings import Audit, Finding, count_in_words
from openworld.evaluations.finished_runs import read_report
from openworld.report.class_names import FILE, keep_audits, names_sentences, read_audits

SLIP = Finding("misspelling", "note", ("cat", "cab"), "'cat' and 'cab' are one letter apart.")
TWICE = Finding("same tokens", "error", ("<b>", "b"), "'<b>' and 'b' are the same tokens.")
PETS = Audit("pets", 37, (TWICE, *[SLIP] * 8), ("synonyms: WordNet 3.0 was not found",))
CARS = Audit("cars", 196, (), ("synonyms: WordNet 3.0 was not found",))


def test_what_is_written_is_read_again(tmp_path):
    keep_audits([PETS, CARS], tmp_path)
    assert read_audits(tmp_path) == (PETS, CARS)


def test_a_run_without_an_audit_has_no_section(tmp_path):
    assert read_audits(tmp_path) == ()


@pytest.mark.parametrize("text", ["", "[]", '{"audits": [{"dataset": "pets"}]}', '{"audits": [1]}', "[" * 100_000])
def test_a_damaged_file_is_named(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(OpenworldError, match=r"audit\.json is damaged"):
        read_audits(tmp_path)


def test_clean_names_are_counted_in_a_sentence():
    assert names_sentences([PETS, CARS]) == [
        "Checked before the run began: 233 class names, 1 error, 8 notes.",
        "Nothing was found among the class names of cars (196).",
    ]


def test_counts_in_words():
    assert names_sentences([CARS])[0] == "Checked before the run began: 196 class names, nothing found."
    assert count_in_words([PETS, PETS], ("error", "warning")) == "2 errors"


def test_the_page_tells_names_as_text_never_as_markup(make_run):
    run_folder = make_run(
        learners={"zero-shot": (0.5, 0.5, 1.0, 0)}, seeds=(1,), per_class=4, names=["cat", "dog", "hen", "cow"]
    )
    assert "Class names" not in read_report(run_folder).html()
    keep_audits([PETS], run_folder)
    assert read_audits(run_folder) == (PETS,)
    page = read_report(run_folder).html()
    assert "&#39;&lt;b&gt;&#39; and &#39;b&#39; are the same tokens." in page
    assert page.index("are the same tokens") < page.index("<summary>3 more</summary>")
    assert page.count("<b>note</b>") == 8
    assert "Not checked: synonyms" in page
