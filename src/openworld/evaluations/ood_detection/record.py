"""Tables of a judged model's record: every detector over the cells, every picture with its degrees and scores."""

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from openworld.evaluations.image_columns import with_names
from openworld.evaluations.ood_detection.metrics import Sides, detector_told
from openworld.evaluations.ood_detection.scores import Said, Shown
from openworld.evaluations.ood_detection.task import Task
from openworld.evaluations.ood_detection.uncertainty import Ranked, over_pictures
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shift_cells import Divided, test_degrees
from openworld.shift import HALVES


def groups_of(test: Shown, found: Divided) -> tuple[np.ndarray, np.ndarray]:
    """Groups of the test pictures and of the pool's: apart, for numbers of two image sets mean nothing together."""
    own = test.images.groups[test.rows]
    return own, found.pool.images.groups[found.rows] + int(own.max(initial=-1)) + 1


def sides_of(label: str, said: Said, test: Shown, found: Divided) -> Sides:
    """The scores of a detector with their groups."""
    return Sides(said.test[label], said.pool[label], *groups_of(test, found))


def tables(task: Task, sides: Mapping[str, Sides], ranked: Ranked, found: Divided, id_kept: bool) -> dict:
    """All detectors over all cells, with pictures of in-distribution classes or without.

    Beside what `detector_told` tells: "over_pictures", intervals of curves and slopes; and "joint", by axis and kind
    how the slopes of all detectors err together.
    """
    kept = np.arange(len(found.rows)) if id_kept else np.flatnonzero(~found.known)
    grid = found.grid(kept, task.division.least)
    errors, joint = over_pictures(ranked, grid, kept)
    both = zip(sides.items(), errors, strict=True)
    told = {label: detector_told(one, grid, kept) | {"over_pictures": own} for (label, one), own in both}
    return {
        "id_kept": id_kept,
        "levels": found.told(kept),
        "counts": grid.counts.tolist(),
        "detectors": told,
        "joint": joint,
    }


def described(task: Task, known: Shown, test: Shown, said: Said) -> dict:
    """What was judged, from what it learned, and how well it names the test pictures."""
    truth = test.images.labels[test.rows]
    model, ground = task.judged, task.ground
    return {
        "protocol": "incremental-shift",
        "model": model.label,
        "kind": "two-tower" if model.is_two_tower else "classifier",
        "seed": task.seed,
        "source": {
            "sources": ground.sources,
            "classes": len(test.images.classnames),
            "training": len(known.rows),
            "n": len(truth),
            "accuracy": int((said.prediction == truth).sum()) / len(truth),
        },
        "decomposition": None if ground.cells else task.division.decomposition,
        "neighbour": None if ground.cells else task.division.k,
        "detector_settings": [{"label": one.label, **asdict(one)} for one in model.detectors],
        "warnings": list(dict.fromkeys(said.warnings)),
    }


def pool_told(found: Divided) -> dict:
    """The pool in numbers, and the names that its table counts."""
    return {
        "n": len(found.rows),
        "known": int(found.known.sum()),
        "classes": found.pool.images.classnames,
        "styles": found.pool.styles,
    }


def pool_table(test: Shown, found: Divided, said: Said) -> dict[str, np.ndarray]:
    """Per picture of the pool: numbers of class and style by the record's "pool", group, degrees, levels, scores."""
    images = found.pool.images
    table = {
        "id": found.rows.astype(np.int32),
        "label": images.labels[found.rows].astype(np.int32),
        "style": found.pool.style[found.rows].astype(np.int16),
        "known": found.known,
        "group": groups_of(test, found)[1].astype(np.int64),
    }
    for half in HALVES:
        if found.degrees is not None:
            table[half] = found.degrees[half]
        table[f"{half}_level"] = found.levels[half].astype(np.int16)
    table = with_names(table, images.classnames, images.path_of)
    return table | {f"score {label}": scores for label, scores in said.pool.items()}


def test_table(task: Task, test: Shown, said: Said, machine: Machine) -> dict[str, np.ndarray]:
    """The same of the in-distribution test pictures, with what the model names them."""
    table = {
        "id": test.rows.astype(np.int32),
        "label": test.images.labels[test.rows].astype(np.int32),
        "prediction": said.prediction.astype(np.int32),
        "group": test.images.groups[test.rows].astype(np.int64),
    }
    table = with_names(table, test.images.classnames, test.images.path_of)
    degrees = test_degrees(task.shift, machine)
    table |= {} if degrees is None else {half: getattr(degrees, half) for half in HALVES}
    return table | {f"score {label}": scores for label, scores in said.test.items()}
