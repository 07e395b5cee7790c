"""Recipes: learning rates by hand, numbers out of range, and what the papers state."""

import math

import pytest

from openworld import OpenworldError
from openworld.classifiers import PUBLISHED, Recipe, published, published_architectures


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"decay": "none"}, [1, 1, 1]),
        ({"decay": "cosine"}, [1, (1 + math.cos(0.55 * math.pi)) / 2, (1 + math.cos(0.9 * math.pi)) / 2]),
        ({"decay": "epochs", "gamma": 0.5}, [1, 2**-5, 2**-9]),
        ({"decay": "steps", "milestones": (5, 9)}, [1, 0.1, 0.01]),
    ],
)
def test_rates_within_ten_epochs(settings, expected):
    recipe = Recipe(learning_rate=1, epochs=10, **settings)
    assert [recipe.rate(epoch) for epoch in (0, 5.5, 9)] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"side": 32, "resize": 30}, "resize is 30, expected 32"),
        ({"epochs": 5, "checkpoints": (3, 6)}, r"checkpoints are \(3, 6\), expected ascending epochs from 1 to 5"),
        ({"epochs": 5, "checkpoints": (3, 3)}, "checkpoints"),
        ({"epochs": 5, "milestones": (4, 2)}, "milestones"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(wrong, message):
    with pytest.raises(OpenworldError, match=message):
        Recipe(**wrong)


@pytest.mark.parametrize("dataset", PUBLISHED)
def test_published_recipes_judge_the_end_of_training_at_the_latest(dataset):
    assert published(dataset).kept[-1] == published(dataset).epochs
    large = all(name.startswith("timm:") for name in published_architectures(dataset))
    assert large == (published(dataset).side == 224)
