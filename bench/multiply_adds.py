"""Multiply-adds of passes through a tower, in full and with every exact shortcut: what a measured ratio could reach.

Counted are linear layers and attention of the blocks (of the image tower also the patch layer); the joint projection,
losses and the learners' own small layers are not. A causal row attends to itself and the rows before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """Multiply-adds of a forward pass."""

    linear: int = 0
    attention: int = 0

    def __add__(self, other: "Work") -> "Work":
        return Work(self.linear + other.linear, self.attention + other.attention)

    def total(self, backwards: int = 0) -> int:
        """With so many backward passes to the inputs: weights are frozen, so a linear layer costs the same once more
        in each, and attention, which has two products forward and four backward, twice as much."""
        return (1 + backwards) * self.linear + (1 + 2 * backwards) * self.attention


def _row(config) -> int:
    """Linear layers of one block, per row."""
    return 4 * config.width**2 + 2 * config.width * config.mlp_width


def _keys(config) -> int:
    """Its key and value projections alone."""
    return 2 * config.width**2


def _patches(config) -> int:
    return 3 * config.patch_size**2 * config.width * config.grid**2


def full_text(config, sentences: int, positions: int, causal: bool = True) -> Work:
    """All positions of every sentence through all blocks."""
    pairs = positions * (positions + 1) // 2 if causal else positions**2
    blocks = sentences * config.layers
    return Work(blocks * positions * _row(config), blocks * pairs * 2 * config.width)


def packed_text(config, lengths: Sequence[int], shared: int, unshared_from: int | None = None) -> Work:
    """Rows up to the end token, shared ones once, of the last block the end rows alone.

    lengths: own rows of each sentence, end token included. shared: rows after the start token that all have in common,
    up to block `unshared_from`.
    """
    work = Work()
    for block in range(config.layers):
        own, common = lengths, shared
        if unshared_from is not None and block >= unshared_from:
            own, common = [shared + length for length in lengths], 0
        rows = common + sum(own)
        if block < config.layers - 1:
            pairs = sum(range(2, common + 2)) + sum(sum(range(common + 2, common + 2 + one)) for one in own)
            work += Work(rows * _row(config), pairs * 2 * config.width)
        else:
            ends = len(own) * (_row(config) - _keys(config))
            work += Work(rows * _keys(config) + ends, sum(1 + common + one for one in own) * 2 * config.width)
    return work


def full_image(config, images: int, prompts: int = 0) -> Work:
    """All rows of every image through all blocks."""
    rows, blocks = 1 + config.grid**2 + prompts, images * config.layers
    linear = blocks * rows * _row(config) + images * _patches(config)
    return Work(linear, blocks * rows**2 * 2 * config.width)


def pooled_image(config, images: int, prompts: int = 0) -> Work:
    """The same without what the last block computes for other rows than the class token's."""
    rows = 1 + config.grid**2 + prompts
    unused = Work((rows - 1) * (_row(config) - _keys(config)), (rows - 1) * rows * 2 * config.width)
    full = full_image(config, images, prompts)
    return Work(full.linear - images * unused.linear, full.attention - images * unused.attention)


def recorded_image(config, images: int) -> Work:
    """Keys and values of every block: of the last one nothing else."""
    rows = 1 + config.grid**2
    unused = Work(rows * (_row(config) - _keys(config)), rows**2 * 2 * config.width)
    full = full_image(config, images)
    return Work(full.linear - images * unused.linear, full.attention - images * unused.attention)


def reading(config, prompts: int, seen: Sequence[int]) -> Work:
    """Prompts that read the recorded rows of each sentence or image, `seen` of them, and are read by nobody."""
    rows = prompts * len(seen) * config.layers
    linear = rows * (_row(config) - _keys(config))
    return Work(linear, prompts * sum(seen) * config.layers * 2 * config.width)
