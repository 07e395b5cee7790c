"""The drawings that come with the package: those that were built, by whom, and which concepts they show."""

import hashlib
import json
from collections import Counter

import pyarrow.parquet

from openworld.datasets.emoji import drawings


def test_the_drawings_are_the_ones_that_were_built_and_credited():
    build = json.loads((drawings.FOLDER / "build.json").read_text())
    table = pyarrow.parquet.read_table(drawings.FOLDER / "pictures.parquet")
    assert hashlib.sha256(b"".join(table["png"].to_pylist())).hexdigest() == build["pictures_sha256"]
    assert Counter(table["style"].to_pylist()) == build["pictures"]
    notice = (drawings.FOLDER / "NOTICE.md").read_text()
    assert all(f"| {style} |" in notice for style in drawings.STYLES)
    for name in ("Apache-2.0", "MIT", "Unicode-3.0"):
        assert (drawings.FOLDER / "LICENSES" / f"{name}.txt").stat().st_size > 1000


def test_concepts_are_distinct_and_drawn_in_four_styles_or_more():
    concepts = drawings.concepts()
    assert len(concepts) == len({concept.id for concept in concepts}) == 1373
    assert len({concept.name.casefold() for concept in concepts}) == 1373
    assert {len(styles) >= 4 for styles in drawings.styles_of().values()} == {True}
    assert set(drawings.styles_of()) == {concept.id for concept in concepts}


def test_twins_and_withheld_concepts():
    """Twins point to a concept that is none; the withheld are a tenth, spread over the groups, and have no twin."""
    concepts = drawings.concepts()
    by_id = {concept.id: concept for concept in concepts}
    twins = [concept for concept in concepts if concept.twin_of]
    assert len(twins) == 150 and all(by_id[concept.twin_of].twin_of is None for concept in twins)
    withheld = [concept for concept in concepts if concept.withheld]
    assert 0.10 < len(withheld) / len(concepts) < 0.15
    assert {concept.group for concept in withheld} == {concept.group for concept in concepts}
    seen_under_another_name = {concept.twin_of for concept in twins}
    assert not any(concept.twin_of or concept.id in seen_under_another_name for concept in withheld)
