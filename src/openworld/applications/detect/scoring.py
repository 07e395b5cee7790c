"""Scores of named sets of images by fitted detectors, those that look at a whole stream of images among them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from openworld import detectors
from openworld._observer import Observer
from openworld.applications.detect.models import JudgedModel, ScoredImages
from openworld.applications.detect.named_sets import NamedSet
from openworld.applications.detect.places import image_names, reader_of
from openworld.detectors import FittedDetector
from openworld.detectors.engine.fitted import plain_scores
from openworld.results.scored_sets import SetScores


def score_named(
    model: JudgedModel,
    fitted: Mapping[str, FittedDetector],
    named: Sequence[NamedSet],
    allow_corrupt: int,
    observer: Observer,
) -> list[SetScores]:
    """Return the scores of every set, in-distribution test images first."""
    # What looks at the stream sees test images mixed with one set of others at a time.
    seen = []
    for each in named:
        doing = progress_of(observer, f"scoring {each.name}")
        seen.append(model.score(fitted, each.images, doing, allow_corrupt))
    scores = [_set_of(each, images) for each, images in zip(named, seen, strict=True)]
    sequential = {label: own for label, own in fitted.items() if detectors.is_sequential(own.detector)}
    if sequential:
        scores = _with_streams(sequential, scores, seen)
    return [replace(each, scores={label: each.scores[label] for label in fitted}) for each in scores]


def score_alone(
    model: JudgedModel, fitted: Mapping[str, FittedDetector], named: NamedSet, allow_corrupt: int, observer: Observer
) -> SetScores:
    """Return the scores of one set, which is a stream of its own."""
    seen = model.score(fitted, named.images, progress_of(observer, f"scoring {named.name}"), allow_corrupt)
    scores = _set_of(named, seen)
    sequential = {label: own for label, own in fitted.items() if detectors.is_sequential(own.detector)}
    own = plain_scores(detectors.score_together(sequential, seen.stream)) if sequential else {}
    every = {**scores.scores, **own}
    return replace(scores, scores={label: every[label] for label in fitted})


def progress_of(observer: Observer, doing: str) -> Callable[[int, int], None]:
    """Return what tells an observer how far something is."""
    return lambda done, count: observer.progress(doing, done, count)


def _with_streams(
    sequential: Mapping[str, FittedDetector], scores: Sequence[SetScores], seen: Sequence[ScoredImages]
) -> list[SetScores]:
    streams = [images.stream for images in seen]
    of_test, of_sets, inside = detectors.score_streams(sequential, streams[0], streams[1:])
    test = replace(scores[0], scores={**scores[0].scores, **plain_scores(of_test)})
    others = (
        replace(each, scores={**each.scores, **plain_scores(own)}, inside=plain_scores(of_known))
        for each, own, of_known in zip(scores[1:], of_sets, inside, strict=True)
    )
    return [test, *others]


def _set_of(named: NamedSet, seen: ScoredImages) -> SetScores:
    images, rows = named.images, seen.rows
    groups = images.groups if hasattr(images, "groups") else images.columns.get("cluster", np.arange(len(images)))
    clusters = np.array([f"{named.name}/{group}" for group in groups[rows].tolist()])
    read = reader_of(images)
    reader = None if read is None else lambda place: read(int(rows[place]))
    return SetScores(named.name, named.group, seen.scores, image_names(images, rows), clusters, reader)
