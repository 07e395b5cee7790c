"""Named runs: what `openworld demo` does."""

from openworld._errors import unknown_name
from openworld.protocols._entries import LearnerSpec
from openworld.protocols.recognition import RecognitionSpec

_PHRASE = "an icon of a"

QUICK = RecognitionSpec(
    views=2,
    learners=(
        LearnerSpec("zero-shot"),
        LearnerSpec("CoOp", settings={"context_length": 4, "schedule": {"epochs": 10}}),
        LearnerSpec("KgCoOp", settings={"words": _PHRASE, "schedule": {"epochs": 20}}),
        LearnerSpec("GMoP", settings={"schedule": {"epochs": 10}}),
    ),
)
PUBLISHED = RecognitionSpec(
    views=8,
    learners=(
        LearnerSpec("zero-shot"),
        LearnerSpec("CoOp"),
        LearnerSpec("KgCoOp", settings={"words": _PHRASE}),
        LearnerSpec("GMoP"),
    ),
)
PRESETS = {"quick": QUICK, "published": PUBLISHED}
"""The demo with a fifth of the papers' epochs (and few views of each shot), and with their settings."""


def preset(name: str) -> RecognitionSpec:
    """A named run: four learners, three seeds, one hundred concepts of the embedded world in twemoji style."""
    if name not in PRESETS:
        raise unknown_name("preset", name, PRESETS)
    return PRESETS[name]
