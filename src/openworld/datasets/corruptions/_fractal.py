"""A fractal landscape by the diamond-square algorithm, for fog and frost."""

import numpy as np

from openworld.datasets.corruptions._corruption import Draws


def plasma(side: int, decay: float, draws: Draws) -> np.ndarray:
    """Return heights float64[side, side] from 0 to 1, without a seam at the borders; `side` is a power of two.

    Source: the plasma fractal of hendrycks/robustness @ e0377d4, with its order of draws. Its swing enters twice, so
        heights fall by the square of `decay`.
    """
    heights = np.zeros((side, side))
    swing, step = 100.0, side
    while step >= 2:
        half = step // 2
        corners = heights[::step, ::step]
        across = corners + np.roll(corners, -1, axis=0)
        centres = _jittered(across + np.roll(across, -1, axis=1), swing, draws)
        beside = centres + np.roll(centres, 1, axis=0) + corners + np.roll(corners, -1, axis=1)
        heights[half::step, half::step] = centres
        heights[::step, half::step] = _jittered(beside, swing, draws)
        below = centres + np.roll(centres, 1, axis=1) + corners + np.roll(corners, -1, axis=0)
        heights[half::step, ::step] = _jittered(below, swing, draws)
        step, swing = half, swing / decay
    heights -= heights.min()
    return heights / heights.max()


def _jittered(four: np.ndarray, swing: float, draws: Draws) -> np.ndarray:
    """The mean of four neighbours, moved by a draw."""
    return four / 4 + swing * draws.uniform(-swing, swing, four.shape)
