"""Named runs: what `openworld demo` does."""

from openworld._errors import unknown_name
from openworld.protocols.recognition import LearnerSpec, RecognitionSpec

_PHRASE = "an icon of a"

PRESETS = {
    "quick": (
        LearnerSpec("zero-shot"),
        LearnerSpec("CoOp", settings={"context_length": 4, "schedule": {"epochs": 10}}),
        LearnerSpec("KgCoOp", settings={"words": _PHRASE, "schedule": {"epochs": 20}}),
        LearnerSpec("GMoP", settings={"schedule": {"epochs": 10}}),
    ),
    "published": (
        LearnerSpec("zero-shot"),
        LearnerSpec("CoOp"),
        LearnerSpec("KgCoOp", settings={"words": _PHRASE}),
        LearnerSpec("GMoP"),
    ),
}


def demo_spec(preset: str, style: str, test_style: str) -> RecognitionSpec:
    """The demo: four learners, three seeds, one hundred concepts of the embedded world.

    Args:
        preset: "quick" has fewer epochs than the papers, "published" has theirs.
        style, test_style: drawing styles of the shots and of the test pictures.
    """
    if preset not in PRESETS:
        raise unknown_name("preset", preset, PRESETS)
    return RecognitionSpec(learners=PRESETS[preset], train_domain=style, test_domain=test_style)
