"""What is said of a measured shift: the answer first, then groups, then what to do."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from openworld.applications.shift.shift_measurement import KINDS, SURE
from openworld.applications.shift.verdict import headline, shift_sentences

sys.path.append(str(Path(__file__).parent))
from example_measurement import FOUND, axes  # noqa: E402


def test_the_first_sentence_is_the_answer():
    assert headline(FOUND) == (
        "Partly far in meaning and near in appearance: of 50 images, 50.0 % in meaning and 4.0 % in appearance are "
        "farther from the reference than 95 % of its own are from one another (about 5 % would be usual)."
    )


@pytest.mark.parametrize(
    ("beyond", "word"), [(0.51, "Mostly far"), (0.5, "Partly far"), (0.1, "Partly far"), (0.09, "Near")]
)
def test_shares_in_words(beyond, word):
    assert headline(axes(semantic={"beyond": beyond})).startswith(f"{word} in meaning and near in appearance")


def test_a_half_that_is_not_sure_is_said_to_be_so_in_the_answer():
    unsure = axes(covariate={"right": SURE - 0.01, "beyond": 0.9})
    assert "mostly far in appearance (as far as appearance can be told here)" in headline(unsure)
    told = " ".join(shift_sentences(unsure))
    assert "Judge appearance by eye" in told and "openworld estimate" not in told
    assert "as far as" not in headline(axes(covariate={"right": SURE}))


def test_one_picture_has_degrees_and_no_shares():
    one = replace(
        axes(semantic={"beyond": 1.0, "median": 0.7}, covariate={"beyond": 0.0}), tests=(replace(FOUND.tests[0], n=1),)
    )
    assert headline(one) == (
        "Far in meaning and near in appearance: the image lies 0.700 in meaning and 0.080 in appearance from the "
        "reference, of whose own 95 % stay below 0.250 and 0.300."
    )
    assert not any("typical" in sentence for sentence in shift_sentences(one))


def test_which_groups_are_far():
    told = shift_sentences(FOUND)
    assert "2 of 3 concepts are mostly far in meaning: owl (0.600) and <script>alert(1)</script> (0.300)." in told
    assert "None of the 2 styles is mostly far in appearance; grey comes nearest, with 30.0 % of its images." in told
    alike = [
        replace(FOUND, looks=tuple(replace(own, covariate_beyond=far) for own in FOUND.looks)) for far in (0.3, 0.0)
    ]
    assert "come nearest, each with 30.0 % of its images." in " ".join(shift_sentences(alike[0]))
    assert "None of the 2 styles has an image that is far in appearance." in shift_sentences(alike[1])
    one = shift_sentences(replace(FOUND, concepts=FOUND.concepts[2:], looks=()))
    assert "The only concept, cat, is not mostly far in meaning." in one
    many = tuple(replace(FOUND.concepts[0], name=f"owl {place}") for place in range(5))
    first = "5 of 5 concepts are mostly far in meaning: first of all owl 0 (0.600), owl 1 (0.600) and owl 2 (0.600)."
    assert first in shift_sentences(replace(FOUND, concepts=many))


@pytest.mark.parametrize(
    ("meaning", "looks", "said"),
    [(0.5, 0.0, "let a detector flag it"), (0.0, 0.5, "openworld estimate"), (0.0, 0.0, "look elsewhere")],
)
def test_what_to_do_next(meaning, looks, said):
    sentences = shift_sentences(axes(semantic={"beyond": meaning}, covariate={"beyond": looks}))
    assert said in sentences[-2] and sentences[-1].startswith("A degree is the cosine distance to the 10th nearest")


def test_pictures_are_counted_by_where_they_are_far():
    told = "Far in both: 1 images; in meaning alone: 24; in appearance alone: 1; in neither: 24."
    assert told in " ".join(shift_sentences(FOUND))
    assert sum(FOUND.far.values()) == FOUND.n == 50 and tuple(FOUND.far) == KINDS


def test_as_json_without_the_pictures():
    told = json.loads(json.dumps(FOUND.to_dict()))
    assert told["present"] == [[True, False, False, True], [False] * 4, [False] * 4]
    assert told["far"] == FOUND.far and "address" not in told["examples"][0]
    assert told["axes"]["semantic"]["cuts"] == [0.2, 0.3, 0.4] and told["axes"]["semantic"]["right"] is None
