"""Where a saved learner lies: a folder that `FittedLearner.save` wrote, or that a unit of a run kept."""

import json
from pathlib import Path

from openworld._errors import OpenworldError


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


def backbone_of(folder: str) -> str:
    """Return the name of the backbone that a saved learner was fitted on.

    Raises:
        OpenworldError: no learner there, or a damaged one.
    """
    file = saved_folder(folder) / "learner.json"
    try:
        return json.loads(file.read_bytes())["backbone"]
    except (ValueError, KeyError, TypeError) as error:
        raise OpenworldError(f"{file} is damaged ({error}); save the learner again.") from error


def _inside(folder: str) -> Path | None:
    places = (Path(folder) / inside for inside in ("", "learner", "attachments/learner"))
    return next((place for place in places if (place / "learner.json").is_file()), None)
