"""A threshold for a wanted share of false alarms: chosen, kept with the fitted detectors, and used on new images.

The threshold is chosen on n in-distribution validation images: an image is flagged where its score is below the m-th
smallest of theirs, m = floor(rate (n + 1)). A new image of the same kind is then flagged with a probability of at most
m / (n + 1), ties or not, on average over validation sets (split conformal prediction). Of one set the share is the
m-th smallest of n uniform draws, which is Beta(m, n + 1 - m): one set in ten flags more than its .9 quantile.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from pathlib import Path
from typing import Any

import numpy as np

from openworld import __version__
from openworld.core.arrays import require_fraction
from openworld.core.csv_files import csv_text
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import sha256_of
from openworld.core.progress import Observer
from openworld.metrics import accuracy
from openworld.ood.scored_sets import ABOUT, ScoredSets, read_detectors
from openworld.report.album import Album, AlbumImage
from openworld.report.data_files import thumbnail_address
from openworld.report.layout import Brief, Layout, Own, Pivot
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.results import METRICS, Metric, Result, Results, Value
from openworld.results.value import interval_of
from openworld.runs import to_json
from openworld.runs.atomic import write_file
from openworld.runs.outputs import FLAGGED_IMAGES, require_folder
from openworld.runs.scratch import ScratchFolder
from openworld.runs.sealed import read_saved, seal
from openworld.tables.files import ScoreFile, open_scores

LEARNER = "learner"  # folder of a learner that was trained first
BESIDE = "learner beside the thresholds"
"""What stands for the model where such a learner lies in the folder of the thresholds, wherever that is moved."""

JSON, FITTED = "thresholds.json", "fitted.safetensors"
UNLUCKY = 0.9  # of ten validation sets nine flag no more than is said of an unlucky one
IN_DISTRIBUTION = {"group": "id", "group_name": "in-distribution"}
FLAGGED = Metric("flagged", "flagged", better=0)
THRESHOLD = Metric("threshold", "threshold", "number", 6, 0, (None, None))
SCORE = Metric("score", "score", "number", 5, 0, (None, None))
ON_PAGE = 20  # images
TABLE = "flagged.csv"


@dataclass(frozen=True)
class SavedModel:
    """How the model of thresholds is found again (as `GivenModel`); without a name where scores alone were compared."""

    model: str = ""
    architecture: str = ""
    members: tuple[str, ...] = ()
    template: str = ""
    classnames: tuple[str, ...] = ()
    fingerprint: str = ""


@dataclass(frozen=True)
class SavedThresholds:
    """What is kept, with a seal on it; `fitted` is the SHA-256 of the detectors beside it, "" of scores alone."""

    thresholds: dict[str, float]
    flag_rate: float
    validation: int
    best: str
    model: SavedModel
    openworld: str = __version__
    fitted: str = ""

    def __post_init__(self) -> None:
        if not 0 < self.flag_rate < 1 or self.validation < 1:
            raise OpenworldError(
                f"flag_rate is {self.flag_rate} on {self.validation} images, expected a share between 0 and 1, and 1 "
                "image or more."
            )
        self.threshold()

    @property
    def promise(self) -> str:
        """What share of in-distribution images is flagged, on average and with an unlucky validation set.

        >>> SavedThresholds({"MSP": 0.5}, 0.05, 100, "MSP", SavedModel()).promise.partition("flagged ")[2]
        'on average over validation sets; one set of 100 images in ten flags more than 7.8 %'
        """
        from scipy.special import betaincinv

        place = max(1, floor(self.flag_rate * (self.validation + 1) + 1e-9))
        unlucky = betaincinv(place, self.validation + 1 - place, UNLUCKY)
        least = f"at most {100 * self.flag_rate:g} %"
        return (
            f"{least} of in-distribution images are flagged on average over validation sets; "
            f"one set of {counted(self.validation, 'image')} in ten flags more than {100 * unlucky:.1f} %"
        )

    def threshold(self, detector: str = "") -> tuple[str, float]:
        """The detector, the best if none is named, and its threshold."""
        label = detector or self.best
        if label not in self.thresholds:
            raise unknown_name("detector", label, self.thresholds)
        return label, self.thresholds[label]


def choose_thresholds(
    sets: ScoredSets, flag_rate: float, order: Sequence[str], model: SavedModel = SavedModel()
) -> SavedThresholds:
    """Choose the threshold of every detector whose scores do not depend on the order; `order` has the best first."""
    require_fraction(flag_rate=flag_rate)
    if sets.validation is None:
        raise OpenworldError(
            "a threshold is chosen on in-distribution images that are not tested: give --validation IMAGES, a part "
            "validation of --id, or rows whose part is validation."
        )
    count = len(sets.validation)
    place = require_enough(count, flag_rate)
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


def require_enough(count: int, flag_rate: float) -> int:
    """Return m of `count` validation images; refuse too few."""
    place = floor(flag_rate * (count + 1) + 1e-9)
    if place < 1:
        needed = floor(min(1 / flag_rate, 1e9))
        share = f"{100 * flag_rate:g} %"
        raise OpenworldError(f"{count} validation images are too few to flag {share}: give {needed} or more.")
    return place


def flagged_results(sets: ScoredSets, saved: SavedThresholds) -> list[Result]:
    """Return, of every detector, its threshold and the share of every set that it flags, with Wilson's interval."""
    rows = []
    for name, threshold in saved.thresholds.items():
        rows.append(Result(name, THRESHOLD, Value(threshold), IN_DISTRIBUTION | {"set": "validation"}))
        for each in (sets.test, *sets.others):
            share = accuracy(each.scores[name] < threshold, groups=each.clusters)
            value = Value(share.value, interval_of(share.interval, "images", len(each)))
            group = IN_DISTRIBUTION if each is sets.test else {"group": each.group}
            rows.append(Result(name, FLAGGED, value, group | {"set": each.name}))
    return rows


