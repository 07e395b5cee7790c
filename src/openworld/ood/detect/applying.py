"""Flag images of a folder, or rows of a table of scores, with a threshold that was kept."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld._arrays import require_fraction
from openworld._errors import OpenworldError
from openworld._observer import SILENT, Observer
from openworld.ood.detect.reading import ABOUT, read_detectors
from openworld.ood.thresholds import FITTED, JSON, FlaggedImages, SavedThresholds, flagged_report, read_saved_thresholds
from openworld.report.report import Report
from openworld.runs.outputs import FLAGGED_IMAGES, require_folder
from openworld.tables.files import ScoreFile, open_scores


def apply_thresholds(
    folder: Path,
    images: Sequence[Any],
    named: Any,
    *,
    detector: Sequence[str] = (),
    at_most: float = 0.0,
    root: str = "",
    allow_corrupt: int = 0,
    out: Path | None = None,
    observer: Observer = SILENT,
    made: str = "",
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
        found = _of_images(saved, label, home, images, named, root, allow_corrupt, observer)
    else:
        found = _of_scores(label, images)
    names, scores, unreadable, readers = found
    flagged = FlaggedImages(label, threshold, names, scores, at_most, unreadable)
    report = replace(flagged_report(flagged, saved, readers), made={"command": made} if made else {})
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
    from openworld.detectors.engine.tuned_learners import LogitMCM
    from openworld.evaluations.runtime import Machine
    from openworld.ood.detect.places import KnownImages, image_names, images_at
    from openworld.ood.models import columns_of, has_pictures
    from openworld.runs.scratch import ScratchFolder

    places = [images_at(where, root) for where in images]
    named = named.of_saved(saved.model, folder / JSON)
    features = next((place for place in places if columns_of(place) is not None), None)
    model = named.find(None if features is None else KnownImages(features), observer.progress)
    if model.fingerprint != saved.model.fingerprint:
        raise OpenworldError(f"{named.model} is another model than the one that the thresholds of {folder} are for.")
    device = find_device(named.device)
    kinds = (LogitMCM,) if model.kind == "learner" else ()
    fitted = {label: load_together(folder / FITTED, kinds=kinds, device=device)[label]}
    names, scores, readers, lost = [], [], [], 0
    with ScratchFolder() as scratch:  # images are encoded anew and nothing is kept
        for place in places:
            seen = model.score(fitted, place, Machine(device, str(scratch), allow_corrupt - lost))
            lost += len(place) - len(seen.rows)
            names += image_names(place, seen.rows).tolist()
            scores.append(seen.scores[label])
            readers += [(place.image if has_pictures(place) else None, row) for row in seen.rows.tolist()]
    return np.array(names, object), np.concatenate(scores), lost, readers


def _of_scores(label: str, images: Sequence[Any]) -> tuple:
    if len(images) > 1 or not (isinstance(images[0], ScoreFile) or Path(images[0]).is_file()):
        raise OpenworldError("these thresholds are of scores, without a model: give one table of scores.")
    columns, scores = read_detectors(open_scores(images[0]), ABOUT.only("image"), (label,))
    scores = scores[label]
    names = columns.get("image", np.arange(len(scores)))
    return np.array(list(map(str, names.tolist())), object), scores, 0, [(None, 0)] * len(scores)
