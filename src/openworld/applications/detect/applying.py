"""Flag images of a folder, or rows of a table of scores, with a threshold that was kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld._arrays import require_fraction
from openworld._csv import csv_text
from openworld._errors import OpenworldError
from openworld._observer import SILENT, Observer
from openworld._score_files import ScoreFile, open_scores
from openworld.applications.detect.command import DetectInputs
from openworld.applications.detect.reading import KINDS, detectors_of, wanted_scores
from openworld.applications.detect.saved import (
    BESIDE,
    FITTED,
    FLAGGED,
    JSON,
    LEARNER,
    SavedThresholds,
    read_saved_thresholds,
)
from openworld.metrics import accuracy
from openworld.report.album import Album, AlbumImage, AlbumPart
from openworld.report.data_files import json_text, thumbnail_address
from openworld.report.layout import Brief, Layout, Own, Pivot
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.results import METRICS, Metric, Result, Results, Value
from openworld.results.value import interval_of
from openworld.runs.outputs import FLAGGED_IMAGES, require_folder

SCORE = Metric("score", "score", "number", 5, 0, (None, None))
ON_PAGE = 20  # images
TABLE = "flagged.csv"


@dataclass(frozen=True, eq=False)
class FlaggedImages:
    """What a threshold says of images object[n], paths or ids, by scores float64[n]; `at_most` of them is no alarm."""

    detector: str
    threshold: float
    images: np.ndarray
    scores: np.ndarray
    at_most: float
    unreadable: int = 0

    @property
    def flagged(self) -> np.ndarray:
        """bool[n]."""
        return self.scores < self.threshold

    @property
    def alarm(self) -> bool:
        """Whether more are flagged than are allowed."""
        return float(self.flagged.mean()) > self.at_most


def apply_thresholds(
    inputs: DetectInputs, *, out: Path | None = None, observer: Observer = SILENT, made: str = ""
) -> Report:
    """Flag images that look out of distribution: folders, lists or features; or a table of scores, if scores chose."""
    if not inputs.images:
        raise OpenworldError("name the images that --apply is to look at, such as a folder.")
    require_fraction("[)", at_most=inputs.at_most)
    require_folder("--out", out, own=(FLAGGED_IMAGES,), inputs=(inputs.apply, *inputs.images))
    saved = read_saved_thresholds(inputs.apply)
    label, threshold = saved.threshold(inputs.detectors[0] if inputs.detectors else "")
    found = _of_images(saved, label, inputs, observer) if saved.model.model else _of_scores(label, inputs.images)
    names, scores, unreadable, readers = found
    flagged = FlaggedImages(label, threshold, names, scores, inputs.at_most, unreadable)
    report = replace(_report(flagged, saved, readers), made={"command": made} if made else {})
    if out is not None:
        report.write(out)
    return report


def _of_images(saved: SavedThresholds, label: str, inputs: DetectInputs, observer: Observer) -> tuple:
    from openworld.applications.detect.judging import ModelWish, find_model, wish_of
    from openworld.applications.detect.places import FeatureTable, KnownImages, image_names, images_at, reader_of
    from openworld.backbones.devices import find_device
    from openworld.detectors import load_together

    folder = inputs.apply if inputs.apply.is_dir() else inputs.apply.parent
    places = [images_at(where, inputs.root) for where in inputs.images]
    given = ModelWish(
        inputs.model,
        inputs.architecture,
        members=inputs.member,
        backbone=inputs.backbone,
        device=find_device(inputs.device),
    )
    if saved.model.model == BESIDE and not given.model:
        given = replace(given, model=str(folder / LEARNER))
    wish = wish_of(saved.model, given, folder / JSON)
    features = next((place for place in places if isinstance(place, FeatureTable)), None)
    model = find_model(wish, None if features is None else KnownImages(features))
    if model.fingerprint != saved.model.fingerprint:
        raise OpenworldError(f"{wish.model} is another model than the one that the thresholds of {folder} are for.")
    kinds = getattr(model, "kinds", ())
    fitted = {label: load_together(folder / FITTED, kinds=kinds, device=wish.device)[label]}
    names, scores, readers, lost = [], [], [], 0
    for place in places:

        def progress(done: int, count: int, name=place.name) -> None:
            observer.progress(f"scoring {name}", done, count)

        seen = model.score(fitted, place, progress, inputs.allow_corrupt - lost)
        lost += len(place) - len(seen.rows)
        names += image_names(place, seen.rows).tolist()
        scores.append(seen.scores[label])
        readers += [(reader_of(place), row) for row in seen.rows.tolist()]
    return np.array(names, object), np.concatenate(scores), lost, readers


def _of_scores(label: str, images: Sequence[Any]) -> tuple:
    if len(images) > 1 or not (isinstance(images[0], ScoreFile) or Path(images[0]).is_file()):
        raise OpenworldError("these thresholds are of scores, without a model: give one table of scores.")
    file = open_scores(images[0], KINDS)
    detectors = detectors_of(file, ())
    if label not in detectors:
        raise OpenworldError(f"{file.path} has no scores of {label}; it has {', '.join(detectors) or 'none'}.")
    named = [name for name in ("image",) if name in file.columns]
    table = file.table([detectors[label]], named, [detectors[label], *named])
    scores = wanted_scores(table, {label: detectors[label]}, 1.0)[label]
    names = table.get("image", np.arange(len(scores)))
    return np.array(list(map(str, names.tolist())), object), scores, 0, [(None, 0)] * len(scores)


def _report(found: FlaggedImages, saved: SavedThresholds, readers: list) -> Report:
    if not len(found.scores):
        raise OpenworldError("there is no image that could be read.")
    share, order = accuracy(found.flagged), np.argsort(found.scores, kind="stable")
    value = Value(share.value, interval_of(share.interval, "images", len(found.scores)))
    images, count = counted(len(found.scores), "image"), int(found.flagged.sum())
    sentences = [
        f"{found.detector} flags {count:,} of {images}, {FLAGGED.write(share.value)} % "
        f"{FLAGGED.write_interval(value.over())}, as out of distribution.",
        f"The threshold is {found.threshold:.6g}: {saved.promise}.",
    ]
    if found.unreadable:
        sentences.append(f"{counted(found.unreadable, 'image')} could not be read and count nowhere.")
    at = [(str(found.images[place]), float(found.scores[place])) for place in order.tolist()]
    kept = {
        "detector": found.detector,
        "threshold": found.threshold,
        "images": len(found.scores),
        "flagged": count,
        "share": share.value,
        "alarm": found.alarm,
        "unreadable": found.unreadable,
        "flagged_images": [{"image": image, "score": score} for image, score in at[:count]],
    }
    lines = [[image, repr(score), str(place < count).lower()] for place, (image, score) in enumerate(at)]
    rows = [Result(found.detector, FLAGGED, value), Result("", METRICS["images"], Value(len(found.scores)))]
    rows += [Result(found.detector, SCORE, Value(score), {"image": image}) for image, score in at[:count]]
    shown = [(image, score, *readers[place]) for (image, score), place in zip(at[:count], order.tolist(), strict=False)]
    brief = Brief(
        Results("detect", tuple(rows)),
        label="detector",
        subtitle=(images, f"by {found.detector}"),
        sentences=tuple(sentences),
        source=shown[:ON_PAGE],
    )
    files = {TABLE: csv_text(["image", "score", "flagged"], lines).encode()}
    return LAYOUT.report(brief, found=found, json=json_text(kept), files=files)


def _album(brief: Brief) -> Iterator[Album]:
    images = tuple(
        AlbumImage(thumbnail_address(read(row)), name, SCORE.write(score))
        for name, score, read, row in brief.source
        if read is not None
    )
    if images:
        yield Album("Flagged", "With their scores.", (AlbumPart("Least in-distribution", images),))


LAYOUT = Layout(
    "Which images look out of distribution?",
    "",
    (
        Pivot(
            name="flagged",
            title="Flagged images",
            metrics=("score",),
            rows=("image",),
            note="The least in-distribution first.",
        ),
        Own(name="images", title="Flagged images", draw=_album),
    ),
)