def fitted_bytes(fitted: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the file with fitted detectors, by its name."""
    from openworld.detectors import save_together

    with ScratchFolder() as scratch:
        save_together(fitted, Path(scratch) / FITTED)
        return {FITTED: (Path(scratch) / FITTED).read_bytes()}


def write_saved(saved: SavedThresholds, fitted: bytes | None, folder: Path) -> None:
    """Write what was fitted, and then thresholds that vouch for it."""
    # A process that ends in between leaves new detectors beside old thresholds, which are refused when they are read.
    if fitted:
        write_file(folder / FITTED, fitted)
        saved = replace(saved, fitted=hashlib.sha256(fitted).hexdigest())
    write_file(folder / JSON, seal(to_json(saved)))
    if not fitted:
        (folder / FITTED).unlink(missing_ok=True)


def read_saved_thresholds(folder: Path) -> SavedThresholds:
    """Read what `write_saved` wrote, unedited, beside the detectors that it was chosen with."""
    file = folder / JSON if folder.is_dir() else folder
    remedy = "give a folder that openworld detect --flag-rate ... --out wrote, or choose thresholds again."
    saved = read_saved(file, SavedThresholds, f"{folder} holds no thresholds", remedy, sealed=True)
    fitted = file.parent / FITTED
    if saved.fitted and not (fitted.is_file() and sha256_of(fitted) == saved.fitted):
        raise OpenworldError(
            f"{fitted} is not the file that its thresholds were chosen with: it is missing or damaged, or the command "
            "that wrote it was ended half-way; choose thresholds again."
        )
    return saved


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
    saved: SavedThresholds,
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


def flagged_report(found: FlaggedImages, saved: SavedThresholds, made: Mapping[str, str]) -> Report:
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
        yield Album("Flagged", "With their scores.", (("Least in-distribution", images),))


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
