"""Named runs: what `openworld demo` does."""

from dataclasses import replace

from openworld._errors import unknown_name
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.recognition.spec import RecognitionSpec
from openworld.learners import override

PUBLISHED = RecognitionSpec(
    views=2,
    learners=(
        LearnerSpec("zero-shot"),
        LearnerSpec("CoOp", settings={"context_length": 4}),
        LearnerSpec("KgCoOp", settings={"words": "an icon of a"}),
        LearnerSpec("GMoP"),
    ),
)
"""The papers' settings, but for two: the embedded CLIP has read a few words at a time, "an icon of a" and a name."""

_FEW_EPOCHS = {"CoOp": 10, "KgCoOp": 20, "GMoP": 10}

QUICK = replace(
    PUBLISHED,
    learners=tuple(
        replace(entry, settings=override(entry.settings, {"schedule.epochs": _FEW_EPOCHS[entry.learner]}))
        if entry.learner in _FEW_EPOCHS
        else entry
        for entry in PUBLISHED.learners
    ),
)
"""A fifth of the papers' epochs: for a first impression, not for ranking the methods."""

PRESETS = {"published": PUBLISHED, "quick": QUICK}


def preset(name: str) -> RecognitionSpec:
    """A named run: four learners, three seeds, one hundred concepts of the embedded world in twemoji style."""
    if name not in PRESETS:
        raise unknown_name("preset", name, PRESETS)
    return PRESETS[name]
