"""The bibliography: every method that is listed has entries, every entry is used and is BibTeX."""

import re

import pytest

from openworld.backbones import BACKBONES
from openworld.classifiers import ARCHITECTURES
from openworld.datasets import DATASETS
from openworld.datasets.corruptions import CORRUPTIONS
from openworld.detectors import DETECTORS
from openworld.estimators import ESTIMATORS
from openworld.estimators.open_world import OPEN_WORLD_ESTIMATORS
from openworld.evaluations import EVALUATIONS
from openworld.labels import DESIGNS
from openworld.learners import LEARNERS
from openworld.papers.bibliography import KEYS, bibtex, entries, methods, names_used
from openworld.shifts import DECOMPOSITIONS

LISTED = {
    "evaluations": EVALUATIONS,
    "learners": LEARNERS,
    "detectors": DETECTORS,
    "estimators": ESTIMATORS,
    "open_world_estimators": OPEN_WORLD_ESTIMATORS,
    "label_designs": DESIGNS,
    "decompositions": DECOMPOSITIONS,
    "corruptions": CORRUPTIONS,
    "classifiers": ARCHITECTURES,
    "backbones": BACKBONES,
    "datasets": DATASETS,
}
NEEDED = {"inproceedings": {"booktitle", "year"}, "article": {"journal", "year"}, "techreport": {"institution", "year"}}
KNOWN = {"type", "author", "title", "year", "booktitle", "journal", "volume", "number", "pages", "institution"}
KNOWN |= {"eprint", "doi", "howpublished", "note"}


def test_every_name_that_is_listed_has_entries_and_every_entry_is_used():
    for kind, listed in LISTED.items():
        assert set(methods()[kind]) == set(listed)
        assert all(methods()[kind].values())
    used = {key for names in methods().values() for keys in names.values() for key in keys}
    assert used == set(entries())
    assert set(methods()) == set(LISTED) and set(KEYS.values()) == set(LISTED) - {"evaluations"}


def test_an_entry_has_what_its_type_needs_in_ascii_and_authors_surname_first():
    for key, fields in entries().items():
        assert {"author", "title"} | NEEDED.get(fields["type"], set()) <= set(fields) <= KNOWN, key
        assert fields["type"] in {*NEEDED, "misc"}, key
        text = bibtex([key])
        assert text.isascii() and text.count("{") == text.count("}")
        assert re.fullmatch(r"@\w+\{" + key + r",\n(  \w+ = \{.+\},\n)+\}\n", text)
        assert re.fullmatch(r"\d{4}\.\d{4,5}", str(fields.get("eprint", "0000.0000"))), key
        assert re.fullmatch(r"\d+--\d+", str(fields.get("pages", "1--2"))), key
        for author in fields["author"].split(" and "):
            assert author == "others" or author.startswith("{") or re.fullmatch(r"[^,]+, [^,]+", author), author


@pytest.mark.parametrize("kind", ["learners", "detectors", "estimators", "open_world_estimators"])
def test_the_entry_is_of_the_paper_that_the_class_names(kind):
    """By surname and year, where the class names its paper so."""
    for name, method in LISTED[kind].items():
        found = re.match(r"([A-Z][\w-]+).*?, (\d{4})", method.paper)
        if not found or name == "CBPE":
            continue
        own = [entries()[key] for key in methods()[kind][name]]
        assert any(
            found[1] in entry["author"] and str(entry["year"]) == found[2] for entry in own if "year" in entry
        ), name


def test_a_spec_is_read_at_any_depth():
    spec = {
        "backbone": "",
        "models": [{"architecture": "convnet", "detectors": [{"detector": "MSP", "label": "CoOp"}]}],
    }
    assert list(names_used(spec)) == [("classifiers", "convnet"), ("detectors", "MSP")]
    both = {"corruptions": ["fog", "snow"], "pool": [{"corruption": None}, {"corruption": "frost"}]}
    assert [name for _, name in names_used(both)] == ["fog", "snow", "frost"]
