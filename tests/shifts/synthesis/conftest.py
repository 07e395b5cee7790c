"""What these tests share: a small plan with an empty and a sparse cell, and a painter of plain colours."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from PIL import Image

from openworld.shifts import ShiftGrid
from openworld.shifts.synthesis import Prompts, plan_synthesis, prompt_styles


@dataclass
class PlainPainter:
    """Paints the seed as a colour, counts what it painted, and stops (as a crash would) after `most` images."""

    most: int = 10**9
    about: dict = field(default_factory=lambda: {"name": "plain"})
    painted: list = field(default_factory=list)
    sizes: list = field(default_factory=list)

    def fitting(self):
        return 4

    def paint(self, commissions):
        if len(self.painted) + len(commissions) > self.most:
            raise KeyboardInterrupt
        self.painted += commissions
        self.sizes.append(len(commissions))
        return [Image.new("RGB", (8, 8), tuple(order.seed.to_bytes(8, "big")[:3])) for order in commissions]


@pytest.fixture
def painter():
    return PlainPainter


@pytest.fixture(scope="session")
def prompts():
    return Prompts(("cat", "sea_lion", "kettle"), prompt_styles()[:4])


@pytest.fixture(scope="session")
def plan(prompts):
    """5 images in each of three cells, which have 7, 2 and 3 prompts; the fourth has none."""
    covariate = np.array([0] * 9 + [1] * 3)
    semantic = np.array([0] * 7 + [1] * 2 + [0] * 3)
    return plan_synthesis(prompts, ShiftGrid(semantic, covariate, (2, 2), least=1), 5, seed=3)
