"""Which images to make: equally many of every cell of the grid, each with a file name and a seed of its own.

Syn-IS has 64 cells of 5,000 images from 1.03 million prompts; sparse cells repeat prompts with new noise (Long et al.,
2024; its released file names show up to 21 repeats). How many prompts of a cell are different is part of a plan.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.runs.canonical import digest
from openworld.shifts.grid import ShiftGrid, equal_subsets
from openworld.shifts.synthesis.prompts import Prompts


@dataclass(frozen=True)
class Commission:
    """One image to be made."""

    number: int  # its place in the plan
    label: str
    style: str
    text: str  # what to paint
    negative: str  # what not
    cell: tuple[int, int]  # covariate level, semantic level
    file: str  # path below the set's folder
    seed: int  # of its noise, below 2**63


@dataclass(frozen=True, eq=False)
class SynthesisPlan:
    """M images, cell by cell."""

    prompts: Prompts
    shape: tuple[int, int]  # R covariate and C semantic levels
    prompt: np.ndarray  # int64[M], places in prompts
    covariate: np.ndarray  # int64[M], rows of the cells
    semantic: np.ndarray  # int64[M], their columns
    repeat: np.ndarray  # int64[M], which repeat of its prompt in the plan, from 0
    candidates: np.ndarray  # int64[R, C], prompts that lie in a cell
    seed: int  # of the draw and of all images
    origin: Mapping[str, Any] = field(default_factory=dict)  # of the levels, as JSON; for the manifest, decides nothing

    def __len__(self) -> int:
        return len(self.prompt)

    @cached_property
    def unique(self) -> np.ndarray:
        """int64[R, C], how many different prompts a cell gave."""
        drawn = np.zeros(self.shape, np.int64)
        np.add.at(drawn, (self.covariate, self.semantic), self.repeat == 0)
        return drawn

    @property
    def repeats(self) -> np.ndarray:
        """int64[R, C], how often the commonest prompt of a cell is drawn."""
        drawn = np.zeros(self.shape, np.int64)
        np.maximum.at(drawn, (self.covariate, self.semantic), self.repeat + 1)
        return drawn

    def commission(self, number: int, attempt: int = 0) -> Commission:
        """Return image `number`; another `attempt` has another seed."""
        prompt, cell = int(self.prompt[number]), (int(self.covariate[number]), int(self.semantic[number]))
        label, style = self.prompts.parts(prompt)
        label_name, look = self.prompts.labels[label], self.prompts.styles[style]
        # The same order has the same noise in whatever plan it stands.
        order = "\0".join(map(str, (self.seed, label_name, look.name, int(self.repeat[number]), attempt)))
        seed = int.from_bytes(hashlib.sha256(order.encode()).digest()[:8], "big") >> 1
        file = f"covariate-{cell[0]}/semantic-{cell[1]}/{number % self.count}_{label}_{style}.png"
        return Commission(number, label_name, look.name, self.prompts.text(prompt), look.negative, cell, file, seed)

    def report(self) -> dict:
        """Return how many prompts each cell had and gave, as JSON; a cell without images has unique 0."""
        return {
            "images": len(self),
            "unique_prompts": len(np.unique(self.prompt)),
            "candidates": self.candidates.tolist(),
            "unique": self.unique.tolist(),
            "most_repeats": self.repeats.tolist(),
            "left_out": [list(map(int, cell)) for cell in np.argwhere(self.unique == 0)],
        }

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 of all that decides what is to be made."""
        styles = [(style.name, style.prompt, style.negative) for style in self.prompts.styles]
        columns = (self.prompt, self.covariate, self.semantic, self.repeat)
        rows = hashlib.sha256(b"".join(column.astype("<i8").tobytes() for column in columns)).hexdigest()
        return digest([self.prompts.labels, styles, self.shape, rows, self.seed])

    @property
    def count(self) -> int:
        """Images per cell."""
        return len(self) // int((self.unique > 0).sum())


def plan_synthesis(prompts: Prompts, grid: ShiftGrid, count: int, *, seed: int = 0) -> SynthesisPlan:
    """Plan `count` images of every cell that is present in the grid of the prompts.

    >>> from openworld.shifts.synthesis import prompt_styles
    >>> prompts = Prompts(("cat", "dog"), prompt_styles()[:1])
    >>> plan = plan_synthesis(prompts, ShiftGrid([0, 1], [0, 0], (1, 2), least=1), 3)
    >>> plan.unique.tolist(), plan.repeats.tolist(), plan.commission(5).file
    ([[1, 1]], [[3, 3]], 'covariate-0/semantic-1/2_1_0.png')
    """
    if len(grid) != len(prompts):
        raise OpenworldError(f"the grid is of {len(grid)} prompts, but there are {len(prompts)}; give theirs.")
    if seed < 0:
        raise OpenworldError(f"seed is {seed}, expected 0 or more.")
    drawn = equal_subsets(grid, count, seed=seed)
    if not drawn:
        raise OpenworldError(f"no cell has {grid.least} prompts or more; give more prompts, or cut fewer levels.")
    cells = np.array(list(drawn), np.int64)
    prompt = np.concatenate(list(drawn.values()))
    covariate, semantic = (np.repeat(cells[:, axis], count) for axis in (0, 1))
    # how often each entry came before; equal entries stand beside each other, for a prompt lies in one cell
    starts = np.flatnonzero(np.diff(prompt, prepend=-1))
    repeat = np.arange(len(prompt)) - np.repeat(starts, np.diff(np.append(starts, len(prompt))))
    return SynthesisPlan(prompts, grid.shape, prompt, covariate, semantic, repeat, grid.counts, seed)
