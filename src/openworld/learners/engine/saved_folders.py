"""Where a saved learner lies: a folder that `FittedLearner.save` wrote, or that a unit of a run kept."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError
from openworld.backbones.names_in_files import require_data
from openworld.backbones.precision import Precision
from openworld.runs.sealed import read_saved

DESCRIPTION = "learner.json"


@dataclass(frozen=True)
class LearnerDescription:
    """What learner.json says.

    Args:
        learner, settings: its name and settings. classnames: that it was tuned on. history: loss terms of each epoch.
        backbone, backbone_fingerprint, precision: that it was fitted on, and in which that computed.
    """

    learner: str
    settings: dict[str, Any]
    classnames: tuple[str, ...]
    backbone: str
    backbone_fingerprint: str
    history: tuple[dict[str, float], ...]
    precision: Precision = "float32"


def describe(folder: Path | str) -> LearnerDescription:
    """Return what the learner.json of a folder says.

    Raises:
        OpenworldError: there is none, or a damaged one.
    """
    remedy = "give a folder that `FittedLearner.save` wrote, or fit again."
    return read_saved(Path(folder) / DESCRIPTION, LearnerDescription, f"{folder} holds no whole learner", remedy)


def is_saved(learner: str) -> bool:
    """Whether an entry `learner` is a folder, not a name of `openworld list learners`.

    >>> is_saved("LoCoOp"), is_saved("runs/mine/learner"), is_saved("tuned-{seed}")
    (False, True, True)
    """
    return "/" in learner or "{seed}" in learner or Path(learner).is_dir()


def holds_learner(folder: str) -> bool:
    """Whether a saved learner lies in a folder, or in the unit of a run that it is."""
    return _inside(folder) is not None


def saved_folder(folder: str) -> Path:
    """Return the folder that holds learner.json: itself, or that in the folder of a run's unit.

    Raises:
        OpenworldError: there is none.
    """
    found = _inside(folder)
    if found is not None:
        return found
    raise OpenworldError(
        f"there is no saved learner in {folder}; give a folder that `FittedLearner.save` wrote, or a unit of a run "
        "whose spec says `keep_learners = true`."
    )


def backbone_of(folder: Path | str, say: str) -> str:
    """Return the name of the backbone that a saved learner was fitted on.

    Args:
        folder: of the learner. say: how whoever starts the command names another backbone, such as "--backbone {}".

    Raises:
        OpenworldError: no learner there, a damaged one, or one whose backbone is code, or would be fetched.
    """
    place = saved_folder(str(folder))
    return require_data(describe(place).backbone, place / DESCRIPTION, say)


def _inside(folder: str) -> Path | None:
    places = (Path(folder) / inside for inside in ("", "learner", "attachments/learner"))
    return next((place for place in places if (place / DESCRIPTION).is_file()), None)
