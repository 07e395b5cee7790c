"""docs/classifiers.md is true to the code: its recipes, its networks, its examples."""

import re
from dataclasses import replace

import pytest
from made_up import NAMES, image_set
from torch import nn

from openworld import classifiers, datasets
from openworld.classifiers import ARCHITECTURES, EMBEDDED, PUBLISHED, build


@pytest.fixture(scope="module")
def page(repository):
    return (repository / "docs" / "classifiers.md").read_text(encoding="utf-8")


def rows(page, heading):
    """The cells of every row of the first table under a heading, by its first cell."""
    section = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in cells[1:]}


def told(training):
    """A published training as the page tells it."""
    recipe = training.recipe
    falls = {
        "steps": "x {:g} after {}".format(recipe.gamma, " and ".join(map(str, recipe.milestones))),
        "epochs": f"x {recipe.gamma:g} every epoch",
        "cosine": "cosine",
        "none": "never",
    }[recipe.decay]
    kept = recipe.kept
    judged = f"every {kept[0]}" if len(kept) > 3 else ", ".join(map(str, kept))
    networks = ", ".join(training.architectures) + (", pretrained" if recipe.pretrained else "")
    optimiser = {"sgd": "SGD", "adam": "Adam"}[recipe.optimiser]
    settings = f"{optimiser}, {recipe.learning_rate:g}, {recipe.weight_decay:g}"
    return [networks, settings, str(recipe.batch_size), f"{recipe.epochs}, {falls}", judged]


def test_every_recipe_is_told(page):
    found = rows(page, "Training over seeds and checkpoints")
    named = {name: cells for names, cells in found.items() for name in names.split(", ")}
    assert named == {name: told(training) for name, training in (PUBLISHED | {"any other": EMBEDDED}).items()}


def test_every_network_is_told(page):
    found = rows(page, "The networks")
    assert list(found) == list(ARCHITECTURES)
    for name in ARCHITECTURES:
        weights = sum(tensor.numel() for tensor in build(name, 100, 32).parameters())
        assert found[name][0] == f"{weights:,}".replace(",", " ")


def test_the_examples_run(page, tmp_path, monkeypatch):
    """With small images in the place of those it names, and no timm."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets, "load", lambda *_, **__: image_set(9))
    monkeypatch.setattr(classifiers, "Recipe", lambda **said: replace(EMBEDDED.recipe, **said, side=16))
    own = lambda classes: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, classes))  # noqa: E731
    monkeypatch.setattr(classifiers.architectures, "_of_a_function", lambda name, classes, side: own(classes))
    names = {"my_module": own(3), "classnames": NAMES}
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for example in examples:
        if "timm:" not in example:
            exec(example, names)
    assert names["logits"].shape == (9, 3)
    assert len(list(tmp_path.glob("models/resnet-8/*/*/weights.safetensors"))) == 9
