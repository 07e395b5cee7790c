import hashlib
import json
from collections import Counter

import numpy as np
import pyarrow.parquet
import pytest

from openworld.datasets.emoji import drawings


@pytest.fixture(scope="module")
def build():
    return json.loads((drawings.FOLDER / "build.json").read_text())


def test_the_pictures_are_the_ones_that_were_built(build):
    table = pyarrow.parquet.read_table(drawings.FOLDER / "pictures.parquet")
    assert hashlib.sha256(b"".join(table["png"].to_pylist())).hexdigest() == build["pictures_sha256"]
    assert Counter(table["style"].to_pylist()) == build["pictures"]


def test_concepts_are_distinct_and_drawn_in_four_styles_or_more(build):
    concepts = drawings.concepts()
    assert len(concepts) == build["concepts"]
    assert len({concept.id for concept in concepts}) == len({concept.name.casefold() for concept in concepts}) == 1373
    assert {len(styles) >= 4 for styles in drawings.styles_of().values()} == {True}
    assert set(drawings.styles_of()) == {concept.id for concept in concepts}


def test_twins_point_to_a_concept_that_is_no_twin_itself():
    by_id = {concept.id: concept for concept in drawings.concepts()}
    twins = [concept for concept in by_id.values() if concept.twin_of]
    assert len(twins) == 150
    assert all(by_id[concept.twin_of].twin_of is None for concept in twins)


def test_withheld_concepts_are_a_tenth_spread_over_the_groups_and_have_no_twin():
    concepts = drawings.concepts()
    withheld = [concept for concept in concepts if concept.withheld]
    assert 0.10 < len(withheld) / len(concepts) < 0.15
    assert {concept.group for concept in withheld} == {concept.group for concept in concepts}
    seen_under_another_name = {concept.twin_of for concept in concepts}
    assert not any(concept.twin_of or concept.id in seen_under_another_name for concept in withheld)


@pytest.mark.parametrize("style", drawings.STYLES)
def test_drawings_are_rgba_and_show_something(style):
    for concept in drawings.concepts()[::100]:
        if style in drawings.styles_of()[concept.id]:
            picture = drawings.drawing(drawings.numbers()[style, concept.id])
            alpha = np.asarray(picture)[..., 3]
            assert picture.size == (64, 64)
            assert picture.mode == "RGBA"
            assert alpha.max() > 200
            assert (alpha == 0).any()  # what is see-through is so to the last bit


@pytest.mark.parametrize("style", ["fluent-emoji-high-contrast", "emojione-monotone"])
def test_the_far_styles_are_black_ink_alone(style):
    for concept in drawings.concepts()[5::150]:
        if style in drawings.styles_of()[concept.id]:
            pixels = np.asarray(drawings.drawing(drawings.numbers()[style, concept.id]))
            assert pixels[pixels[..., 3] > 128][:, :3].max() < 60


def test_every_style_is_credited():
    notice = (drawings.FOLDER / "NOTICE.md").read_text()
    assert all(f"| {style} |" in notice for style in drawings.STYLES)
    for name in ("Apache-2.0", "MIT", "Unicode-3.0"):
        assert (drawings.FOLDER / "LICENSES" / f"{name}.txt").stat().st_size > 1000
