"""The page is whole, from records alone: all sections, no way out, names as text, below its size."""

import re
from html.parser import HTMLParser

import pytest

from openworld import OpenworldError
from openworld.evaluations.recognition.page import build
from openworld.runs import RunStore

LIMIT = 1_500_000


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
def text(small_run):
    return build(small_run).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text):
    return Reader(text)


def test_sections_in_the_order_of_a_readers_questions(text):
    found = re.findall(r'<section[^>]*aria-labelledby="([^"]*)"', text)
    assert found == [
        "verdict",
        "numbers",
        "points-lost",
        "miss-hit",
        "trade-off",
        "parameters",
        "fit-time",
        "score-time",
        "ratio",
        "pictures",
        "made",
    ]


def test_headings_never_skip_a_level(page):
    assert page.levels[0] == 1 and page.levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(page.levels, page.levels[1:], strict=False))


def test_nothing_leaves_the_page(page, text):
    addresses = [
        value for _, told in page.tags for name, value in told.items() if name in ("href", "src", "srcset", "action")
    ]
    assert addresses and all(address.startswith(("data:", "#")) for address in addresses)
    assert not re.search(r"https?://|@import|url\((?!#)", text)
    policy = next(told["content"] for told in page.all("meta") if "http-equiv" in told)
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy


def test_names_are_text_and_never_markup(text, page):
    assert "<script>alert" not in text and "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert len(page.all("script")) == 1


def test_every_figure_is_described_and_its_data_can_be_had(page, text):
    drawings = [told for told in page.all("svg") if told.get("role") == "img"]
    assert len(drawings) == 8 and all(told["aria-label"] for told in drawings)  # the ratio sweep has two panels
    names = {told["download"] for told in page.all("a") if "download" in told}
    figures = {"points-lost", "miss-hit", "trade-off", "parameters", "fit-time", "score-time", "ratio"}
    assert names == {"openworld.csv", *(f"{name}.csv" for name in figures)}
    assert all(caption.count("<p>") == 2 for caption in re.findall(r"<figcaption>.*?</figcaption>", text, re.S))


def test_ids_are_one_of_a_kind(page):
    ids = [told["id"] for _, told in page.tags if "id" in told]
    assert len(ids) == len(set(ids))


def test_same_records_give_the_same_bytes(small_run, tmp_path, text):
    again = build(small_run, output=tmp_path / "again.html")
    assert again.read_text(encoding="utf-8") == text and [*tmp_path.iterdir()] == [again]


def test_many_learners_on_many_tasks_stay_below_the_limit(many_run):
    text = build(many_run).read_text(encoding="utf-8")
    assert len(text.encode()) < LIMIT
    assert text.count("<h3>two</h3>") == 3 and 'id="overview"' in text  # bars, curves and dots by task


def test_a_run_without_new_images_is_told_and_not_guessed(make_run):
    folder = make_run(seeds=(1,), names=[f"thing {n}" for n in range(8)], per_class=3, sides=("base",))
    text = build(folder).read_text(encoding="utf-8")
    assert "No OpenworldAUC is defined" in text and "points-lost" not in text and ">nan" not in text


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(OpenworldError, match="run"):
        build(tmp_path)


def test_a_run_of_something_else_is_refused(tmp_path):
    RunStore(tmp_path).create({}, {}, {})
    with pytest.raises(OpenworldError, match="no recognition record"):
        build(tmp_path)
