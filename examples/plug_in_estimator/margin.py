"""Margin: ATC with the distance of the two largest probabilities as the score of an image."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from openworld.estimators.plugin_api import Cut, FittedEstimator, look_at, probabilities


@dataclass(frozen=True)
class Margin:
    """error = share of target images whose margin lies below the threshold of the source.

    Args:
        rule: "midpoint" or "reference", of the threshold.
    """

    rule: str = "midpoint"

    name: ClassVar[str] = "Margin"
    paper: ClassVar[str] = "worked example"
    summary: ClassVar[str] = "share of margins above a threshold"
    needs: ClassVar[tuple[str, ...]] = ("labels",)

    def fit(self, source):
        known = look_at(source, self, calibrate=True)
        return FittedEstimator(
            self, known, Cut.between(margins(source.logits, known.temperature), source.wrong, self.rule)
        )

    def read(self, known, state, target):
        return state.read(margins(target.logits, known.temperature), "T")


def margins(logits, temperature):
    second, first = np.sort(probabilities(logits, temperature), axis=1)[:, -2:].T
    return first - second
