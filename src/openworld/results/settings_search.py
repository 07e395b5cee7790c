"""Settings of detectors that were searched on validation images, and what each of them was worth there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from openworld.results.results import Place, Result
from openworld.results.value import Metric, Value, interval_of

VALIDATION_AUROC = Metric("validation_auroc", "AUROC on validation OOD")
"""Of in-distribution validation images against validation images out of distribution; of several sets, the mean."""


@dataclass(frozen=True)
class Trial:
    """One setting that was tried."""

    settings: dict[str, Any]
    auroc: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""

    @property
    def words(self) -> str:
        """Its settings as people read them."""
        return ", ".join(f"{name} {value}" for name, value in self.settings.items())

    @property
    def value(self) -> Value:
        """The AUROC with its interval."""
        if self.auroc is None:
            return Value(None, reason=self.reason)
        return Value(self.auroc, interval_of(None if self.low is None else (self.low, self.high), "images"))


@dataclass(frozen=True)
class SettingsSearch:
    """The settings of a detector that were tried, on validation images."""

    detector: str
    trials: tuple[Trial, ...]
    chosen: int
    default: int | None = None  # place of the settings that it has without a search; None where these were not tried

    @property
    def best(self) -> Trial:
        """The trial that was chosen."""
        return self.trials[self.chosen]


def search_results(searches: Sequence[SettingsSearch], **where: Place) -> Iterator[Result]:
    """Yield a row for every setting that was tried: `settings` in words, and whether it was `chosen`, "yes" or "no"."""
    # The settings that the detector has without a search are marked in `settings_name`.
    for search in searches:
        for place, trial in enumerate(search.trials):
            at = {"settings": trial.words, "chosen": "yes" if place == search.chosen else "no", **where}
            if place == search.default:
                at["settings_name"] = f"{trial.words} (the default)"
            yield Result(search.detector, VALIDATION_AUROC, trial.value, at)
