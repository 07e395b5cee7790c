"""docs/detectors.md names every detector, what it costs, and profiles that exist."""

import re

from openworld import detectors
from openworld.detectors import DETECTORS, PROFILES


def test_every_detector_has_its_place(repository):
    page = (repository / "docs" / "detectors.md").read_text(encoding="utf-8")
    table = page[page.index("## What each looks at") : page.index("## What each costs")]
    firsts = [name for row in re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE) for name in row.split(", ")]
    assert sorted(firsts) == sorted([*DETECTORS, "detector"])
    assert all(name in page[page.index("## Sources") :] for name in DETECTORS)


def test_every_detector_has_its_cost(repository):
    page = (repository / "docs" / "detectors.md").read_text(encoding="utf-8")
    table = page[page.index("## What each costs") : page.index("## Names of what")]
    names = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    assert sorted(names) == sorted([*(name for name in DETECTORS if name != "own score"), "detector"])


def test_profiles_that_are_named_exist(repository):
    page = (repository / "docs" / "detectors.md").read_text(encoding="utf-8")
    assert set(re.findall(r'profile\("([^"]+)"\)', page)) <= set(PROFILES)
    assert all(f'"{name}"' in page for name in PROFILES)


def test_every_function_that_it_calls_is_there(repository):
    page = (repository / "docs" / "detectors.md").read_text(encoding="utf-8")
    code = "\n".join(line for line in page.splitlines() if line.startswith("    "))
    called = set(re.findall(r"(?<![.\w])(\w+)\(", code))
    assert called - {"or", "word_list"} <= set(detectors.__all__), (
        "docs/detectors.md calls what openworld.detectors does not have"
    )
    assert {"load_fitted", "save_together", "load_together", "gather", "linear_probe", "plan", "watch"} <= called
