"""Where a saved learner lies: a folder that `FittedLearner.save` wrote, or that a unit of a run kept."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openworld.backbones.devices import Precision
from openworld.backbones.published_files import require_data
from openworld.core.errors import OpenworldError
from openworld.runs.sealed import read_saved

DESCRIPTION = "learner.json"


@dataclass(frozen=True)
class LearnerDescription:
    """What learner.json says: the learner, and the backbone that it was fitted on."""

    learner: str
    settings: dict[str, Any]
    classnames: tuple[str, ...]
    backbone: str
    backbone_fingerprint: str
    history: tuple[dict[str, float], ...]  # loss terms of each epoch
    precision: Precision = "float32"  # in which the backbone computed


def describe(folder: Path | str) -> LearnerDescription:
    """Return what the learner.json of a folder says."""
    remedy = "give a folder that `FittedLearner.save` wrote, or fit again."
    return read_saved(Path(folder) / DESCRIPTION, LearnerDescription, f"{folder} holds no whole learner", remedy)


def is_saved(learner: str) -> bool:
    """Return whether an entry `learner` is a folder ("/" or "{seed}" in it, or one is there), not a name."""
    return "/" in learner or "{seed}" in learner or Path(learner).is_dir()


def holds_learner(folder: str) -> bool:
    """Whether a saved learner lies in a folder, or in the unit of a run that it is."""
    return _inside(folder) is not None


def saved_folder(folder: str) -> Path:
    """Return the folder that holds learner.json: itself, or that in the folder of a run's unit."""
    inside = _inside(folder)
    if inside is not None:
        return inside
    raise OpenworldError(
        f"there is no saved learner in {folder}; give a folder that `FittedLearner.save` wrote, or a unit of a run "
        "whose spec says `keep_learners = true`."
    )


def backbone_of(folder: Path | str, say: str) -> str:
    """Return the name of a saved learner's backbone; `say` is how another one is named, such as "--backbone {}"."""
    place = saved_folder(str(folder))
    return require_data(describe(place).backbone, place / DESCRIPTION, say)


def _inside(folder: str) -> Path | None:
    places = (Path(folder) / inside for inside in ("", "learner", "attachments/learner"))
    return next((place for place in places if (place / DESCRIPTION).is_file()), None)
