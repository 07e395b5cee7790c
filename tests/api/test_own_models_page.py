"""docs/own-models.md: every example runs as it is printed, in at most five lines beside its imports."""

import re
import warnings

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from openworld.backbones.published_files import EMBEDDED

NAMES = ("red", "green", "blue")
THINGS = [
    "cat",
    "dog",
    "owl",
    "bus",
    "car",
    "tree",
    "house",
    "lamp",
    "key",
    "ring",
    "shoe",
    "hat",
    "cake",
    "pizza",
    "apple",
    "bread",
    "moon",
    "sun",
    "star",
    "cloud",
]


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """What the examples take for granted, by name."""
    folder = tmp_path_factory.mktemp("pictures")
    generator = np.random.default_rng(0)

    def paths(side):
        found = []
        for number in range(24):
            pixels = generator.integers(0, 120, (40, 36, 3))
            pixels[..., number % 3] += 100
            found.append(str(folder / f"{side}-{number}.png"))
            Image.fromarray(pixels.astype(np.uint8)).save(found[-1])
        return found

    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)).eval()
    network.pretrained_cfg = {"input_size": (3, 32, 32), "mean": (0.5,) * 3, "std": (0.25,) * 3}
    colours = [NAMES[number % 3] for number in range(24)]
    rows = generator.normal(size=(90, 6))
    labels = np.array(NAMES)[rows[:, :3].argmax(1)]
    return {
        "val": {"path": paths("val"), "label": colours},
        "live": {"path": paths("live")},
        "module": network,
        "timm_model": network,
        "classnames": NAMES,
        "folder": EMBEDDED,
        "image_embeddings": lambda images: np.array([np.asarray(image, float).mean((0, 1)) for image in images]),
        "text_embeddings": lambda texts: np.array([[name in text for name in NAMES] for text in texts], float) + 0.1,
        **dict(zip(("train_rows", "val_rows", "live_rows"), np.split(rows, 3), strict=True)),
        **dict(zip(("train_labels", "val_labels"), np.split(labels, 3)[:2], strict=True)),
        "names": NAMES,
        "name_embeddings": np.eye(3, 6) + 0.01,
        "many_names": THINGS,
        "many_sentences": generator.normal(size=(20, 8, 6)),
        "parts": np.array(["train"] * 15 + ["test"] * 15),
    }


@pytest.fixture
def page(repository):
    """The examples in Python, in order."""
    text = (repository / "docs" / "own-models.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


@pytest.mark.slow
def test_every_example_runs(page, given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("openworld.own_data.shift.decomposition.STEPS", 20)
    monkeypatch.setenv("OPENWORLD_CACHE", str(tmp_path / "cache"))
    (tmp_path / "my_models.py").write_text(
        "from openworld import backbones\n\ndef mine():\n    return backbones.load('embedded')\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pixels = torch.zeros(2, 3, 32, 32)
        program = torch.export.export(given["module"], (pixels,), dynamic_shapes=({0: torch.export.Dim("batch")},))
        torch.export.save(program, "mine.pt2")
        names = dict(given)
        for number, example in enumerate(page, start=1):
            exec(compile(example, f"example {number} of own-models.md", "exec"), names)  # the page is ours
    assert names["mine"].logits_of_pixels(np.zeros((1, 3, 32, 32), np.uint8)).shape == (1, 3)
    assert {row.entity for row in names["run"].results} >= {"zero-shot"}
    assert names["measured"].results and names["answer"].results and len(names["scores"]) == 15


def test_an_example_is_at_most_five_lines_beside_its_imports(page):
    for example in page:
        lines = [line for line in example.splitlines() if line.strip() and not re.match(r"(import|from) ", line)]
        assert len(lines) <= 5, example
