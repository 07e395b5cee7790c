"""Detectors compared by scores: a table with a row per image; and images flagged with a threshold that was kept.

Scores were computed elsewhere, or by `openworld detect`. What is flagged are images of a folder, or rows of a table.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openworld.core.arrays import require_fraction
from openworld.core.csv_files import csv_text
from openworld.core.errors import OpenworldError, failing
from openworld.core.progress import Observer
from openworld.ood.benchmark.report import LAYOUT, detection_brief, ranked
from openworld.ood.detection_results import detection_results
from openworld.ood.scored_sets import (
    ABOUT,
    ScoredSets,
    have_places,
    read_detectors,
    read_scores,
    scores_parquet,
)
from openworld.report.album import Album, AlbumImage, AlbumPart
from openworld.report.data_files import thumbnail_address
from openworld.report.layout import Brief, Layout, Own, Pivot
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.results import METRICS, Metric, Result, Results, RunFolder, Value
from openworld.results.value import interval_of
from openworld.runs.outputs import DETECTED, FLAGGED_IMAGES, require_folder
from openworld.tables.files import ScoreFile, open_scores

if TYPE_CHECKING:
    from openworld.ood.thresholds import SavedThresholds

PAGES = ("ood-benchmark", "ood-detection")
"""The evaluations of what is written."""
SCORES = "scores.parquet"
SCORE = Metric("score", "score", "number", 5, 0, (None, None))
ON_PAGE = 20  # images
TABLE = "flagged.csv"


def detect_scores(
    scores: Any,
    *,
    larger_out: bool,
    detector: Sequence[str],
    flag_rate: float | None,
    replicates: int,
    seed: int,
    levels: int,
    least: int,
    out: Path | None,
    observer: Observer,
    made: Mapping[str, str],
) -> Report:
    """Compare detectors by a table of scores, over cells of shift where it has them; see `openworld.detect`."""
    by_shift = have_places(scores)
    if by_shift and flag_rate is not None:
        raise OpenworldError("scores over cells of shift bring no threshold; leave --flag-rate out, or the degrees.")
    require_folder("--out", out, own=(DETECTED,), pages=PAGES, inputs=(scores,))
    saved = None
    if by_shift:
        from openworld.ood.by_shift.own_scores import read_pool, report_of_pool

        pool = read_pool(scores, levels, larger_out=larger_out, only=detector)
        observer.progress("comparing detectors", 0, 1)
        with failing():
            report = report_of_pool(pool, least, made)
    else:
        sets = replace(read_scores(scores, larger_out=larger_out, only=detector), made=made)
        if not sets.others:
            raise OpenworldError("there is no set but in-distribution images; name one with --ood near=IMAGES.")
        observer.progress("comparing detectors", 0, 1)
        with failing():
            results = detection_results(sets, replicates=replicates, seed=seed)
        if flag_rate is not None:
            from openworld.ood.thresholds import choose_thresholds, flagged_results

            saved = choose_thresholds(sets, flag_rate, ranked(sets, results))
            results = Results(results.evaluation, (*results.rows, *flagged_results(sets, saved)), results.comparisons)
        report = compared(sets, results, saved)
    observer.progress("comparing detectors", 1, 1)
    if out is not None:
        report.write(out)
        if saved is not None:
            from openworld.ood.thresholds import write_saved

            write_saved(saved, None, out)
    return report


def compared(
    sets: ScoredSets, results: Results, saved: "SavedThresholds | None", run: RunFolder | None = None
) -> Report:
    """Return the report of detectors whose numbers are known."""
    notes = {"thresholds": f"Chosen on validation images: {saved.promise}."} if saved else {}
    facts = tuple(sets.made.items()) if run else ()
    brief = detection_brief(sets, results, notes=notes, facts=facts, run=run)
    return LAYOUT.report(brief, made=sets.made, found=sets, files={SCORES: scores_parquet(sets)})


@dataclass(frozen=True, eq=False)
class FlaggedImages:
    """What a threshold says of images object[n], paths or ids, by scores float64[n]; `at_most` of them is no alarm."""

    detector: str
    threshold: float
    at_most: float
    images: np.ndarray
    scores: np.ndarray
    unreadable: int
    readers: list[tuple[Callable | None, int]]  # what reads an image, None where there is none, and its place

    @property
    def flagged(self) -> np.ndarray:
        return self.scores < self.threshold

    @property
    def alarm(self) -> bool:
        return float(self.flagged.mean()) > self.at_most


def apply_thresholds(
    folder: Path,
    images: Sequence[Any],
    named: Any,
    *,
    detector: Sequence[str],
    at_most: float,
    root: str,
    allow_corrupt: int,
    out: Path | None,
    observer: Observer,
    made: Mapping[str, str],
) -> Report:
    """Flag images that look out of distribution: folders, lists or features; or a table of scores, if scores chose.

    Args:
        folder: that keeps the thresholds.
        named: a `GivenModel`, of which only that is said which `folder` may not name.
    """
    from openworld.ood.thresholds import read_saved_thresholds

    if not images:
        raise OpenworldError("name the images that --apply is to look at, such as a folder.")
    require_fraction("[)", at_most=at_most)
    require_folder("--out", out, own=(FLAGGED_IMAGES,), inputs=(folder, *images))
    saved = read_saved_thresholds(folder)
    label, threshold = saved.threshold(detector[0] if detector else "")
    if saved.model.model:
        home = folder if folder.is_dir() else folder.parent
        seen = _of_images(saved, label, home, images, named, root, allow_corrupt, observer)
    else:
        if len(images) > 1 or not (isinstance(images[0], ScoreFile) or Path(images[0]).is_file()):
            raise OpenworldError("these thresholds are of scores, without a model: give one table of scores.")
        columns, by_detector = read_detectors(open_scores(images[0]), ABOUT.only("image"), (label,))
        scores = by_detector[label]
        names = map(str, columns.get("image", np.arange(len(scores))).tolist())
        seen = np.array(list(names), object), scores, 0, [(None, 0)] * len(scores)
    report = flagged_report(FlaggedImages(label, threshold, at_most, *seen), saved, made)
    if out is not None:
        report.write(out)
    return report


def _of_images(
    saved: "SavedThresholds",
    label: str,
    folder: Path,
    images: Sequence[Any],
    named: Any,
    root: str,
    allow_corrupt: int,
    observer: Observer,
) -> tuple:
    from openworld.backbones.devices import find_device
    from openworld.detectors import load_together
    from openworld.evaluations.runtime import Machine
    from openworld.ood.detect.places import image_names, images_at
    from openworld.ood.feature_model import columns_of, has_pixels
    from openworld.ood.thresholds import FITTED, JSON
    from openworld.runs.scratch import ScratchFolder

    places = [images_at(where, root) for where in images]
    named = named.of_saved(saved.model, folder / JSON)
    features = next((place for place in places if columns_of(place) is not None), None)
    model = named.find({} if features is None else {"test": features}, observer.progress)
    if model.fingerprint != saved.model.fingerprint:
        raise OpenworldError(f"{named.model} is another model than the one that the thresholds of {folder} are for.")
    device = find_device(named.device)
    fitted = {label: load_together(folder / FITTED, device=device)[label]}
    names, scores, readers, lost = [], [], [], 0
    with ScratchFolder() as scratch:  # images are encoded anew and nothing is kept
        for place in places:
            seen = model.score(fitted, place, Machine(device, str(scratch), allow_corrupt - lost))
            lost += len(place) - len(seen.rows)
            names += image_names(place, seen.rows).tolist()
            scores.append(seen.scores[label])
            readers += [(place.image if has_pixels(place) else None, row) for row in seen.rows.tolist()]
    return np.array(names, object), np.concatenate(scores), lost, readers


def flagged_report(found: FlaggedImages, saved: "SavedThresholds", made: Mapping[str, str]) -> Report:
    from openworld.metrics import accuracy
    from openworld.ood.thresholds import FLAGGED, THRESHOLD

    if not len(found.scores):
        raise OpenworldError("there is no image that could be read.")
    share, order = accuracy(found.flagged), np.argsort(found.scores, kind="stable")
    value = Value(share.value, interval_of(share.interval, "images", len(found.scores)))
    seen, count = counted(len(found.scores), "image"), int(found.flagged.sum())
    sentences = [
        f"{found.detector} flags {count:,} of {seen}, {FLAGGED.write(share.value)} % "
        f"{FLAGGED.write_interval(value.over())}, as out of distribution.",
        f"The threshold is {found.threshold:.6g}: {saved.promise}.",
    ]
    if found.unreadable:
        sentences.append(f"{counted(found.unreadable, 'image')} could not be read and count nowhere.")
    at = [(str(found.images[place]), float(found.scores[place])) for place in order.tolist()]
    lines = [[image, repr(score), str(place < count).lower()] for place, (image, score) in enumerate(at)]
    rows = [Result(found.detector, FLAGGED, value), Result(found.detector, THRESHOLD, Value(found.threshold))]
    counts = {"readable": len(found.scores), "flagged": count, "unreadable": found.unreadable}
    rows += [Result("", METRICS["images"], Value(number), {"images": images}) for images, number in counts.items()]
    rows += [Result(found.detector, SCORE, Value(score), {"image": image}) for image, score in at[:count]]
    rows_shown = [(*pair, *found.readers[place]) for pair, place in zip(at[:ON_PAGE], order.tolist(), strict=False)]
    brief = Brief(
        Results("detect", tuple(rows)),
        label="detector",
        subtitle=(seen, f"by {found.detector}"),
        sentences=tuple(sentences),
        source=rows_shown[:count],
    )
    files = {TABLE: csv_text(["image", "score", "flagged"], lines).encode()}
    return FLAGGED_LAYOUT.report(brief, made=made, found=found, facts={"alarm": found.alarm}, files=files)


def _album(brief: Brief) -> Iterator[Album]:
    images = tuple(
        AlbumImage(thumbnail_address(read(row)), name, SCORE.write(score))
        for name, score, read, row in brief.source
        if read is not None
    )
    if images:
        yield Album("Flagged", "With their scores.", (AlbumPart("Least in-distribution", images),))


FLAGGED_LAYOUT = Layout(
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
