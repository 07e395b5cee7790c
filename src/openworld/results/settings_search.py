"""Settings of detectors that were searched on validation images, and what each of them was worth there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openworld.results.results import Place, Result
from openworld.results.value import Metric, Value

VALIDATION_AUROC = Metric("validation_auroc", "AUROC on validation OOD")
"""Of in-distribution validation images against validation images out of distribution; of several sets, the mean."""


@dataclass(frozen=True)
class SettingsSearch:
    """The settings of a detector that were tried, on validation images."""

    detector: str
    trials: tuple[tuple[dict[str, Any], Value], ...]  # settings, and their AUROC
    chosen: int
    default: int | None = None  # place of the settings that it has without a search; None where these were not tried


def in_words(settings: Mapping[str, Any]) -> str:
    """Return settings as people read them."""
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def search_results(searches: Sequence[SettingsSearch], **where: Place) -> Iterator[Result]:
    """Yield a row for every setting that was tried: `settings` in words, and whether it was `chosen`, "yes" or "no"."""
    # The settings that the detector has without a search are marked in `settings_name`.
    for search in searches:
        for place, (settings, area) in enumerate(search.trials):
            at = {"settings": in_words(settings), "chosen": "yes" if place == search.chosen else "no", **where}
            if place == search.default:
                at["settings_name"] = f"{in_words(settings)} (the default)"
            yield Result(search.detector, VALIDATION_AUROC, area, at)
