"""What the specs of all protocols hold: learners with their settings, and how much of a picture a view keeps."""

from dataclasses import dataclass, field
from typing import Any

from openworld._errors import OpenworldError
from openworld.datasets import DATASETS
from openworld.learners import configure, find_learner, override

EMBEDDED_CROP = (0.5, 1.0)
PUBLISHED_CROP = (0.08, 1.0)


@dataclass(frozen=True)
class LearnerSpec:
    """One learner of a run.

    Args:
        learner: a name of `openworld list learners`.
        label: what tables call it; needed where one learner runs with several settings.
        settings: its own settings, where they differ from the published defaults.
        choose: settings to be decided on validation pictures, each with its candidates, such as
            {"alpha": [0.1, 0.5], "schedule.epochs": [10, 20]}.

    Raises:
        OpenworldError: an unknown learner, setting or candidate setting; a setting without candidates.
    """

    learner: str
    label: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    choose: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def __post_init__(self):
        learner = find_learner(self.learner)
        object.__setattr__(self, "label", self.label or self.learner)
        configure(learner, self.settings)
        for key, candidates in self.choose.items():
            if not candidates:
                raise OpenworldError(f"choose.{key} lists no candidate; give some, or leave the key out.")
            for candidate in candidates:
                configure(learner, override(self.settings, {key: candidate}))


def split_of(dataset: str, *, same_domain: bool) -> str:
    """How test pictures differ from those tuned on: by drawing in the embedded world, else by domain.

    >>> split_of("emoji-concepts", same_domain=False), split_of("path/to/pictures", same_domain=True)
    ('redrawn', 'same domain')
    """
    card = DATASETS.get(dataset)
    drawn = card is not None and card.group_name == "drawing"
    return ("same-drawing" if drawn else "same domain") if same_domain else ("redrawn" if drawn else "other domain")


def usual_crop_scale(dataset: str) -> tuple[float, float]:
    """Smallest and largest share of a picture that a view keeps: the published one, but half for embedded pictures.

    Those are 64 pixels wide and mostly blank: 8 % of one would often show nothing.

    >>> usual_crop_scale("emoji-concepts"), usual_crop_scale("dtd")
    ((0.5, 1.0), (0.08, 1.0))
    """
    card = DATASETS.get(dataset)
    return EMBEDDED_CROP if card is not None and not card.download else PUBLISHED_CROP
