"""A threshold for a wanted share of false alarms, kept with the fitted detectors, and used on new images.

The threshold is chosen on n in-distribution validation images: an image is flagged where its score is below the m-th
smallest of theirs, m = floor(rate (n + 1)). A new image of the same kind is then flagged with a probability of at most
m / (n + 1), ties or not (split conformal prediction).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any

import numpy as np

from openworld import __version__
from openworld._errors import OpenworldError, unknown_name
from openworld.metrics import accuracy
from openworld.report.data_files import json_text
from openworld.results import Metric, Result, Value
from openworld.results.scored_sets import ScoredSets
from openworld.results.value import interval_of
from openworld.runs.atomic import write_file

LEARNER = "learner"  # folder of a learner that was trained first
BESIDE = "learner beside the thresholds"
"""What stands for the model where such a learner lies in the folder of the thresholds, wherever that is moved."""

JSON, FITTED = "thresholds.json", "fitted.safetensors"
FLAGGED = Metric("flagged", "flagged", better=0)
THRESHOLD = Metric("threshold", "threshold", "number", 6, 0, (None, None))


@dataclass(frozen=True)
class SavedThresholds:
    """What is kept.

    Args:
        thresholds: {detector: score below which an image is flagged}.
        flag_rate: the share of in-distribution images that may be flagged.
        validation: how many images they were chosen on.
        best: the detector that is used if none is named.
        model: what `judging.ModelWish` needs to find the model again, with its fingerprint; empty of scores alone.
    """

    thresholds: Mapping[str, float]
    flag_rate: float
    validation: int
    best: str
    model: Mapping[str, Any]

    def threshold(self, detector: str = "") -> tuple[str, float]:
        """The detector, the best if none is named, and its threshold.

        Raises:
            OpenworldError: another detector.
        """
        label = detector or self.best
        if label not in self.thresholds:
            raise unknown_name("detector", label, self.thresholds)
        return label, self.thresholds[label]

    def to_json(self) -> bytes:
        """As text."""
        return json_text({"openworld": __version__, **vars(self)}).encode()


def choose_thresholds(
    sets: ScoredSets, flag_rate: float, order: Sequence[str], model: Mapping[str, Any]
) -> SavedThresholds:
    """Choose the threshold of every detector on the validation images, but for those whose scores depend on the order.

    Args:
        order: the detectors, the best first.

    Raises:
        OpenworldError: a rate outside (0, 1), no validation image, too few for the rate, no detector left.
    """
    if not 0 < flag_rate < 1:
        raise OpenworldError(f"--flag-rate is {flag_rate}, expected a share between 0 and 1, such as 0.05.")
    if sets.validation is None:
        raise OpenworldError(
            "a threshold is chosen on in-distribution images that are not tested: give --validation IMAGES, a part "
            "validation of --id, or rows whose part is validation."
        )
    count = len(sets.validation)
    place = floor(flag_rate * (count + 1) + 1e-9)
    if place < 1:
        raise OpenworldError(
            f"{count} validation images are too few to flag {100 * flag_rate:g} %: give {floor(1 / flag_rate)} or more."
        )
    able = [name for name in order if name not in sets.sequential]
    if not able:
        raise OpenworldError(
            f"scores of {', '.join(order)} depend on the order of the images and on which others there are, so that no "
            "threshold holds for new ones; name another detector too."
        )
    chosen = {
        name: float(np.sort(scores)[place - 1]) for name, scores in sets.validation.scores.items() if name in able
    }
    return SavedThresholds(chosen, flag_rate, count, able[0], model)


def flagged_results(sets: ScoredSets, saved: SavedThresholds) -> list[Result]:
    """Return, of every detector, its threshold and the share of every set that it flags, with Wilson's interval."""
    rows = []
    for name, threshold in saved.thresholds.items():
        rows.append(Result(name, THRESHOLD, Value(threshold), {}))
        for each in (sets.test, *sets.others):
            share = accuracy(each.scores[name] < threshold, groups=each.clusters)
            value = Value(share.value, interval_of(share.interval, "images", len(each)))
            rows.append(Result(name, FLAGGED, value, {"group": each.group, "set": each.name}))
    return rows


def write_saved(saved: SavedThresholds, fitted: Mapping[str, Any] | None, folder: Path) -> None:
    """Write thresholds, and what was fitted, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FITTED).unlink(missing_ok=True)
    if fitted:
        from openworld.detectors import save_together

        save_together(fitted, folder / FITTED)
    write_file(folder / JSON, saved.to_json())


def read_saved(folder: Path) -> SavedThresholds:
    """Read what `write_saved` wrote.

    Raises:
        OpenworldError: no such folder, or another kind of file in it.
    """
    file = folder / JSON if folder.is_dir() else folder
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        kept.pop("openworld")
        return SavedThresholds(**kept)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise OpenworldError(
            f"{folder} holds no thresholds ({error}); give a folder that openworld detect --flag-rate ... --out wrote."
        ) from error
