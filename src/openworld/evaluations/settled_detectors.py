"""Fitted detectors of a unit, with settings that are chosen on validation images where a spec names some."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from openworld import detectors
from openworld._errors import OpenworldError
from openworld.detectors import Activations, DetectorCandidates, FittedDetector
from openworld.detectors.engine.fitted import plain_scores
from openworld.features import Features
from openworld.results.settings_search import SettingsSearch


def settled(
    tried: DetectorCandidates,
    statistics: detectors.FitStatistics,
    scores_of: Callable[[Mapping[str, FittedDetector], Any], dict[str, np.ndarray]],
    validation: Sequence[Any],
    groups: Sequence[np.ndarray],
) -> tuple[dict[str, FittedDetector], tuple[SettingsSearch, ...]]:
    """Return fitted detectors, with the settings that are worth most on validation images where there are some.

    Args:
        scores_of: scores of a part of `validation`, by fitted detectors.
        groups: of each part: images that are not independent.
    """
    if not tried.trials:
        return statistics.fit(), ()
    fitted, refused = statistics.fit_able()
    for label, reason in tried.unable(refused).items():
        raise OpenworldError(f"{label}: {reason}")
    known, *strange = (scores_of(tried.searched(fitted), part) for part in validation)
    # Groups of one set are no groups of another.
    starts = np.cumsum([0, *(int(own.max(initial=-1)) + 1 for own in groups)])
    inside, *outside = (start + own for start, own in zip(starts, groups, strict=False))
    searches = tried.choose(known, strange, refused=refused, groups=(inside, outside))
    return tried.chosen(fitted, searches), searches


def settled_of_features(
    tried: DetectorCandidates,
    statistics: detectors.FitStatistics,
    see: Callable[[Features], Activations],
    validation: Sequence[Features],
) -> tuple[dict[str, FittedDetector], tuple[SettingsSearch, ...]]:
    """Return the same of encoded images, which `see` turns into what detectors look at."""

    def scores_of(fitted: Mapping[str, FittedDetector], part: Features) -> dict[str, np.ndarray]:
        return plain_scores(detectors.score_together(fitted, replace(see(part), labels=None)))

    return settled(tried, statistics, scores_of, validation, [part.groups[:] for part in validation])
