"""The twin without a model: drawings redrawn to order, through the same plan, files and reader."""

import numpy as np
import pytest
from PIL import Image

from openworld import datasets
from openworld.core.errors import OpenworldError
from openworld.datasets import ImageSet
from openworld.datasets.styles import STYLES
from openworld.shifts import ShiftGrid
from openworld.shifts.synthesis import (
    Prompts,
    RenderedPainter,
    generate,
    plan_synthesis,
    prompt_styles,
    rendered_styles,
)
from openworld.shifts.synthesis.planning import Commission


@pytest.fixture(scope="module")
def images():
    return datasets.load("emoji-concepts", domain="noto")


def test_it_paints_each_label_in_each_style(images, tmp_path):
    prompts = Prompts(images.classnames[:3], rendered_styles())
    grid = ShiftGrid(np.arange(51) % 3, np.arange(51) // 26, (2, 3), least=1)
    found = generate(plan_synthesis(prompts, grid, 4), RenderedPainter(images), tmp_path / "twin")
    assert len(found) == 24
    assert found.styles == tuple(STYLES)
    assert found.images.image(5).size == images.image(0).size
    assert np.array_equal(found.images.groups, found.images.labels)  # one drawing in all its styles
    assert len({found.images.image(number).tobytes() for number in range(24)}) == 24


def test_an_image_depends_on_its_commission_alone(images):
    prompts = Prompts(images.classnames[:2], rendered_styles())
    plan = plan_synthesis(prompts, ShiftGrid([0] * 34, [0] * 34, (1, 1)), 34)
    orders = [plan.commission(number) for number in (3, 20, 9)]
    painter = RenderedPainter(images)
    assert painter.paint(orders)[::-1] == painter.paint(orders[::-1])
    assert painter.about["images"] == images.fingerprint


def test_the_seed_chooses_among_a_labels_images_and_draws():
    def noise(number):
        return Image.fromarray(np.random.RandomState(number).randint(0, 256, (16, 16, 3), np.uint8))

    painter = RenderedPainter(ImageSet("noise", "", ("cat",), [0, 0], [0, 1], "noise of two seeds", noise))

    def painted(style, seed):
        return painter.paint([Commission(0, "cat", style, "", "", (0, 0), "", seed)])[0]

    assert painted("monochrome", 0) == painted("monochrome", 2) != painted("monochrome", 1)
    assert painted("sketch", 0) != painted("sketch", 2)


def test_what_it_cannot_paint_is_said(images):
    def order(label, style):
        plan = plan_synthesis(Prompts((label,), (style,)), ShiftGrid([0], [0], (1, 1), least=1), 1)
        return [plan.commission(0)]

    style, name = rendered_styles()[0], images.classnames[0]
    for words, some, wanted in (
        ("unknown class 'no such thing'", images, order("no such thing", style)),
        ("unknown style 'art nouveau'", images, order(name, prompt_styles()[0])),
        ("has no image of", images.subset([]), order(name, style)),
    ):
        with pytest.raises(OpenworldError, match=words):
            RenderedPainter(some).paint(wanted)
