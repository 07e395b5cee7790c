"""The section of the page on class names, and the file that it is made from."""

import pytest

from openworld.core.errors import OpenworldError
from openworld.datasets.names.audit import Audit, Finding
from openworld.evaluations.finished_runs import read_report
from openworld.report.class_names import FILE, read_audits, tell_audits

SLIP = Finding("synonym", "note", ("cat", "cab"), "'cat' and 'cab' are one thing.")
TWICE = Finding("same tokens", "error", ("<b>", "b"), "'<b>' and 'b' are the same tokens.")
PETS = Audit("pets", 37, (TWICE, *[SLIP] * 8), ("synonyms: WordNet 3.0 was not found",))
CARS = Audit("cars", 196, (), ("synonyms: WordNet 3.0 was not found",))


def test_what_is_written_is_read_again_and_stands_on_the_page(make_run):
    learners = {"zero-shot": (0.5, 0.5, 1.0, 0)}
    run_folder = make_run(learners=learners, seeds=(1,), per_class=4, names=["cat", "dog", "hen", "cow"])
    assert read_audits(run_folder) == () and "Class names" not in read_report(run_folder).html()
    tell_audits([PETS, CARS], run_folder, print)
    assert read_audits(run_folder) == (PETS, CARS)
    page = read_report(run_folder).html()
    assert page.index("&lt;b&gt;&#39; and &#39;b&#39; are the same tokens.") < page.index("<summary>3 more</summary>")
    assert page.count("<b>note</b>") == 8 and "Not checked: synonyms" in page


@pytest.mark.parametrize("text", ["", "[]", '{"audits": [{"dataset": "pets"}]}', '{"audits": [1]}', "[" * 100_000])
def test_a_damaged_file_is_named(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(OpenworldError, match=r"audit\.json is damaged"):
        read_audits(tmp_path)
