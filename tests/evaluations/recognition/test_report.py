"""What a run of recognition says: its tables in every form, and its page from records alone."""

import io
import re
from html.parser import HTMLParser

import pytest
from rich.console import Console

from openworld import OpenworldError
from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.recognition.report import report
from openworld.evaluations.recognition_metrics import LOSSES
from openworld.report.provenance import command
from openworld.results import RunFolder
from openworld.runs import RunStore
from openworld.testing import check_report


class Reader(HTMLParser):
    """Collects tags with their attributes, and headings in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.levels = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def small(small_run):
    return read_report(small_run)


@pytest.fixture(scope="module")
def text(small):
    return small.html()


@pytest.fixture(scope="module")
def page(text):
    return Reader(text)


def shown(one, width=160):
    out = Console(width=width, file=io.StringIO(), color_system=None)
    one.show(out)
    return out.file.getvalue()


def test_a_run_is_told_in_every_form(small):
    check_report(small)


def test_many_learners_on_many_tasks_are_told_in_every_form(many_run):
    many = read_report(many_run)
    check_report(many)
    assert [table.name for table in many.terminal_tables][:3] == ["settings", "numbers", "numbers-2"]


def test_names_that_look_like_markup_are_text_in_every_form(make_run):
    learners = {"[red]CoOp[/red]": (1, 0, 1, 512), "a_b & 50% | <b>": (1, 0.5, 1, 0)}
    one = read_report(make_run(learners=learners, names=["crane [/bird]", "b", "c", "d"], seeds=(1,), per_class=3))
    check_report(one)
    assert "[red]CoOp[/red]" in shown(one)
    assert r"a\_b \& 50\% \textbar{} \textless{}b\textgreater{}" in one.export("latex")
    assert r"a\_b & 50% \| \<b\>" in one.export("markdown")


def test_the_terminal_shows_the_numbers_and_what_comes_of_them(small, small_results):
    printed = shown(small).replace("\xa0", " ")
    (one,) = small_results.settings
    assert "GMoP has the highest OpenworldAUC" in printed and "images of one drawing count together (24)" in printed
    interval = one.value("GMoP", "openworld_auc").over("images")
    assert f"[{100 * interval.low:.1f} {100 * interval.high:.1f}]" in printed
    missing = 1 - one.auc("GMoP")
    worst = max(one.value("GMoP", loss).value for loss in LOSSES)
    assert f"Of the {100 * missing:.1f} points that GMoP misses" in printed and f"({100 * worst:.1f})" in printed
    narrow = shown(small, 80)
    assert "for want of room: " in " ".join(narrow.split()) and max(map(len, narrow.splitlines())) <= 80


def test_another_form_is_refused_with_the_nearest(small):
    with pytest.raises(OpenworldError, match="did you mean 'latex'"):
        small.export("latx")


def test_nothing_leaves_the_page_and_names_are_never_markup(page, text):
    assert not re.search(r"https?://|@import|url\((?!#)", text)
    policy = next(told["content"] for told in page.all("meta") if "http-equiv" in told)
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    assert "<script>alert" not in text and "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert len(page.all("script")) == 1


def test_every_figure_is_described_and_its_data_can_be_had(page):
    assert all(told["aria-label"] for told in page.all("svg") if told.get("role") == "img")
    names = {told["download"] for told in page.all("a") if "download" in told}
    assert {f"{name}.csv" for name in ("points-lost", "miss-hit", "trade-off", "costs", "ratio", "numbers")} <= names


def test_ids_are_one_of_a_kind(page):
    ids = [told["id"] for _, told in page.tags if "id" in told]
    assert len(ids) == len(set(ids))


def test_how_it_was_made(small):
    facts = dict(small.page.facts)
    assert facts["seeds"] == "1 2" and facts["records"] == "8"
    assert facts["zero-shot"] == "fit 0 s, score 0.4 s in all"
    assert command({"command": ["openworld", "run", "a b.toml"]}) == "openworld run 'a b.toml'" and command({}) == ""


def test_a_run_without_new_images_is_described_and_not_guessed(make_run):
    folder = make_run(seeds=(1,), names=[f"thing {n}" for n in range(8)], per_class=3, sides=("base",))
    one = read_report(folder)
    check_report(one)
    assert "o learner has OpenworldAUC: there is no new sample" in one.page.verdict[0] and ">nan" not in one.html()


def test_what_is_no_run_of_recognition_is_refused(tmp_path):
    with pytest.raises(OpenworldError, match="run"):
        read_report(tmp_path)
    RunStore(tmp_path).create({}, {}, {})
    with pytest.raises(OpenworldError, match="no record"):
        read_report(tmp_path)
    with pytest.raises(OpenworldError, match="no recognition record"):
        report(RunFolder(tmp_path, "recognition", ()))
