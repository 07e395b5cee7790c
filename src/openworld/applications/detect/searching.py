"""Settings of detectors, searched on validation images before a test image is looked at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from openworld.applications.detect.named_sets import NamedSet
from openworld.detectors import DetectorCandidates, FittedDetector
from openworld.results.scored_sets import SetScores
from openworld.results.settings_search import SettingsSearch

Score = Callable[[Mapping[str, FittedDetector], NamedSet], SetScores]


def search_settings(
    tried: DetectorCandidates,
    fitted: Mapping[str, FittedDetector],
    refused: Mapping[str, str],
    known: NamedSet,
    strange: Sequence[NamedSet],
    score: Score,
) -> tuple[dict[str, FittedDetector], tuple[SettingsSearch, ...], SetScores]:
    """Return the detectors with the settings that are worth most, what each was worth, and scores of `known`.

    Args:
        tried: every setting. fitted, refused: by labels of trials.
        known: in-distribution validation images. strange: those out of distribution.
        score: what all detectors say of a set, in one pass.
    """
    inside = score(fitted, known)
    outside = [score(tried.searched(fitted), each) for each in strange if tried.trials]
    groups = (inside.clusters, [each.clusters for each in outside])
    searches = tried.choose(inside.scores, [each.scores for each in outside], refused=refused, groups=groups)
    chosen = tried.chosen(fitted, searches)
    places = {search.detector: search.chosen for search in searches}
    own = {label: inside.scores[tried.labels_of(label)[places.get(label, 0)]] for label in chosen}
    return chosen, searches, replace(inside, scores=own)


def search_facts(searches: Sequence[SettingsSearch], known: SetScores, strange: Sequence[NamedSet]) -> str:
    """Return what the settings were searched on, as a sentence."""
    if not searches:
        return "No detector here has settings to search: the validation images out of distribution are not used."
    sets = " and ".join(f"{len(each.images):,} of {each.name}" for each in strange)
    return (
        f"Settings of {len(searches)} detector(s) were searched on {len(known):,} in-distribution validation images "
        f"and {sets}; no tested image had a say. Each image was looked at once, by all settings."
    )
