"""Settings of detectors, searched on validation images out of distribution, from passes that are made once.

As OpenOOD v1.5 searches (Zhang et al., 2023): the AUROC of in-distribution validation images against validation images
out of distribution decides; of settings that are worth the same, the first; the first name of a grid runs fastest. What
differs is the cost. There every setting is a run of its own over all images; here every setting is a detector, and any
number of detectors learn from one pass over the training images and score the validation images in another.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import checked
from openworld.detectors.engine.fitted import FittedDetector, OODDetector
from openworld.detectors.engine.planning import require_images
from openworld.metrics import auroc, mean_over_sets
from openworld.results.settings_search import SettingsSearch, in_words
from openworld.results.value import Value, interval_of, value_or

Grid = Mapping[str, Sequence]
"""{setting: values}; of settings that go together {"low, high": pairs}."""


@dataclass(frozen=True, eq=False)
class DetectorCandidates:
    """Detectors whose settings are searched; made by `candidates`.

    Args:
        given: detectors by a label of yours.
        trials: of those with a grid, by label: {label of the trial: (settings, detector)}.
    """

    given: Mapping[str, OODDetector]
    trials: Mapping[str, Mapping[str, tuple[dict[str, Any], OODDetector]]]

    @property
    def detectors(self) -> dict[str, OODDetector]:
        """What is fitted, and scores validation images: every trial, and what is not searched."""
        every: dict[str, OODDetector] = {}
        for label, detector in self.given.items():
            tried = self.trials.get(label)
            every |= {label: detector} if tried is None else {name: own for name, (_, own) in tried.items()}
        return every

    def labels_of(self, label: str) -> tuple[str, ...]:
        """The labels in `detectors` of a label of yours."""
        return tuple(self.trials.get(label, (label,)))

    def searched(self, fitted: Mapping[str, FittedDetector]) -> dict[str, FittedDetector]:
        """Return those of the fitted that are trials: all that need to score images out of distribution."""
        names = (name for label in self.trials for name in self.labels_of(label))
        return {name: fitted[name] for name in names if name in fitted}

    def unable(self, refused: Mapping[str, str]) -> dict[str, str]:
        """Return why detectors cannot be used, by labels of yours: those none of whose trials can learn.

        Args:
            refused: by labels in `detectors`, as `FitStatistics.fit_able` gives them.
        """
        every = {label: self.labels_of(label) for label in self.given}
        return {label: refused[names[0]] for label, names in every.items() if all(name in refused for name in names)}

    def require_images(self, images: int) -> None:
        """Raise where so many training images are too few for each setting of a detector, as `require_images` does."""
        for label in self.given:
            labels, refused = self.labels_of(label), []
            for name in labels:
                try:
                    require_images({name: self.detectors[name]}, images)
                except OpenworldError as error:
                    refused.append(error)
            if len(refused) == len(labels):
                raise refused[0]

    def choose(
        self,
        known: Mapping[str, np.ndarray],
        strange: Sequence[Mapping[str, np.ndarray]],
        *,
        refused: Mapping[str, str] | None = None,
        groups: tuple[np.ndarray, Sequence[np.ndarray]] | None = None,
    ) -> tuple[SettingsSearch, ...]:
        """Return what every trial is worth, and which is chosen; of detectors with a grid that can learn at all.

        Args:
            known: scores float[n] of in-distribution validation images, by labels in `detectors`.
            strange: the same of each set of validation images out of distribution; their AUROCs count alike.
            refused: why a trial could not learn.
            groups: of known, and of each set of strange images: labels of images that are not independent.
        """
        refused = refused or {}
        if groups is None:  # every image is a group, from one name space over all sets
            counts = [len(next(iter(part.values()), ())) for part in (known, *strange)]
            first, *others = np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])
            groups = first, others
        found = []
        for label in (label for label in self.trials if label not in self.unable(refused)):
            tried: Any = self.given[label]  # a dataclass, as `OODDetector` says
            trials, usual = [], None
            defaults = {field.name: field.default for field in fields(tried) if field.default is not MISSING}
            for place, (name, (settings, detector)) in enumerate(self.trials[label].items()):
                unsaid = {setting: defaults[setting] for setting in settings if setting in defaults}
                usual = place if detector == replace(tried, **unsaid) else usual
                trials.append((settings, _worth(name, known, strange, refused, groups)))
            worth = [-1.0 if area.value is None else area.value for _, area in trials]
            found.append(SettingsSearch(label, tuple(trials), int(np.argmax(worth)), usual))
        return tuple(found)

    def chosen(
        self, fitted: Mapping[str, FittedDetector], searches: Sequence[SettingsSearch]
    ) -> dict[str, FittedDetector]:
        """Return the fitted detectors with the settings that were chosen, by labels of yours.

        Args:
            fitted: by labels in `detectors`.
        """
        names = {search.detector: self.labels_of(search.detector)[search.chosen] for search in searches}
        labels = {label: names.get(label, label) for label in self.given}
        return {label: fitted[name] for label, name in labels.items() if name in fitted}


@checked
def candidates(detectors: Mapping[str, OODDetector], grids: Mapping[str, Grid] | None = None) -> DetectorCandidates:
    """Return the detectors with every setting that is to be tried.

    Args:
        detectors: by a label of yours.
        grids: by label; one without is not searched. None for the published `sweep` of each that has one.
    Raises:
        OpenworldError: a setting that there is not, or a value that it cannot have.

    >>> from openworld.detectors import KNN, MSP
    >>> tried = candidates({"MSP": MSP(), "KNN": KNN()}, {"KNN": {"k": (1, 5)}})
    >>> list(tried.detectors)
    ['MSP', 'KNN: k 1', 'KNN: k 5']
    >>> scores = {"MSP": [2.0], "KNN: k 1": [0.0], "KNN: k 5": [2.0]}
    >>> tried.choose(scores, [{"MSP": [0.0], "KNN: k 1": [1.0], "KNN: k 5": [1.0]}])[0].chosen
    1
    """
    if grids is None:
        grids = {label: published_grid(detector) for label, detector in detectors.items()}
    trials = {}
    for label, grid in grids.items():
        if label not in detectors:
            raise unknown_name("detector", label, detectors)
        settings = settings_of(grid)
        if len(settings) > 1:
            try:
                usual: Any = detectors[label]  # a dataclass, as `OODDetector` says
                own = [(each, replace(usual, **each)) for each in settings]
            except TypeError as error:
                name = detectors[label].name
                raise OpenworldError(f"{name} has no such setting ({error}); see openworld list detectors.") from error
            trials[label] = {f"{label}: {in_words(each)}": (each, detector) for each, detector in own}
    return DetectorCandidates(dict(detectors), trials)


def published_grid(detector: OODDetector, fixed: Collection[str] = ()) -> dict[str, tuple]:
    """Return the `sweep` of a detector, less settings that are `fixed`; empty where it has none.

    >>> from openworld.detectors import VRA
    >>> published_grid(VRA(), fixed=("low",))
    {'high': (85.0, 90.0, 95.0, 99.0)}
    """
    sweep = getattr(detector, "sweep", {})
    return {names: values for names, values in sweep.items() if not set(names.split(", ")) & set(fixed)}


def settings_of(grid: Grid) -> list[dict[str, Any]]:
    """Return every combination of a grid, the first name running fastest, as OpenOOD runs through its own."""
    names = list(grid)
    combined = []
    for values in product(*(grid[name] for name in reversed(names))):
        setting: dict[str, Any] = {}
        for name, value in zip(names, reversed(values), strict=True):
            setting |= dict(zip(name.split(", "), value, strict=True)) if ", " in name else {name: value}
        combined.append(setting)
    return combined


def _worth(name: str, known, strange, refused, groups) -> Value:
    if name in refused:
        return Value(None, reason=refused[name])
    inside, outside = groups
    each = [
        auroc(known[name], other[name], in_groups=inside, out_groups=own)
        for other, own in zip(strange, outside, strict=True)
    ]
    mean = mean_over_sets(each, [(inside, own) for own in outside])
    return value_or(mean.value, mean.reason or "", interval_of(mean.interval(), "images"))
