"""Detectors as a command line names them, "NAME:setting=value,other=value/value": names, settings and candidates."""

from collections.abc import Sequence
from typing import Any

from openworld import detectors
from openworld._errors import OpenworldError
from openworld.applications.detect.models import Detectors


def name_and_settings(word: str) -> tuple[str, dict[str, Any]]:
    """Return the parts of "NAME:setting=value,...", of several values the first: "KNN:k=20/50" has {"k": 20}."""
    return word.partition(":")[0], {setting: values[0] for setting, values in _settings(word).items()}


def words_by_label(words: Sequence[str]) -> dict[str, str]:
    """Return words by what tables call them: themselves without settings of several values, "KNN" of "KNN:k=5/20"."""
    labelled: dict[str, str] = {}
    for word in words:
        name, _, settings = word.partition(":")
        short = ":".join(filter(None, (name, ",".join(each for each in settings.split(",") if "/" not in each))))
        labelled[word if short in (*labelled, *words) else short] = word
    return labelled


def grids_of(words: Sequence[str], chosen: Detectors) -> dict[str, dict[str, tuple]]:
    """Return which settings of each detector are searched: those with several values in words, and published ones."""
    grids, of_words = {}, words_by_label(words)
    for label, detector in chosen.items():
        named = _settings(of_words.get(label, ""))
        several = {setting: values for setting, values in named.items() if len(values) > 1}
        grids[label] = several | detectors.published_grid(detector, fixed=named)
    return grids


def require_one_value(words: Sequence[str]) -> None:
    """Refuse a setting with several values where nothing is searched."""
    for word in words:
        for setting, values in _settings(word).items():
            if len(values) > 1:
                raise OpenworldError(
                    f"{word} has {len(values)} values of {setting}; say with --validation-ood, or name one."
                )


def _settings(word: str) -> dict[str, tuple]:
    """The values of each setting in "NAME:setting=value,other=value/value"."""
    pairs = [setting.partition("=") for setting in word.partition(":")[2].split(",") if setting]
    for setting, equals, _ in pairs:
        if not equals:
            raise OpenworldError(f"{word} has {setting!r} for a setting, expected setting=value, as KNN:k=20.")
    return {key.strip(): tuple(_value(value.strip()) for value in values.split("/")) for key, _, values in pairs}


def _value(text: str) -> Any:
    """A value as it is written: a number, true, false, none, or a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False, "none": None}.get(text.casefold(), text)
